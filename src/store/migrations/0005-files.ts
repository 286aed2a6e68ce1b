/** PDFs and attachments: the files of each record as they are now, and for which state of a record they were asked. */
export const files = [
  `CREATE TABLE document_files (
    document TEXT NOT NULL, document_id INTEGER NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL PRIMARY KEY,
    size_bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, fetched_at TEXT NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE INDEX document_files_by_document ON document_files (document, document_id)`,
  // `problem`: why the answer could not be used; null: its files are stored.
  `CREATE TABLE _file_reads (
    document TEXT NOT NULL, document_id INTEGER NOT NULL, record_sha TEXT NOT NULL,
    read_at INTEGER NOT NULL, problem TEXT, PRIMARY KEY (document, document_id)) STRICT, WITHOUT ROWID`,
];
