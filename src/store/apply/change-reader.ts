import type { RecordId } from "../../base/ids.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Cause } from "./read-stamp.ts";
import { Repository } from "../repository.ts";

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

/** What is known of a change besides the record's JSON. */
export type ChangeFacts = Pick<Change, "seq" | "resource" | "recordId" | "op" | "at" | "cause">;

/** A part of the change log. */
export interface ChangeWindow {
  readonly fromSeq: number;
  /** Not included. */
  readonly beforeSeq: number;
  /** Null: all. */
  readonly resource: string | null;
  readonly most: number;
}

/** Reads the change log. Safe beside a running writer. */
export class Changes extends Repository {
  /** The number of the last change; 0 for none. */
  lastSeq(): number {
    return this.selectColumn<number | null>("SELECT max(seq) FROM _change_log")[0] ?? 0;
  }

  /** The number of the first change that is there, after the first `skipped`; 1 for none. */
  firstSeq(skipped = 0): number {
    return (
      this.selectColumn<number>("SELECT seq FROM _change_log ORDER BY seq LIMIT 1 OFFSET ?", skipped)[0] ?? 1
    );
  }

  /** The number of the first of the last `most` changes before `seq`; `seq` where there are none. */
  seqBefore(seq: number, most: number): number {
    const sql = "SELECT min(seq) FROM (SELECT seq FROM _change_log WHERE seq < ? ORDER BY seq DESC LIMIT ?)";
    return this.selectColumn<number | null>(sql, seq, most)[0] ?? seq;
  }

  /** How many changes there are from one number to before another. */
  countBetween(fromSeq: number, beforeSeq: number): number {
    const sql = "SELECT count(*) FROM _change_log WHERE seq >= ? AND seq < ?";
    return this.selectColumn<number>(sql, fromSeq, beforeSeq)[0] ?? 0;
  }

  /** Is there a change of this number? */
  has(seq: number): boolean {
    return this.selectColumn("SELECT 1 FROM _change_log WHERE seq = ?", seq).length > 0;
  }

  /** Throws MirrorError `not_found` where changes after `seq` were removed: what is left would hide them. */
  assertHeldAfter(seq: number): void {
    const first = this.firstSeq();
    if (seq >= first - 1) return;
    throw new MirrorError(
      "not_found",
      `the changes from seq ${seq + 1} to ${first - 1} were removed: the change log begins at seq ${first}`,
      {
        hint: `Take all of it anew (\`export\` without --since, or the report) and go on from the log and next_since of its manifest; --since ${first - 1} gives what is left.`,
      },
    );
  }

  /** How many changes of each kind come after `seq`, in the order of their first. */
  countsAfter(seq: number): { resource: string; op: string; count: number }[] {
    const sql = `SELECT resource, op, count(*) AS count FROM _change_log WHERE seq > ?
      GROUP BY resource, op ORDER BY min(seq)`;
    return this.selectAll(sql, seq);
  }

  /** Deletions that reads of one cause made after `at` (ISO), in no order. */
  deletionsSince(at: string, cause: Cause): { resource: string; at: string }[] {
    const sql = `SELECT l.resource, r.at FROM _reads r JOIN _change_log l ON l.read = r.id
      WHERE r.at > ? AND r.cause = ? AND l.op = 'delete'`;
    return this.selectAll(sql, at, cause);
  }

  /**
   * The next `most` changes after `seq`, of one resource or of all: a log of any length in bounded memory.
   * Throws MirrorError `not_found` where some of them were removed.
   */
  after(seq: number, resource: string | null, most = 200): Change[] {
    return this.db.transaction(() => this.readAfter(seq, resource, most))();
  }

  /** The next `most` changes after `seq`, without JSON. What was removed is left out. */
  factsAfter(seq: number, most: number): ChangeFacts[] {
    const sql = `SELECT l.seq, l.resource, l.record_id AS recordId, l.op, r.at, r.cause
      FROM _change_log l JOIN _reads r ON r.id = l.read WHERE l.seq > ? ORDER BY l.seq LIMIT ?`;
    return this.selectExact<ChangeFacts>(sql, seq, most);
  }

  /** Those of these changes, the newest first. What was removed is left out. */
  newestIn({ fromSeq, beforeSeq, resource, most }: ChangeWindow): Change[] {
    const sql = `SELECT seq, resource, record_id AS recordId, op, at, cause, request_id AS requestId, before, after
      FROM _changes WHERE seq >= ? AND seq < ? AND (? IS NULL OR resource = ?)
      ORDER BY seq DESC LIMIT ?`;
    return this.selectExact<Change>(sql, fromSeq, beforeSeq, resource, resource, most);
  }

  private readAfter(seq: number, resource: string | null, most: number): Change[] {
    this.assertHeldAfter(seq);
    const sql = `SELECT seq, resource, record_id AS recordId, op, at, cause, request_id AS requestId, before, after
      FROM _changes WHERE seq > ? AND (? IS NULL OR resource = ?) ORDER BY seq LIMIT ?`;
    return this.selectExact<Change>(sql, seq, resource, resource, most);
  }
}
