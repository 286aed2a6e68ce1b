import type { Random } from "../../src/base/random.ts";

export type SeededChoice = ReturnType<typeof seededChoice>;

export function seededChoice(random: Random) {
  const below = (limit: number) => Math.floor(random.next() * limit);
  return {
    below,
    probability: (probability: number) => random.next() < probability,
    one: <T>(list: readonly T[]): T => {
      const thing = list[below(list.length)];
      if (thing === undefined) throw new Error("broken promise: there is something to choose from");
      return thing;
    },
  };
}
