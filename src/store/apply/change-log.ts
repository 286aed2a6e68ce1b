import { isoTime } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import { quoted } from "../sql-text.ts";
import { MirrorError } from "../../base/errors.ts";
import { stringifyLossless } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { Cause, ReadStamp } from "./read-stamp.ts";
import type { Db } from "../database.ts";
import { hasRow, highest, Repository, statement } from "../own-tables/statement.ts";
import { fenceTable, rawTable } from "../tables/table-layout.ts";

/** Not a change of a row: an event about a record that has no route. Its body stands in `before`. */
const eventOp = "event";

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
    if (this.stamp !== stamp) {
      const read = "INSERT INTO _reads (at, cause, request_id, run) VALUES (?, ?, ?, ?)";
      const { receivedAtMs, cause, requestId, run } = stamp;
      this.readId = this.execute(read, isoTime(receivedAtMs), cause, requestId, run).lastInsertRowid;
      this.stamp = stamp;
    }
    const sql = "INSERT INTO _change_log (resource, record_id, op, read, before) VALUES (?, ?, ?, ?, ?)";
    const seq = Number(this.execute(sql, resource, id, op, this.readId, before).lastInsertRowid);
    if (seq >= this.firstSeq) return seq;
    this.execute("UPDATE _change_log SET seq = ? WHERE seq = ?", this.firstSeq, seq);
    return this.firstSeq;
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

/** A change as JSON on one line. `before` and `after` are inserted as received, number literals included. */
export function changeLine(change: Change, log: string): string {
  const { resource, op, at, cause, requestId: request_id } = change;
  const facts = { resource, op, at, cause, request_id };
  const head = `{"log":"${log}","seq":${change.seq},"record_id":${change.recordId},${JSON.stringify(facts).slice(1, -1)}`;
  return `${head},"before":${oneLine(change.before)},"after":${oneLine(change.after)}}`;
}

function oneLine(json: string | null): string {
  if (json === null) return "null";
  return /[\r\n]/.test(json) ? stringifyLossless(parseLossless(json)) : json;
}

/** Reads the change log. Safe beside a running writer. */
export class Changes extends Repository {
  /** The number of the last change; 0 for none. */
  lastSeq(): number {
    return highest(this.db, "_change_log", "seq");
  }

  /** The number of the first change that is there, after the first `skipped`; 1 for none. */
  firstSeq(skipped = 0): number {
    return firstSeq.value(this.db, { skipped }) ?? 1;
  }

  has(seq: number): boolean {
    return hasRow(this.db, "_change_log", { seq });
  }

  /** Is every change after this one still there? */
  holdsAfter(seq: number): boolean {
    return seq >= this.firstSeq() - 1;
  }

  /** Throws MirrorError `not_found` where changes after `seq` were removed: what is left would hide them. */
  assertHeldAfter(seq: number): void {
    if (this.holdsAfter(seq)) return;
    const first = this.firstSeq();
    throw new MirrorError(
      "not_found",
      `the changes from seq ${seq + 1} to ${first - 1} were removed: the change log begins at seq ${first}`,
      {
        hint: `Take all of it anew (\`export\` without --since, or the report) and go on from the log and next_since of its manifest; --since ${first - 1} gives what is left.`,
      },
    );
  }

  /** Deletions that reads of one cause made after `at` (ISO), in no order. */
  deletionsSince(at: string, cause: Cause): { resource: string; at: string }[] {
    return deletionsSince.all(this.db, { at, cause });
  }

  /**
   * The next `most` changes after `seq`, of these resources or of all: a log of any length in bounded memory.
   * Throws MirrorError `not_found` where some of them were removed.
   */
  after(seq: number, resources: readonly string[] | null, most = 200): Change[] {
    const isOfThem = "(? IS NULL OR resource IN (SELECT value FROM json_each(?)))";
    const sql = `${changeSql} WHERE seq > ? AND ${isOfThem} ORDER BY seq LIMIT ?`;
    const names = resources && JSON.stringify(resources);
    return this.db.transaction(() => {
      this.assertHeldAfter(seq);
      return this.selectExact<Change>(sql, seq, names, names, most);
    })();
  }

  /** The next `most` changes after `seq`, without JSON. What was removed is left out. */
  factsAfter(seq: number, most: number) {
    return factsAfter.exact(this.db, { seq, most });
  }

  /** The last `most` changes before a number, the newest first. What was removed is left out. */
  newestBefore(seq: number, most: number): Change[] {
    return this.selectExact<Change>(`${changeSql} WHERE seq < ? ORDER BY seq DESC LIMIT ?`, seq, most);
  }
}

const changeSql = `SELECT seq, resource, record_id AS recordId, op, at, cause, request_id AS requestId, before, after
  FROM _changes`;

const firstSeq = statement((db, p: { skipped: number }) =>
  db.selectFrom("_change_log").select("seq").orderBy("seq").limit(1).offset(p.skipped),
);
const deletionsSince = statement((db, p: { at: string; cause: Cause }) => {
  const reads = db.selectFrom("_reads as r").where("r.at", ">", p.at).where("r.cause", "=", p.cause);
  const changes = reads.innerJoin("_change_log as l", "l.read", "r.id").where("l.op", "=", "delete");
  return changes.select(["l.resource", "r.at"]);
});
const factsAfter = statement((db, p: { seq: number; most: number }) => {
  const changes = db.selectFrom("_change_log as l").innerJoin("_reads as r", "r.id", "l.read");
  const asked = changes.where("l.seq", ">", p.seq).orderBy("l.seq").limit(p.most);
  return asked.select(["l.seq", "l.resource", "l.record_id as recordId", "l.op", "r.at", "r.cause"]);
});
