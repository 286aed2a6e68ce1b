import { isoTime } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import { quoted } from "../sql-text.ts";
import type { ReadStamp } from "./read-stamp.ts";
import type { Db } from "../database.ts";
import { Repository } from "../repository.ts";
import { fenceTable, rawTable } from "../tables/table-layout.ts";

/** Not a change of a row: an event about a record that has no route. Its body stands in `before`. */
const eventOp = "event";

/** One change of a record. */
export interface NewChange {
  readonly stamp: ReadStamp;
  readonly resource: string;
  readonly id: RecordId;
  readonly op: "insert" | "update" | "delete" | typeof eventOp;
  /** The record's JSON before the change; null for an insert. */
  readonly before: string | null;
}

/**
 * Writes the change log (I2).
 *
 * Guarantee: a change commits with the row it is about, in the order of `seq`.
 * Source of truth: tables `_change_log` and `_reads`; people read the view `_changes`. A row keeps the record as it
 * was before: what it was after is what it was before its next change (`next_seq`), or what it is now. So nothing
 * is stored twice, and a first sync stores no JSON here.
 * Worst outcome of a crash: none of its own; the change is rolled back with its row.
 */
export class ChangeLog extends Repository {
  private stamp: ReadStamp | null = null;
  private readId: number | bigint = 0;
  private readonly firstSeq: number;

  /** @param firstSeq no change gets a lower `seq` any more @default 1 */
  constructor(db: Db, firstSeq = 1) {
    super(db);
    this.firstSeq = firstSeq;
  }

  /** Call at the start of each transaction: a rollback removes the row of `_reads` that was in use. */
  begin(): void {
    this.stamp = null;
  }

  /** Returns the change's `seq`, for the record's fence. `previous` is the `seq` of the record's last change. */
  add(change: NewChange, previous: number | null): number {
    const seq = this.insert(change);
    if (previous !== null) this.execute("UPDATE _change_log SET next_seq = ? WHERE seq = ?", seq, previous);
    return seq;
  }

  /** Keeps the body of an event about a record that has no route to read (I12). */
  addEvent(stamp: ReadStamp, resource: string, id: RecordId, body: string): void {
    this.insert({ stamp, resource, id, op: eventOp, before: body });
  }

  private insert({ stamp, resource, id, op, before }: NewChange): number {
    if (this.stamp !== stamp) this.insertRead(stamp);
    const sql = "INSERT INTO _change_log (resource, record_id, op, read, before) VALUES (?, ?, ?, ?, ?)";
    const seq = Number(this.execute(sql, resource, id, op, this.readId, before).lastInsertRowid);
    if (seq >= this.firstSeq) return seq;
    this.execute("UPDATE _change_log SET seq = ? WHERE seq = ?", this.firstSeq, seq);
    return this.firstSeq;
  }

  private insertRead(stamp: ReadStamp): void {
    const sql = "INSERT INTO _reads (at, cause, request_id, run) VALUES (?, ?, ?, ?)";
    const { receivedAtMs, cause, requestId, run } = stamp;
    this.readId = this.execute(sql, isoTime(receivedAtMs), cause, requestId, run).lastInsertRowid;
    this.stamp = stamp;
  }
}

/** Creates the views `_raw` and `_changes`, again whenever the connector's resources change. */
export function createViews(db: Db, resources: readonly string[]): void {
  const arms = resources.map(
    (name) =>
      `SELECT '${name}' AS resource, r.id, r.json, (SELECT f.source FROM ${quoted(fenceTable(name))} f
        WHERE f.id = r.id) AS kind FROM ${quoted(rawTable(name))} r`,
  );
  replaceView(db, "_raw", arms.join(" UNION ALL "));
  replaceView(
    db,
    "_changes",
    `SELECT l.seq, l.resource, l.record_id, l.op, r.at, r.cause, r.request_id,
       CASE WHEN l.op <> '${eventOp}' THEN l.before END AS before,
       CASE WHEN l.op = 'delete' THEN NULL
            WHEN l.op = '${eventOp}' THEN l.before
            WHEN l.next_seq IS NULL THEN (SELECT w.json FROM _raw w WHERE w.resource = l.resource AND w.id = l.record_id)
            ELSE (SELECT n.before FROM _change_log n WHERE n.seq = l.next_seq) END AS after
     FROM _change_log l JOIN _reads r ON r.id = l.read`,
  );
}

function replaceView(db: Db, name: string, select: string): void {
  const sql = `CREATE VIEW ${name} AS ${select}`;
  const present = db.prepare("SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?");
  if (present.pluck().get(name) === sql) return;
  db.exec(`DROP VIEW IF EXISTS ${name}`);
  db.exec(sql);
}
