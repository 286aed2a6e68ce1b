/** Tables of delivered events, of the times when they could be received, and of commands of other processes. */
export const inbox = [
  // The signed id is kept for ever, so that a delivery repeated years later is known. The body is text, or bytes.
  `CREATE TABLE _inbox (
    event_id TEXT PRIMARY KEY, type TEXT, resource_type TEXT, resource_id INTEGER, occurred_at TEXT,
    received_at TEXT NOT NULL, body ANY NOT NULL, state TEXT NOT NULL, resource TEXT, target TEXT,
    dirty_seq INTEGER, settled_at TEXT, outcome TEXT, request_id TEXT, problem TEXT) STRICT`,
  // By arrival: events are added at its end. An index by (resource, target) would write a page per event.
  `CREATE INDEX _inbox_waiting ON _inbox (dirty_seq, resource, target) WHERE state = 'waiting'`,
  `CREATE INDEX _inbox_received ON _inbox (received_at)`,
  // Spans in which deliveries could be received; epoch milliseconds.
  `CREATE TABLE _receiver (
    id INTEGER PRIMARY KEY, started_ms INTEGER NOT NULL, seen_ms INTEGER NOT NULL, ended TEXT) STRICT`,
  `CREATE TABLE _orders (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, asked_at TEXT NOT NULL, pid INTEGER NOT NULL,
    options TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'waiting', report TEXT, settled_at TEXT) STRICT`,
  // Read every second, while the table holds the answers of a week.
  `CREATE INDEX _orders_waiting ON _orders (state, id) WHERE state = 'waiting'`,
  // Rechecks wait in the webhook lane until they are due: they must cost nothing until then.
  `DROP INDEX _work_next`,
  `CREATE INDEX _work_next ON _work (state, lane, due_ms, id)`,
];
