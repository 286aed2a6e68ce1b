import { systemClock } from "../../../src/base/clock.ts";
import { SeededRandom } from "./base/seeded-random.ts";
import type { Company } from "./model/company-state.ts";
import { Actor } from "./samples/actor.ts";
import type { Limiter } from "./service/limiter.ts";
import type { ServiceParts } from "./service/http-service.ts";
import { startTick, type TickOptions } from "./traffic/tick.ts";
import { demoChanges, present, trigger } from "./traffic/trigger.ts";
import type { Sender } from "./webhooks/sender.ts";

/** A company with what serves it alone. */
export interface OpenCompany {
  readonly company: Company;
  readonly sender: Sender;
  readonly limiter: Limiter;
}

interface ControlParts extends ServiceParts {
  readonly companies: readonly OpenCompany[];
  readonly seed: number;
  /** Aborts when the sandbox ends. */
  readonly closing: AbortSignal;
}

/**
 * The sandbox from the inside: no HTTP, no budget, no faults; the same rules and the same events. Without a
 * company's index it is about the first one, where it does not say otherwise.
 */
export type Control = ReturnType<typeof controlOf>;

/** Gives the control over a sandbox's parts. */
export function controlOf(parts: ControlParts) {
  const { companies, seed } = parts;
  const at = (index = 0) => present(companies[index]);
  const ownRandom = new SeededRandom(seed);
  const actor = (index?: number, random = ownRandom) => new Actor(at(index).company, random);
  return {
    parts,
    webhooks: deliveriesOf(at, (index) => (index === undefined ? companies : [at(index)])),
    /** Makes an event happen by a fitting change; with `forge` emits it without one. */
    trigger: (
      event: string,
      id: number | null = null,
      {
        forge,
        company,
      }: { readonly forge?: boolean | undefined; readonly company?: number | undefined } = {},
    ) => trigger(actor(company), event, id, forge),
    /** Starts a working day (`sandbox tick`); it ends with the sandbox at the latest. */
    day: (options: TickOptions = {}) => {
      const tick = startTick(actor(options.company, new SeededRandom(options.seed ?? seed)), options);
      parts.closing.addEventListener("abort", () => tick.stop(), { once: true });
      return tick;
    },
    /** What `demo` does to the first company, ready to be done. */
    demoChanges: () => demoChanges(actor()),
  };
}

/** Deliveries seen from the inside. Without an index: the first company's, or all of them for `pending` and `idle`. */
function deliveriesOf(
  at: (index?: number) => OpenCompany,
  chosen: (index?: number) => readonly OpenCompany[],
) {
  const pendingWithin = (ms: number, index?: number) =>
    chosen(index).reduce((sum, { sender }) => sum + sender.pendingWithin(ms), 0);
  return {
    /** Every attempt so far, oldest first. */
    history: (subscription?: number, index?: number) =>
      at(index)
        .sender.attempts.list()
        .filter((one) => subscription === undefined || one.subscription === subscription),
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
