import * as fc from "fast-check";

/**
 * `npm test` says the same twice: properties draw from a fixed seed. Another one, for a wider look:
 * `FAST_CHECK_SEED=$RANDOM npm test`.
 */
fc.configureGlobal({ seed: Number(process.env["FAST_CHECK_SEED"] ?? 20_261_121) });
