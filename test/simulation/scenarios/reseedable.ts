import type { Random } from "../../../src/base/random.ts";
import { seededRandom } from "../../support/seeded-random.ts";

/** A random source that can begin anew. */
export type Reseedable = Random & { reseed(seed: number): void };

/** A random source that begins anew at `reseed`, so that a change is the same whatever went before. */
export function reseedable(seed: number): Reseedable {
  let current = seededRandom(seed);
  return {
    next: () => current.next(),
    uuid: () => current.uuid(),
    reseed: (next) => void (current = seededRandom(next)),
  };
}
