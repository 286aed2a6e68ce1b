/** Order of work within a lane, versions of typed rows, and what the comparison of previews learned. */
export const planner = [
  // Lane `changed` is new, the third; the lanes after it moved by one.
  `UPDATE _work SET lane = lane + 1 WHERE lane >= 2`,
  // Within a lane, lower ranks are read first.
  `ALTER TABLE _work ADD COLUMN rank INTEGER NOT NULL DEFAULT 0`,
  // In the order of leases: without the rank every lease would sort the whole lane.
  `DROP INDEX _work_next`,
  `CREATE INDEX _work_next ON _work (state, lane, due_ms, rank, id)`,
  // Details are read in turn over the resources.
  `CREATE INDEX _work_turns ON _work (lane, resource, rank, id) WHERE state = 'ready'`,
  // The version of the columns and decoding that made a table's rows; `next_id` while they are made again.
  `CREATE TABLE _derivations (
    resource TEXT PRIMARY KEY, version TEXT NOT NULL, next_id INTEGER) STRICT, WITHOUT ROWID`,
  // Records of which a preview and its detail show a field differently.
  `CREATE TABLE _preview_differences (
    resource TEXT NOT NULL, field TEXT NOT NULL, record_id INTEGER NOT NULL,
    PRIMARY KEY (resource, field, record_id)) STRICT, WITHOUT ROWID`,
  // What a list's readings know of their pages, and the readings before that count together with this one.
  `ALTER TABLE _listings ADD COLUMN idle INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE _listings ADD COLUMN tails INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE _listings ADD COLUMN overstated INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE _listings ADD COLUMN earlier TEXT`,
  `ALTER TABLE _listing_pages ADD COLUMN total INTEGER`,
  `ALTER TABLE _listing_pages ADD COLUMN without_id TEXT NOT NULL DEFAULT ''`,
];
