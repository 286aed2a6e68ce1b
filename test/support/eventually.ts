import { setTimeout as pause } from "node:timers/promises";

/**
 * How long a test waits for a fact, and how long a process that it starts may live, ms: one limit for all, far beyond
 * what a busy machine needs. The limit of a whole test (`vitest.config.ts`) is longer.
 */
export const longestWaitMs = 180_000;

/** Waits until it is so; what throws is not so yet. `what` is the fact, for the message of the failure. */
export async function eventually(isSo: () => boolean | Promise<boolean>, what: string | (() => string)) {
  for (const endMs = performance.now() + longestWaitMs; ; await pause(20)) {
    let cause: unknown;
    try {
      if (await isSo()) return;
    } catch (error) {
      cause = error;
    }
    if (performance.now() < endMs) continue;
    throw new Error(`still not so: ${typeof what === "string" ? what : what()}`, { cause });
  }
}
