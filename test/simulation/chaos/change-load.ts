import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import { isRefusedByRules } from "../../../connectors/fintoro/sandbox/traffic/actor.ts";
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

/** The tables of the records that they change. */
export const changedTables = ["clients", "invoices", "orders"] as const;

/** Changes under way. */
export interface ChangeLoad {
  /** So far. */
  readonly changes: () => number;
  /** Ends it, and throws a bug of the sandbox. */
  stop(): Promise<void>;
}

/** Changes records of all companies until it is stopped; each company about once in `everyMs`. */
export function startChanges(
  sandbox: Sandbox,
  { seed, everyMs }: { seed: number; everyMs: number },
): ChangeLoad {
  const random = seededRandom(seed);
  const companies = sandbox.companies.length;
  const stopped = new AbortController();
  let changes = 0;
  const work = async () => {
    for (let dueMs = performance.now(); !stopped.signal.aborted; dueMs += everyMs / companies) {
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await pause(waitMs);
      const event = events[Math.floor(random.next() * events.length)] ?? events[0];
      const company = Math.floor(random.next() * companies);
      try {
        sandbox.control.trigger(event, null, { company });
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
