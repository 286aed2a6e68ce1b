import { randomInt } from "node:crypto";
import * as fc from "fast-check";
import { vi } from "vitest";

/** `npm run fuzz`: how long each property looks for a counterexample, from a new seed. */
const fuzzMs = Number(process.env["FUZZ_SECONDS"] ?? 0) * 1000;
/**
 * `npm test` says the same twice: properties draw from a fixed seed. Another one, for a wider look:
 * `FAST_CHECK_SEED=$RANDOM npm test`.
 */
const seed = Number(process.env["FAST_CHECK_SEED"] ?? (fuzzMs > 0 ? randomInt(2 ** 31) : 20_261_121));
fc.configureGlobal(fuzzMs > 0 ? { seed, interruptAfterTimeLimit: fuzzMs } : { seed });

/** As fast-check's, however few runs the test gives the property. */
const assert = (...[property, parameters]: Parameters<typeof fc.assert>) =>
  fc.assert(property, { ...parameters, numRuns: Infinity });

if (fuzzMs > 0) vi.doMock("fast-check", () => ({ ...fc, assert }));
