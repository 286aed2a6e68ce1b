/**
 * The mirror's own tables. Resource tables are not here: they follow the connector's fields
 * (store/tables), so that a new field needs no migration.
 */
export const first = [
  `CREATE TABLE _meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE TABLE _runs (
    id INTEGER PRIMARY KEY, mode TEXT NOT NULL, started_at TEXT NOT NULL, finished_at TEXT,
    outcome TEXT, resumes INTEGER, pid INTEGER NOT NULL,
    swept TEXT NOT NULL DEFAULT '{}', report TEXT NOT NULL DEFAULT '{}') STRICT`,
  `CREATE TABLE _reads (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, cause TEXT NOT NULL, request_id TEXT, run INTEGER) STRICT`,
  `CREATE TABLE _change_log (
    seq INTEGER PRIMARY KEY, resource TEXT NOT NULL, record_id INTEGER NOT NULL, op TEXT NOT NULL,
    read INTEGER NOT NULL, before TEXT, next_seq INTEGER) STRICT`,
  `CREATE TABLE _schema_changes (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, table_name TEXT NOT NULL, column_name TEXT NOT NULL,
    path TEXT NOT NULL, what TEXT NOT NULL) STRICT`,
  `CREATE TABLE _quarantine (
    resource TEXT NOT NULL, key TEXT NOT NULL, record_id INTEGER, reason TEXT NOT NULL, at TEXT NOT NULL,
    request_id TEXT, json TEXT NOT NULL, PRIMARY KEY (resource, key)) STRICT, WITHOUT ROWID`,
  // AUTOINCREMENT: a lease is known by its item's id, and a new item must never get that of a leased one.
  `CREATE TABLE _work (
    id INTEGER PRIMARY KEY AUTOINCREMENT, resource TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL,
    lane INTEGER NOT NULL, due_ms INTEGER NOT NULL, reason TEXT NOT NULL, payload TEXT,
    dirty_seq INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL DEFAULT 'ready',
    error TEXT, UNIQUE (resource, target)) STRICT`,
  `CREATE INDEX _work_next ON _work (state, lane, id)`,
  `CREATE TABLE _listings (
    resource TEXT NOT NULL, variant TEXT NOT NULL, run INTEGER NOT NULL, attempt INTEGER NOT NULL,
    started_seq INTEGER NOT NULL, started_at TEXT NOT NULL, per_page INTEGER NOT NULL, pages INTEGER NOT NULL,
    total INTEGER NOT NULL, steady INTEGER NOT NULL, PRIMARY KEY (resource, variant)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE _listing_pages (
    resource TEXT NOT NULL, variant TEXT NOT NULL, page INTEGER NOT NULL, ids TEXT NOT NULL,
    PRIMARY KEY (resource, variant, page)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE _parents (
    resource TEXT NOT NULL, parent_resource TEXT NOT NULL, parent_id INTEGER NOT NULL, listed_at INTEGER NOT NULL,
    run INTEGER NOT NULL, PRIMARY KEY (resource, parent_resource, parent_id)) STRICT, WITHOUT ROWID`,
];
