import { freeBytesAt } from "../../base/files/atomic-file.ts";
import type { Db } from "../../store/database.ts";
import { countRows, Repository } from "../../store/own-tables/statement.ts";
import { logBytes } from "../../store/write-ahead-log.ts";

/** Rows of a table, and about how many bytes they take. */
interface TableSize {
  readonly rows: number;
  readonly bytes: number;
}

/** What a mirror takes on disk. The sizes of tables are estimated from a sample of their rows. */
export interface MirrorSizes {
  readonly database_bytes: number;
  readonly wal_bytes: number;
  /** Within the database, taken by nothing. */
  readonly free_bytes: number;
  readonly disk_free_bytes: number;
  readonly inbox: TableSize;
  readonly change_log: TableSize;
  readonly runs: TableSize;
}

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

/** Reads sizes in some milliseconds, however large the mirror is. */
export class Sizes extends Repository {
  read(): MirrorSizes {
    const { db } = this;
    const inbox = this.span("_inbox", "seq");
    const log = this.span("_change_log", "seq");
    const runs = { ...this.span("_runs", "id"), rows: countRows(db, "_runs", {}) };
    return {
      database_bytes: numberOf(db, "page_count") * numberOf(db, "page_size"),
      wal_bytes: logBytes(db.name),
      free_bytes: unusedBytes(db),
      disk_free_bytes: freeBytesAt(db.name),
      inbox: this.estimate(inbox, "_inbox WHERE seq", `octet_length(body) + ${rowBytes.inbox}`),
      change_log: this.estimate(
        log,
        "_change_log WHERE seq",
        `ifnull(octet_length(before), 0) + ${rowBytes.change}`,
      ),
      runs: this.estimate(
        runs,
        "_runs WHERE id",
        `octet_length(report) + octet_length(swept) + ${rowBytes.run}`,
      ),
    };
  }

  private span(table: string, key: string): KeySpan {
    const sql = `SELECT (SELECT min(${key}) FROM ${table}) AS first, (SELECT max(${key}) FROM ${table}) AS last`;
    const { first, last } = this.statement(sql).get() as { first: number | null; last: number | null };
    return first === null || last === null
      ? { first: 0, last: -1, rows: 0 }
      : { first, last, rows: last - first + 1 };
  }

  /** By the mean of rows that are spread evenly. */
  private estimate({ first, last, rows }: KeySpan, where: string, bytes: string): TableSize {
    const step = Math.max(1, (last - first) / sampleSize);
    const keys: number[] = [];
    for (let key = first; key <= last; key += step) keys.push(Math.round(key));
    const sql = `SELECT avg(${bytes}) FROM ${where} IN (SELECT value FROM json_each(?))`;
    const [mean] = this.selectColumn<number | null>(sql, JSON.stringify(keys));
    return { rows, bytes: Math.round((mean ?? 0) * rows) };
  }
}

type KeySpan = Readonly<Record<"first" | "last" | "rows", number>>;
