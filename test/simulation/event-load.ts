import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "../../src/base/random.ts";
import type { Company } from "../support/open-company.ts";
import { jsonReply, type Breakage, type Reply } from "../support/proxy.ts";
import { diceOf, hiccups, mutate, type Dice } from "../support/scenario.ts";

export interface Weather {
  readonly seed: number;
  readonly changes: number;
  readonly durationMs: number;
  /** Share of requests that go wrong. */
  readonly stumbles: number;
  readonly latencyMs: number;
}

export interface Storm {
  /** Resolves when nobody changes anything any more and the service is well again. */
  over(): Promise<void>;
}

const tooMany = () => jsonReply(429, { message: "Too Many Attempts." }, { "retry-after": "0" });
const troubles: readonly (() => Reply | Breakage)[] = [...hiccups, ...hiccups, tooMany, () => "hang"];

/**
 * People at work who emit events, others who change things past them, and a service that stumbles. Each has
 * chance of its own, so that the order in which requests come changes nothing of what people do.
 */
export function startStorm(company: Company, weather: Weather): Storm {
  const { seed, changes, durationMs } = weather;
  const { control } = company.sandbox;
  const stumbling = diceOf(seededRandom(seed + 1));
  company.proxy.obstruct(async () => {
    if (weather.latencyMs > 0) await pause(stumbling.below(weather.latencyMs));
    return stumbling.chance(weather.stumbles) ? stumbling.one(troubles)() : undefined;
  });
  const day = control.day({ changes, durationMs, seed });
  const meddling = meddle(company, diceOf(seededRandom(seed + 2)), weather);
  return {
    over: async () => {
      const { problem } = await day.done;
      if (problem !== null) throw new Error(`the sandbox's day ended: ${problem}`);
      await meddling;
      company.recover();
    },
  };
}

/** Half of it tells nobody; only reading everything finds that. */
async function meddle(company: Company, dice: Dice, { changes, durationMs }: Weather): Promise<void> {
  for (let left = Math.ceil(changes / 3); left > 0; left--) {
    await pause((durationMs / changes) * 3 * 0.9);
    mutate(company, dice);
  }
}
