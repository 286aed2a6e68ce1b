import { freeBytesAt } from "../../base/files/atomic-file.ts";
import type { Db } from "../../store/database.ts";
import { countRows } from "../../store/own-tables/statement.ts";
import { logBytes } from "../../store/write-ahead-log.ts";

const sampleSize = 200;
/** Of a row: numbers, its short texts, its place in the page and in indexes. */
const rowBytes = { inbox: 260, change: 90, run: 120 };

/** Bytes within the database that nothing takes. */
export function unusedBytes(db: Db): number {
  return numberOf(db, "freelist_count") * numberOf(db, "page_size");
}

function numberOf(db: Db, pragma: string): number {
  return Number(db.pragma(`main.${pragma}`, { simple: true }));
}

/** What a mirror takes on disk, in some milliseconds, however large it is: tables by a sample of their rows. */
export function readSizes(db: Db) {
  const runs = spanOf(db, "_runs", "id");
  const log = `ifnull(octet_length(before), 0) + ${rowBytes.change}`;
  const report = `octet_length(report) + octet_length(swept) + ${rowBytes.run}`;
  return {
    database_bytes: numberOf(db, "page_count") * numberOf(db, "page_size"),
    wal_bytes: logBytes(db.name),
    free_bytes: unusedBytes(db),
    disk_free_bytes: freeBytesAt(db.name),
    inbox: estimate(db, spanOf(db, "_inbox", "seq"), `octet_length(body) + ${rowBytes.inbox}`),
    change_log: estimate(db, spanOf(db, "_change_log", "seq"), log),
    runs: estimate(db, { ...runs, rows: countRows(db, "_runs", {}) }, report),
  };
}

function spanOf(db: Db, table: string, key: string) {
  const sql = `SELECT (SELECT min(${key}) FROM ${table}), (SELECT max(${key}) FROM ${table})`;
  const [first, last] = db.prepare(sql).raw().get() as [number | null, number | null];
  return { table, key, first: first ?? 0, last: last ?? -1, rows: (last ?? -1) - (first ?? 0) + 1 };
}

/** Rows of a table, and about how many bytes they take: by the mean of rows that are spread evenly. */
function estimate(db: Db, { table, key, first, last, rows }: ReturnType<typeof spanOf>, bytes: string) {
  const step = Math.max(1, (last - first) / sampleSize);
  const keys: number[] = [];
  for (let at = first; at <= last; at += step) keys.push(Math.round(at));
  const sql = `SELECT avg(${bytes}) FROM ${table} WHERE ${key} IN (SELECT value FROM json_each(?))`;
  const mean = db.prepare(sql).pluck().get(JSON.stringify(keys)) as number | null;
  return { rows, bytes: Math.round((mean ?? 0) * rows) };
}
