import { randomUUID } from "node:crypto";

/** Random values, passed in so that a seed repeats a run. */
export interface Random {
  next(): number;
  uuid(): string;
}

export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
};
