import { systemClock } from "../../../src/base/clock.ts";
import { SeededRandom } from "./base/seeded-random.ts";
import { Actor } from "./made-up/record-inputs.ts";
import { startTick, type TickOptions } from "./made-up/tick.ts";
import { demoChanges, trigger } from "./made-up/trigger.ts";
import type { Company } from "./model/company.ts";
import { present } from "./rules/rules.ts";
import type { ServiceParts } from "./service/http-service.ts";
import type { Limiter } from "./service/limiter.ts";
import type { Sender } from "./webhooks/sender.ts";

/** A company with what serves it alone. */
export interface StandInCompany {
  readonly company: Company;
  readonly sender: Sender;
  readonly limiter: Limiter;
}

/** The sandbox from the inside: no HTTP, no budget, no faults; the same rules and the same events. */
export type Control = ReturnType<typeof controlOf>;

/**
 * Gives the control over a sandbox's parts. Without a company's index it is about the first one, where it does
 * not say otherwise.
 *
 * @param closing aborts when the sandbox ends
 */
export function controlOf(
  parts: ServiceParts & { readonly failures: readonly unknown[] },
  companies: readonly StandInCompany[],
  seed: number,
  closing: AbortSignal,
) {
  const at = (index = 0) => present(companies[index]);
  const ownRandom = new SeededRandom(seed);
  const actor = (index?: number, random = ownRandom) => new Actor(at(index).company, random);
  return {
    parts,
    companies,
    webhooks: deliveriesOf(companies),
    /** Makes an event happen by a fitting change; with `forge` emits it without one. */
    trigger: (
      event: string,
      id: number | null = null,
      how: { readonly forge?: boolean | undefined; readonly company?: number | undefined } = {},
    ) => trigger(actor(how.company), event, id, how.forge),
    /** Starts a working day (`sandbox tick`); it ends with the sandbox at the latest. */
    day: (options: TickOptions = {}) => {
      const tick = startTick(actor(options.company, new SeededRandom(options.seed ?? seed)), options);
      closing.addEventListener("abort", () => tick.stop(), { once: true });
      return tick;
    },
    /** What `demo` does to the first company, ready to be done. */
    demoChanges: () => demoChanges(actor()),
  };
}

/** Deliveries seen from the inside. Without an index: the first company's, or all of them for `pending` and `idle`. */
function deliveriesOf(companies: readonly StandInCompany[]) {
  const chosen = (index?: number) => (index === undefined ? companies : companies.slice(index, index + 1));
  const pendingWithin = (ms: number, index?: number) =>
    chosen(index).reduce((sum, { sender }) => sum + sender.pendingWithin(ms), 0);
  return {
    /** Every attempt so far, oldest first. */
    history: (subscription?: number, index = 0) => {
      const attempts = present(companies[index]).sender.attempts.list();
      return attempts.filter((one) => subscription === undefined || one.subscription === subscription);
    },
    /** Deliveries that are neither delivered nor given up, retries included. */
    pending: (index?: number) => pendingWithin(Number.POSITIVE_INFINITY, index),
    /**
     * Resolves when nothing waits to be sent; rejects after `timeoutMs`. Retries that are due later than
     * `withinMs` do not count.
     */
    idle: async (
      timeoutMs = 10_000,
      { withinMs = 1_000, company }: { readonly withinMs?: number; readonly company?: number } = {},
    ) => {
      const end = new AbortController();
      const endsMs = systemClock.monotonicMs() + timeoutMs;
      const deadline = systemClock.sleep(timeoutMs, end.signal);
      for (let count; (count = pendingWithin(withinMs, company)) > 0;) {
        if (systemClock.monotonicMs() >= endsMs)
          throw new Error(`${count} deliveries are still waiting after ${timeoutMs} ms`);
        await Promise.race([deadline, ...chosen(company).map(({ sender }) => sender.nextAttempt())]);
      }
      end.abort();
    },
  };
}
