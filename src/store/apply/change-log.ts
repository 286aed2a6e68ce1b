import { isoTime } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import { quoted } from "../sql-text.ts";
import type { ReadStamp } from "./read-stamp.ts";
import type { Db, Statement } from "../database.ts";
import { rawTable } from "../tables/table-statements.ts";

export type Op = "insert" | "update" | "delete";

/** Not a change of a row: something that was told of a record nobody can read. Its text stands in `before`. */
const eventOp = "event";

/**
 * The change log (I2). A row keeps what the record was *before*; what it was after is what it was
 * before its next change, or what it is now. So nothing is stored twice, and the first sync writes no
 * JSON here at all. `next_seq` links a record's changes; `_changes` is the view people read.
 */
export class ChangeLog {
  private readonly insertRead: Statement;
  private readonly insertChange: Statement;
  private readonly link: Statement;
  private reading: ReadStamp | null = null;
  private readId: number | bigint = 0;

  constructor(db: Db) {
    this.insertRead = db.prepare("INSERT INTO _reads (at, cause, request_id, run) VALUES (?, ?, ?, ?)");
    this.insertChange = db.prepare(
      "INSERT INTO _change_log (resource, record_id, op, read, before) VALUES (?, ?, ?, ?, ?)",
    );
    this.link = db.prepare("UPDATE _change_log SET next_seq = ? WHERE seq = ?");
  }

  /** Call at the start of each transaction: a rolled back one took its `_reads` row with it. */
  begin(): void {
    this.reading = null;
  }

  /** Returns the change's seq, to be kept in the record's fence. */
  add(
    reading: ReadStamp,
    resource: string,
    id: RecordId,
    op: Op,
    before: string | null,
    previous: number | null,
  ): number {
    const seq = Number(this.insertChange.run(resource, id, op, this.readOf(reading), before).lastInsertRowid);
    if (previous !== null) this.link.run(seq, previous);
    return seq;
  }

  addEvent(reading: ReadStamp, resource: string, id: RecordId, body: string): void {
    this.insertChange.run(resource, id, eventOp, this.readOf(reading), body);
  }

  private readOf(reading: ReadStamp): number | bigint {
    if (this.reading !== reading) {
      const at = isoTime(reading.receivedAtMs);
      this.readId = this.insertRead.run(at, reading.cause, reading.requestId, reading.run).lastInsertRowid;
      this.reading = reading;
    }
    return this.readId;
  }
}

/** `_raw` and `_changes`: views, made anew whenever the connector's resources change. */
export function createViews(db: Db, resources: readonly string[]): void {
  const arms = resources.map(
    (name) => `SELECT '${name}' AS resource, id, json FROM ${quoted(rawTable(name))}`,
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
  const present = db
    .prepare("SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?")
    .pluck()
    .get(name);
  if (present === sql) return;
  db.exec(`DROP VIEW IF EXISTS ${name}`);
  db.exec(sql);
}
