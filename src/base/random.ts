import { randomUUID } from "node:crypto";

/** Random values, passed in so that a seed repeats a run. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  uuid(): string;
}

/** The machine's own random numbers. */
export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
};
