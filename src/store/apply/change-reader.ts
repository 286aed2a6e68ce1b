import { canonicalId, type RecordId } from "../../base/ids.ts";
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

interface ChangeRow extends Omit<Change, "seq" | "recordId" | "requestId"> {
  readonly seq: bigint;
  readonly record_id: bigint;
  readonly request_id: string | null;
}

/** Reads the change log in order, some rows at a time: a log of any length in bounded memory. */
export class Changes {
  private readonly select: Statement;

  constructor(db: Db) {
    this.select = db
      .prepare(
        `SELECT seq, resource, record_id, op, at, cause, request_id, before, after FROM _changes
         WHERE seq > ? AND (? IS NULL OR resource = ?) ORDER BY seq LIMIT ?`,
      )
      .safeIntegers(true);
  }

  after(seq: number, resource: string | null, most = 200): Change[] {
    const rows = this.select.all(seq, resource, resource, most) as ChangeRow[];
    return rows.map(({ record_id, request_id, seq: rowSeq, ...same }) => ({
      ...same,
      seq: Number(rowSeq),
      recordId: canonicalId(record_id),
      requestId: request_id,
    }));
  }
}
