import * as fc from "fast-check";

/** One kind of input and what holds for all of it. Knows nothing of the test runner: the script runs it, too. */
export interface FuzzTarget {
  /** `area/what`, for `--only`. */
  readonly name: string;
  /** How many inputs one round has: all there are in `npm test`. */
  readonly runs: number;
  /** Runs one round; throws with the seed and the smallest counterexample. The seed is the global one unless given. */
  round(seed?: number): Promise<void>;
}

/** A search for a smaller counterexample ends then, too. */
const longestMs = 30_000;

/** @param check throws where the guarantee is broken */
export function fuzzTarget<T>(
  name: string,
  runs: number,
  input: fc.Arbitrary<T>,
  check: (value: T) => void | Promise<void>,
): FuzzTarget {
  const property = fc.asyncProperty(input, async (value) => {
    await check(value);
  });
  const round = async (seed?: number) => {
    const options = { numRuns: runs, includeErrorInReport: true, interruptAfterTimeLimit: longestMs };
    await fc.assert(property, { ...options, ...(seed !== undefined && { seed }) });
  };
  return { name, runs, round };
}
