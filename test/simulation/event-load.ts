import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "../support/seeded-random.ts";
import type { Company } from "../support/company/open-company.ts";
import { jsonReply, type Breakage, type Reply } from "../support/company/proxy.ts";
import { seededChoice, transientFaults, mutate, type SeededChoice } from "../support/company/scenario.ts";

/** What happens while `serve` runs; times in milliseconds. */
export interface LoadOptions {
  readonly seed: number;
  readonly changes: number;
  readonly durationMs: number;
  /** Share of requests that fail, 0 to 1. */
  readonly failureShare: number;
  readonly latencyMs: number;
}

/** A load under way. */
export interface Load {
  /** Resolves when the changes have ended and the service answers without faults. */
  over(): Promise<void>;
}

const tooMany = () => jsonReply(429, { message: "Too Many Attempts." }, { "retry-after": "0" });
const failures: readonly (() => Reply | Breakage)[] = [
  ...transientFaults,
  ...transientFaults,
  tooMany,
  () => "hang",
];

/**
 * Starts three things at once: people whose changes emit events, people whose changes emit none, and failing
 * answers of the service. Each draws from a random source of its own, so that the order of requests does not
 * change what people do.
 */
export function startLoad(company: Company, load: LoadOptions): Load {
  const { seed, changes, durationMs } = load;
  const { control } = company.sandbox;
  const faults = seededChoice(seededRandom(seed + 1));
  company.proxy.obstruct(async () => {
    if (load.latencyMs > 0) await pause(faults.below(load.latencyMs));
    return faults.probability(load.failureShare) ? faults.one(failures)() : undefined;
  });
  const day = control.day({ changes, durationMs, seed });
  const silentChanges = changeSilently(company, seededChoice(seededRandom(seed + 2)), load);
  return {
    over: async () => {
      const { problem } = await day.done;
      if (problem !== null) throw new Error(`the sandbox's day ended: ${problem}`);
      await silentChanges;
      company.recover();
    },
  };
}

/** Changes without an event; only a run that reads everything finds them. */
async function changeSilently(
  company: Company,
  choice: SeededChoice,
  { changes, durationMs }: LoadOptions,
): Promise<void> {
  for (let left = Math.ceil(changes / 3); left > 0; left--) {
    await pause((durationMs / changes) * 3 * 0.9);
    mutate(company, choice);
  }
}
