import type { Mirror } from "../../../src/state/mirror.ts";
import type { CompanyIngest, Ingest } from "../../../src/webhook/ingest/ingest.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export interface WatchedParts {
  readonly machine: SimulatedMachine;
  readonly process: SimulatedProcess;
  readonly mirror: Mirror;
}

/** A full disk fails for all deliveries of a group, a value that is too big for one of them. */
const failures = ["SQLITE_FULL", "SQLITE_TOOBIG"] as const;

/** The ingest, whose transactions fail now and then, and to which events that it holds must be nothing new (I7). */
export function watchIngest(ingest: CompanyIngest, parts: WatchedParts): Ingest {
  const { machine, process } = parts;
  const { choice, acknowledged } = machine;
  return {
    keyring: ingest.keyring,
    form: ingest.form,
    has: (eventId) => ingest.has(eventId),
    store: (deliveries, receivedAtMs) => {
      const { unstorable } = machine.deliveries;
      // Groups are few, and the rest of one has to be stored alone.
      const share = deliveries.length > 1 ? 4 * unstorable : unstorable;
      if (unstorable > 0 && choice.probability(share)) process.failure = choice.one(failures);
      const step = () => ingest.store(deliveries, receivedAtMs);
      if (!deliveries.every(({ eventId }) => acknowledged.has(eventId))) return step();
      return changingNothing(parts, "a delivery that was stored before", step);
    },
  };
}

/** Replays all events of the inbox: what leads to reads is queued, and nothing is stored or logged (I7). */
export function replayInbox(ingest: CompanyIngest, parts: WatchedParts, nowMs: number): void {
  const { machine, mirror } = parts;
  const ids = mirror.db.prepare("SELECT event_id FROM _inbox").pluck().all() as string[];
  const { queued } = changingNothing(parts, "a replay", () => ingest.replay(ids, nowMs), "");
  machine.note(`${ids.length} events are replayed, ${queued} of them are to be read`);
}

const queueSql = ", (SELECT group_concat(resource || target || kind || state || dirty_seq) FROM _work)";

function changingNothing<T>(
  { machine, mirror }: WatchedParts,
  what: string,
  step: () => T,
  besides = queueSql,
): T {
  const sql = `SELECT (SELECT count(*) FROM _inbox), (SELECT count(*) FROM _change_log)${besides}`;
  const rows = mirror.db.prepare(sql).raw();
  const before = JSON.stringify(rows.get());
  const result = step();
  const after = JSON.stringify(rows.get());
  if (after !== before) machine.broken.push(`I7 ${what} left ${after} in place of ${before}`);
  return result;
}
