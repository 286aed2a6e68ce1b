import { canonicalId, type RecordId } from "../../base/ids.ts";
import type { Cause } from "./read-stamp.ts";
import type { Db, Statement } from "../database.ts";

/** One row of the change log; `before` and `after` are the record's JSON as it was received. */
export interface Change {
  readonly seq: number;
  readonly resource: string;
  readonly recordId: RecordId;
  readonly op: string;
  readonly at: string;
  readonly cause: string;
  readonly requestId: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** Reads the change log. Safe beside a running writer. */
export class Changes {
  private readonly db: Db;
  private readonly select: Statement;

  constructor(db: Db) {
    this.db = db;
    this.select = db
      .prepare(
        `SELECT seq, resource, record_id AS recordId, op, at, cause, request_id AS requestId, before, after
         FROM _changes
         WHERE seq > ? AND (? IS NULL OR resource = ?) ORDER BY seq LIMIT ?`,
      )
      .safeIntegers(true);
  }

  /** The number of the last change; 0 for none. */
  lastSeq(): number {
    return Number(this.db.prepare("SELECT coalesce(max(seq), 0) FROM _change_log").pluck().get());
  }

  /** Does a change of this record come after `seq`? */
  hasChanged(seq: number, resource: string, id: number): boolean {
    const sql = "SELECT 1 FROM _change_log WHERE seq > ? AND resource = ? AND record_id = ?";
    return this.db.prepare(sql).get(seq, resource, id) !== undefined;
  }

  /** How many changes of each kind come after `seq`, in the order of their first. */
  countsAfter(seq: number): { resource: string; op: string; count: number }[] {
    const sql = `SELECT resource, op, count(*) AS count FROM _change_log WHERE seq > ?
      GROUP BY resource, op ORDER BY min(seq)`;
    return this.db.prepare(sql).all(seq) as { resource: string; op: string; count: number }[];
  }

  /** The next `most` changes after `seq`, of one resource or of all: a log of any length in bounded memory. */
  after(seq: number, resource: string | null, most = 200): Change[] {
    const rows = this.select.all(seq, resource, resource, most) as (Change & {
      seq: bigint;
      recordId: bigint;
    })[];
    return rows.map((row) => ({ ...row, seq: Number(row.seq), recordId: canonicalId(row.recordId) }));
  }
}

/** Deletions that reads of one cause made after `at` (ISO), in no order. */
export function deletionsSince(db: Db, at: string, cause: Cause): { resource: string; at: string }[] {
  const sql = `SELECT l.resource, r.at FROM _reads r JOIN _change_log l ON l.read = r.id
    WHERE r.at > ? AND r.cause = ? AND l.op = 'delete'`;
  return db.prepare(sql).all(at, cause) as { resource: string; at: string }[];
}
