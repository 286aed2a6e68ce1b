import * as fc from "fast-check";

/** Remembers what a target opened; it is closed after the last run, the latest first. */
export type AtEnd = (close: () => unknown) => void;

/** One kind of input and what holds for all of it. Knows nothing of the test runner: the script runs it, too. */
export interface FuzzTarget {
  /** `area/what`, for `--only`. */
  readonly name: string;
  /** How many inputs one round has: all there are in `npm test`. */
  readonly runs: number;
  /** Runs one round; throws with the seed and the smallest counterexample. The seed is the global one unless given. */
  round(seed?: number): Promise<void>;
}

interface TargetParts<T> {
  readonly runs: number;
  readonly input: fc.Arbitrary<T>;
  /** Throws where the guarantee is broken. Made once for each round. */
  readonly open: (atEnd: AtEnd) => Check<T> | Promise<Check<T>>;
}

/** A search for a smaller counterexample ends then, too. */
const longestMs = 30_000;

type Check<T> = (value: T) => void | Promise<void>;

export function fuzzTarget<T>(name: string, { runs, input, open }: TargetParts<T>): FuzzTarget {
  const round = async (seed?: number) => {
    const closers: (() => unknown)[] = [];
    try {
      const check = await open((close) => closers.push(close));
      const property = fc.asyncProperty(input, async (value) => {
        await check(value);
      });
      await fc.assert(property, {
        numRuns: runs,
        includeErrorInReport: true,
        interruptAfterTimeLimit: longestMs,
        ...(seed !== undefined && { seed }),
      });
    } finally {
      for (const close of closers.toReversed()) await close();
    }
  };
  return { name, runs, round };
}

/** A target that opens nothing. */
export function pureTarget<T>(
  name: string,
  runs: number,
  input: fc.Arbitrary<T>,
  check: Check<T>,
): FuzzTarget {
  return fuzzTarget(name, { runs, input, open: () => check });
}
