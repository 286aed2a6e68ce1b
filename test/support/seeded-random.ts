import { SeededRandom } from "../../connectors/fintoro/sandbox/base/seeded-random.ts";
import type { Random } from "../../src/base/random.ts";

/** The same values for the same seed: good enough for jitter and tests, never for secrets. */
export function seededRandom(seed: number): Random {
  const random = new SeededRandom(seed);
  const hex = (length: number) => random.digits(length, 16);
  const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  return { next: () => random.next(), uuid };
}

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
