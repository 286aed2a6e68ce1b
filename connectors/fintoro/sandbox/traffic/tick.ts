import { systemClock } from "../../../../src/base/clock.ts";
import { messageOf } from "../../../../src/base/errors.ts";
import type { SeededRandom } from "../base/seeded-random.ts";
import { isRefusal, type Hand } from "./actor.ts";
import { trigger } from "./trigger.ts";

export interface DayOptions {
  readonly changes?: number | undefined;
  /** The changes are spread evenly over it. */
  readonly durationMs?: number | undefined;
  readonly seed?: number | undefined;
}

export interface DayReport {
  readonly changes: number;
  readonly of: number;
  readonly ended: boolean;
  /** A bug of the sandbox itself, which ended the day. */
  readonly problem: string | null;
  /** Events that followed from the changes. */
  readonly events: number;
  /** How often what was done, in words. */
  readonly kinds: Readonly<Record<string, number>>;
}

/** A working day that is under way. */
export interface Day {
  readonly done: Promise<DayReport>;
  report(): DayReport;
  /** Nothing happens any more; `done` resolves. */
  stop(): void;
}

/** What people do at work, and how often in a hundred times or so. */
const work: readonly (readonly [event: string, often: number, told: string])[] = [
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

/** A working day: the seed says what is done and to whom, the rules of the company whether it may be. */
export function startDay(hand: Hand, { changes = 200, durationMs = 60_000 }: DayOptions): Day {
  const stopped = new AbortController();
  const kinds: Record<string, number> = {};
  const counts = { changes: 0, events: 0, ended: false, problem: null as string | null };
  const unsubscribe = hand.company.events.subscribe(() => counts.events++);
  const report = (): DayReport => ({ ...counts, of: changes, kinds: { ...kinds } });
  const live = async () => {
    const startMs = systemClock.monotonicMs();
    for (let i = 0; i < changes && !stopped.signal.aborted; i++) {
      const waitMs = startMs + (i * durationMs) / changes - systemClock.monotonicMs();
      await (waitMs > 0 ? systemClock.sleep(waitMs, stopped.signal) : breath());
      if (stopped.signal.aborted) break;
      const told = doSomething(hand);
      counts.changes++;
      kinds[told] = (kinds[told] ?? 0) + 1;
    }
  };
  const end = () => {
    counts.ended = true;
    unsubscribe();
  };
  const fail = (cause: unknown) => {
    counts.problem = messageOf(cause);
    throw cause;
  };
  const done = live().catch(fail).finally(end).then(report);
  return { done, report, stop: () => stopped.abort() };
}

/** Others get their turn between two changes. */
function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What is refused is left, and something else is done. */
function doSomething(hand: Hand): string {
  for (let tries = 0; tries < 20; tries++) {
    const [event, , told] = chosen(hand.chance);
    try {
      trigger(hand, event);
      return told;
    } catch (cause) {
      if (!isRefusal(cause)) throw cause;
    }
  }
  return "refused by the rules";
}

function chosen(chance: SeededRandom): (typeof work)[number] {
  const all = work.reduce((sum, [, often]) => sum + often, 0);
  let lot = chance.next() * all;
  return work.find(([, often]) => (lot -= often) < 0) ?? (work[0] as (typeof work)[number]);
}
