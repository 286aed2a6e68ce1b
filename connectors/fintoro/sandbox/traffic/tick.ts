import { systemClock } from "../../../../src/base/clock.ts";
import { messageOf } from "../../../../src/base/errors.ts";
import type { SeededRandom } from "../base/seeded-random.ts";
import { isRefusedByRules, type Actor } from "./actor.ts";
import { trigger } from "./trigger.ts";

export interface TickOptions {
  /** Index of the company. @default the first one */
  readonly company?: number | undefined;
  /** The same seed does the same work. @default the sandbox's own */
  readonly seed?: number | undefined;
  /** @default 200 */
  readonly changes?: number | undefined;
  /** The changes are spread evenly over it. @default 60,000 */
  readonly durationMs?: number | undefined;
}

/** A working day under way. */
export type Tick = ReturnType<typeof startTick>;

/**
 * Starts a working day: the seed decides what is done and to which records, the rules what is allowed.
 *
 * @returns `done` resolves at its end, and rejects with a bug of the sandbox; `stop` ends it early
 */
export function startTick(actor: Actor, { changes = 200, durationMs = 60_000 }: TickOptions) {
  const stopped = new AbortController();
  /** How often each kind of change was made. */
  const kinds: Record<string, number> = {};
  /** Changes so far, events that followed from them, and a bug of the sandbox that ended it. */
  const counts = { changes: 0, events: 0, ended: false, problem: null as string | null };
  const unsubscribe = actor.company.events.subscribe(() => counts.events++);
  const report = () => ({ ...counts, of: changes, kinds: { ...kinds } });
  const work = async () => {
    const startMs = systemClock.monotonicMs();
    for (let i = 0; i < changes; i++) {
      const waitMs = startMs + (i * durationMs) / changes - systemClock.monotonicMs();
      await (waitMs > 0 ? systemClock.sleep(waitMs, stopped.signal) : new Promise(setImmediate));
      if (stopped.signal.aborted) return;
      const kind = doSomeWork(actor);
      counts.changes++;
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
  };
  const fail = (cause: unknown) => {
    counts.problem = messageOf(cause);
    throw cause;
  };
  const end = () => {
    counts.ended = true;
    unsubscribe();
  };
  const done = work().catch(fail).finally(end).then(report);
  return { done, report, stop: () => stopped.abort() };
}

/** What people do in a working day, how often in about a hundred times, and its name in a report. */
const work: readonly (readonly [event: string, weight: number, name: string])[] = [
  ["invoices.created", 16, "invoices written"],
  ["invoices.updated", 9, "invoices updated"],
  ["invoices.paid", 13, "invoices paid"],
  ["document-payments.created", 5, "payments in part"],
  ["document-payments.deleted", 1, "payments deleted"],
  ["invoices.deleted", 2, "invoices deleted"],
  ["credit-notes.created", 3, "credit notes written"],
  ["credit-notes.paid", 1, "credit notes paid"],
  ["proformas.created", 3, "proformas written"],
  ["proformas.paid", 2, "proformas paid"],
  ["orders.created", 6, "orders taken"],
  ["orders.updated", 3, "orders updated"],
  ["orders.deleted", 1, "orders deleted"],
  ["quotations.created", 5, "quotations written"],
  ["quotations.updated", 2, "quotations updated"],
  ["quotations.deleted", 1, "quotations deleted"],
  ["warehouse-inbound-receipts.created", 6, "goods taken in"],
  ["warehouse-outbound-receipts.created", 5, "goods given out"],
  ["warehouse-inbound-receipts.updated", 1, "receipts updated"],
  ["warehouse-outbound-receipts.deleted", 1, "receipts deleted"],
  ["price-list-items.created", 1, "items listed"],
  ["price-list-items.updated", 3, "items repriced"],
  ["clients.created", 3, "clients added"],
  ["clients.updated", 6, "clients changed"],
  ["clients.deleted", 1, "clients deleted"],
  ["suppliers.created", 1, "suppliers added"],
  ["suppliers.updated", 2, "suppliers changed"],
  ["suppliers.deleted", 1, "suppliers deleted"],
  ["business-cases.created", 3, "cases opened"],
  ["business-cases.updated", 4, "cases moved"],
  ["business-cases.deleted", 1, "cases deleted"],
  ["contact-activity-logs.created", 6, "CRM events noted"],
  ["contact-activity-logs.updated", 1, "CRM events changed"],
  ["contact-activity-logs.deleted", 1, "CRM events deleted"],
];
const allWeights = work.reduce((sum, [, weight]) => sum + weight, 0);

/** Does something of a working day, another thing where the rules refuse it; gives its name in a report. */
function doSomeWork(actor: Actor): string {
  for (let tries = 0; tries < 20; tries++) {
    const [event, , name] = someWork(actor.random);
    try {
      trigger(actor, event);
      return name;
    } catch (cause) {
      if (!isRefusedByRules(cause)) throw cause;
    }
  }
  return "refused by the rules";
}

function someWork(random: SeededRandom): (typeof work)[number] {
  let rest = random.next() * allWeights;
  return work.find(([, weight]) => (rest -= weight) < 0) ?? (work[0] as (typeof work)[number]);
}
