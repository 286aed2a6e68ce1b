import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "../../support/sandbox/control.ts";
import { isRefusedByRules } from "../../../connectors/fintoro/sandbox/rules/rules.ts";
import { seededRandom } from "../../support/seeded-random.ts";

/** What people do; each of them sends an event of the record that it changes. */
const events = [
  "clients.created",
  "clients.updated",
  "invoices.created",
  "invoices.updated",
  "invoices.deleted",
  "orders.created",
  "orders.updated",
  "orders.deleted",
] as const;

type ChangeEvent = (typeof events)[number];

/** The tables of the records that they change. */
export const changedTables = ["clients", "invoices", "orders"] as const;

/** Changes under way. */
export interface ChangeLoad {
  /** So far. */
  readonly changes: () => number;
  /** Ends it, and throws a bug of the sandbox. */
  stop(): Promise<void>;
}

/**
 * No more records are deleted than were created meanwhile. Where all that a mirror knows of a resource are gone, a 404
 * proves nothing without a run, and a run is not what this load waits for.
 */
class SpareRecords {
  private readonly counts = new Map<string, number>();

  /** A record is created where none may be deleted. */
  insteadOf(event: ChangeEvent, company: number): ChangeEvent {
    if (!event.endsWith(".deleted") || this.countOf(event, company) > 0) return event;
    return event.startsWith("orders") ? "orders.created" : "invoices.created";
  }

  count(event: ChangeEvent, company: number): void {
    const more = event.endsWith(".created") ? 1 : event.endsWith(".deleted") ? -1 : 0;
    this.counts.set(keyOf(event, company), this.countOf(event, company) + more);
  }

  private countOf(event: ChangeEvent, company: number): number {
    return this.counts.get(keyOf(event, company)) ?? 0;
  }
}

function keyOf(event: ChangeEvent, company: number): string {
  return `${company} ${event.split(".")[0]}`;
}

/** Changes records of all companies until it is stopped; each company about once in `everyMs`. */
export function startChanges(
  sandbox: Sandbox,
  { seed, everyMs }: { seed: number; everyMs: number },
): ChangeLoad {
  const random = seededRandom(seed);
  const companies = sandbox.companies.length;
  const stopped = new AbortController();
  const spare = new SpareRecords();
  let changes = 0;
  const work = async () => {
    for (let dueMs = performance.now(); !stopped.signal.aborted; dueMs += everyMs / companies) {
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await pause(waitMs);
      const wished = events[Math.floor(random.next() * events.length)] ?? events[0];
      const company = Math.floor(random.next() * companies);
      const event = spare.insteadOf(wished, company);
      try {
        sandbox.control.trigger(event, null, { company });
        spare.count(event, company);
        changes++;
      } catch (error) {
        if (!isRefusedByRules(error)) throw error;
      }
    }
  };
  const done = work();
  return {
    changes: () => changes,
    stop: () => {
      stopped.abort();
      return done;
    },
  };
}
