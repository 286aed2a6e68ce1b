import type { Db } from "../../support/compare.ts";
import type { Check } from "./observation.ts";

interface StoredEvent {
  readonly event_id: string;
  readonly type: string | null;
  readonly state: string;
  readonly body: string | Buffer;
}

function storedEvents(db: Db): StoredEvent[] {
  return db.prepare("SELECT event_id, type, state, body FROM _inbox").all() as StoredEvent[];
}

/** I6 and I12: each delivery that was answered 2xx is kept once, byte for byte. */
export const lostDeliveries: Check = (db, { acknowledged }) => {
  const stored = new Map<string, StoredEvent[]>();
  for (const one of storedEvents(db)) stored.set(one.event_id, [...(stored.get(one.event_id) ?? []), one]);
  const doubled = [...stored]
    .filter(([, rows]) => rows.length > 1)
    .map(([id]) => `I7 event ${id}: stored twice`);
  const lost = [...acknowledged].flatMap(([id, body]) => {
    const [kept] = stored.get(id) ?? [];
    if (!kept) return [`I6 event ${id}: answered 2xx, and not kept`];
    return Buffer.from(kept.body).equals(Buffer.from(body))
      ? []
      : [`I12 event ${id}: not kept as it was sent`];
  });
  return [...doubled, ...lost];
};

/** Types of events that lead to a read here. */
const readTypes =
  /^(clients|business-cases|price-list-items|invoices|document-payments|contact-activity-logs)\.(created|updated|deleted|paid|stock-updated)$/;

/** I12: an event whose type is known is not called unknown, and one that nobody knows is kept as that. */
export const misjudgedEvents: Check = (db) =>
  storedEvents(db)
    .filter(({ type, state }) => readTypes.test(type ?? "") !== (state === "waiting" || state === "done"))
    .map(({ event_id: id, type, state }) => `I12 ${type} ${id}: its state is ${state}`);

/** I4: at rest no event waits, and nothing is left to read. */
export const leftToRead: Check = (db) => {
  const work = db
    .prepare("SELECT resource || ' ' || target || ': ' || state || ', ' || reason FROM _work")
    .pluck();
  const waiting = storedEvents(db).filter(({ state }) => state === "waiting");
  return [
    ...waiting.map(({ event_id: id, type }) => `I4 ${type} ${id}: waits at rest`),
    ...(work.all() as string[]).map((what) => `I4 left in the queue: ${what}`),
  ];
};
