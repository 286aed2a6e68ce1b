import { sql, type Kysely } from "kysely";

/**
 * Where deliveries of events are kept, when a receiver was there for them, and what other processes ask of
 * the one that writes the mirror.
 */
const statements = [
  // The signed id, for ever: a delivery that comes again years later is known. Text, or bytes that are none.
  `CREATE TABLE _inbox (
    event_id TEXT PRIMARY KEY, type TEXT, resource_type TEXT, resource_id INTEGER, occurred_at TEXT,
    received_at TEXT NOT NULL, body ANY NOT NULL, state TEXT NOT NULL, resource TEXT, target TEXT,
    dirty_seq INTEGER, settled_at TEXT, outcome TEXT, request_id TEXT, problem TEXT) STRICT`,
  // In the order of arrival: what comes is added at its end, where a (resource, target) would dirty a page per event.
  `CREATE INDEX _inbox_waiting ON _inbox (dirty_seq, resource, target) WHERE state = 'waiting'`,
  `CREATE INDEX _inbox_received ON _inbox (received_at)`,
  // Spans in which a receiver listened; epoch milliseconds. Between them nobody did.
  `CREATE TABLE _receiver (
    id INTEGER PRIMARY KEY, started_ms INTEGER NOT NULL, seen_ms INTEGER NOT NULL, ended TEXT) STRICT`,
  `CREATE TABLE _orders (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, asked_at TEXT NOT NULL, pid INTEGER NOT NULL,
    options TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'waiting', report TEXT, settled_at TEXT) STRICT`,
  // Asked every second, beside the answers of a week.
  `CREATE INDEX _orders_waiting ON _orders (state, id) WHERE state = 'waiting'`,
  // Second looks wait in the lane of events for their time: they must cost nothing until then.
  `DROP INDEX _work_next`,
  `CREATE INDEX _work_next ON _work (state, lane, due_ms, id)`,
];

export const inbox = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
