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
    path TEXT NOT NULL, what TEXT NOT NULL, record_id INTEGER, type TEXT) STRICT`,
  // The version of the columns and decoding that made a table's rows; `next_id` while they are made again.
  `CREATE TABLE _derivations (
    resource TEXT PRIMARY KEY, version TEXT NOT NULL, next_id INTEGER) STRICT, WITHOUT ROWID`,
  // Records of which a preview and its detail show a field differently.
  `CREATE TABLE _preview_differences (
    resource TEXT NOT NULL, field TEXT NOT NULL, record_id INTEGER NOT NULL,
    PRIMARY KEY (resource, field, record_id)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE _quarantine (
    resource TEXT NOT NULL, key TEXT NOT NULL, record_id INTEGER, reason TEXT NOT NULL, at TEXT NOT NULL,
    request_id TEXT, json TEXT NOT NULL, PRIMARY KEY (resource, key)) STRICT, WITHOUT ROWID`,
  // AUTOINCREMENT: a lease is known by its item's id, and a new item must never get that of a leased one.
  // Within a lane, lower ranks are read first.
  `CREATE TABLE _work (
    id INTEGER PRIMARY KEY AUTOINCREMENT, resource TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL,
    lane INTEGER NOT NULL, rank INTEGER NOT NULL DEFAULT 0, due_ms INTEGER NOT NULL, reason TEXT NOT NULL,
    payload TEXT, dirty_seq INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'ready', error TEXT, UNIQUE (resource, target)) STRICT`,
  // In the order of leases: without the rank every lease would sort the whole lane. Rechecks wait in the webhook lane
  // until they are due: they must cost nothing until then.
  `CREATE INDEX _work_next ON _work (state, lane, due_ms, rank, id)`,
  // Details are read in turn over the resources.
  `CREATE INDEX _work_turns ON _work (lane, resource, rank, id) WHERE state = 'ready'`,
  // What a list's readings know of their pages, and the readings before that count together with this one.
  `CREATE TABLE _listings (
    resource TEXT NOT NULL, variant TEXT NOT NULL, run INTEGER NOT NULL, attempt INTEGER NOT NULL,
    started_seq INTEGER NOT NULL, started_at TEXT NOT NULL, per_page INTEGER NOT NULL, pages INTEGER NOT NULL,
    total INTEGER NOT NULL, steady INTEGER NOT NULL, idle INTEGER NOT NULL DEFAULT 0,
    tails INTEGER NOT NULL DEFAULT 0, overstated INTEGER NOT NULL DEFAULT 0, earlier TEXT,
    PRIMARY KEY (resource, variant)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE _listing_pages (
    resource TEXT NOT NULL, variant TEXT NOT NULL, page INTEGER NOT NULL, ids TEXT NOT NULL, total INTEGER,
    without_id TEXT NOT NULL DEFAULT '', PRIMARY KEY (resource, variant, page)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE _parents (
    resource TEXT NOT NULL, parent_resource TEXT NOT NULL, parent_id INTEGER NOT NULL, listed_at INTEGER NOT NULL,
    run INTEGER NOT NULL, PRIMARY KEY (resource, parent_resource, parent_id)) STRICT, WITHOUT ROWID`,
  // The signed id is kept for ever, so that a delivery repeated years later is known. The body is text, or bytes.
  // `seq` is the order of arrival. An event is written at the end only; its id is filed later, for many at once
  // (state/inbox/event-ids): an index of the ids themselves would cost every delivery a page.
  `CREATE TABLE _inbox (
    event_id TEXT NOT NULL, type TEXT, resource_type TEXT, resource_id INTEGER, occurred_at TEXT,
    received_at TEXT NOT NULL, body ANY NOT NULL, state TEXT NOT NULL, resource TEXT, target TEXT,
    dirty_seq INTEGER, settled_at TEXT, outcome TEXT, request_id TEXT, problem TEXT,
    seq INTEGER PRIMARY KEY) STRICT`,
  // By arrival: events are added at its end. An index by (resource, target) would write a page per event.
  `CREATE INDEX _inbox_waiting ON _inbox (dirty_seq, resource, target) WHERE state = 'waiting'`,
  `CREATE TABLE _inbox_ids (hash INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (hash, seq)) STRICT, WITHOUT ROWID`,
  // Spans in which deliveries could be received; epoch milliseconds.
  `CREATE TABLE _receiver (
    id INTEGER PRIMARY KEY, started_ms INTEGER NOT NULL, seen_ms INTEGER NOT NULL, ended TEXT) STRICT`,
  // Of other processes to the daemon.
  `CREATE TABLE _commands (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, asked_at TEXT NOT NULL, pid INTEGER NOT NULL,
    options TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'waiting', report TEXT, settled_at TEXT) STRICT`,
  // Read every second, while the table holds the answers of a week.
  `CREATE INDEX _commands_waiting ON _commands (state, id) WHERE state = 'waiting'`,
  // PDFs and attachments: the files of each record as they are now.
  `CREATE TABLE document_files (
    document TEXT NOT NULL, document_id INTEGER NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL PRIMARY KEY,
    size_bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, fetched_at TEXT NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE INDEX document_files_by_document ON document_files (document, document_id)`,
  // For which state of a record its files were asked. `problem`: why the answer could not be used; null: its files are stored.
  `CREATE TABLE _file_reads (
    document TEXT NOT NULL, document_id INTEGER NOT NULL, record_sha TEXT NOT NULL,
    read_at INTEGER NOT NULL, problem TEXT, PRIMARY KEY (document, document_id)) STRICT, WITHOUT ROWID`,
];
