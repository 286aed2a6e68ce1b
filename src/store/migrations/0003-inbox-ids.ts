/**
 * An event is written at the end of the inbox only; its id is filed later, for many at once (state/inbox/event-ids).
 * An index of the ids themselves cost every delivery a page. `seq` is the order of arrival.
 */
export const inboxIds = [
  `CREATE TABLE _inbox_later (
    event_id TEXT NOT NULL, type TEXT, resource_type TEXT, resource_id INTEGER, occurred_at TEXT,
    received_at TEXT NOT NULL, body ANY NOT NULL, state TEXT NOT NULL, resource TEXT, target TEXT,
    dirty_seq INTEGER, settled_at TEXT, outcome TEXT, request_id TEXT, problem TEXT,
    seq INTEGER PRIMARY KEY) STRICT`,
  `INSERT INTO _inbox_later SELECT *, rowid FROM _inbox ORDER BY rowid`,
  `DROP TABLE _inbox`,
  `ALTER TABLE _inbox_later RENAME TO _inbox`,
  `CREATE INDEX _inbox_waiting ON _inbox (dirty_seq, resource, target) WHERE state = 'waiting'`,
  `CREATE TABLE _inbox_ids (hash INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (hash, seq)) STRICT, WITHOUT ROWID`,
];
