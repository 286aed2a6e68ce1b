import { existsSync, realpathSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import { yieldToLoop } from "../../base/cancellation.ts";
import { throwIfAborted } from "../../base/errors.ts";
import { canonicalId } from "../../base/ids.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import { isShownWhole } from "../../store/apply/previews.ts";
import { stampWithoutRead, type ReadStamp, type Source } from "../../store/apply/read-stamp.ts";
import type { ResourceTable } from "../../store/apply/resource-table.ts";
import { valueOf } from "../../json/cut.ts";
import { inTransaction, openDatabase, type Db } from "../../store/database.ts";
import { quoted } from "../../store/sql-text.ts";
import { fenceTable, rawTable } from "../../store/tables/table-layout.ts";
import { archivePositionKey } from "../meta.ts";
import type { MirrorMoment } from "./moment.ts";
import { Mirror } from "../mirror.ts";

/** A record as it was at some time. */
export interface PastRecord {
  readonly id: bigint;
  readonly resource: string;
  /** Of a rewound record: its first change since. Of a version: the change that made it. */
  readonly op: string;
  /** When the next version followed, ISO; null: none did. */
  readonly until: string | null;
  /** The change whose `before` is the record; null: it was not known. */
  readonly json: bigint | null;
  /** The change that made it so, its time and cause; null: it was removed from the log. */
  readonly made: bigint | null;
  readonly madeAt: string | null;
  readonly cause: string | null;
}

const recordsAtOnce = 1_000;
const interrupted = "the books as of an earlier moment were not finished; nothing was written";

/**
 * Copies a mirror to a new file and turns the copy into the mirror as it was at a moment of its change log: rows, child
 * rows, JSON, tombstones, runs and the log itself end there. Everything that reads a mirror reads the copy.
 *
 * Guarantee: only the copy is written. A record without a change since the moment is left as it is. Columns of fields that
 * the service showed first later are not there. The caller made sure that the log holds the moment (`seqAt`).
 * Source of truth: the change log, whose rows hold each record as it was before.
 * Worst outcome of a crash: an unfinished copy, which nobody reads.
 *
 * @throws MirrorError `database`, `stopped`
 */
export async function copyAsOf(
  source: string,
  target: string,
  manifest: Manifest,
  moment: MirrorMoment,
  { clock, signal }: CopyOptions,
): Promise<void> {
  const db = await copyForReading(source, target, signal);
  try {
    forgetLater(db, moment);
    const mirror = new Mirror(db, manifest, {}, null);
    listChanged(db, moment);
    const stamp = stampWithoutRead("schema", clock);
    for (const { name } of manifest.resources) removeLater(db, mirror.table(name));
    await eachPast(mirror, signal, (table, record, slice) =>
      putPast(table, record, slice, stamp, record.op === "insert"),
    );
    cutLog(db, moment);
  } finally {
    db.close();
  }
}

export interface CopyOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Copies a mirror beside its writer, of one commit, to a file that need not outlive this process. As files: page by page
 * takes three times as long. While this transaction reads, nothing leaves the log, and only what was in it before goes to
 * the file: so the log is copied first. A later commit that the copy of the log ends with is whole, or is ignored.
 */
export async function copyForReading(source: string, target: string, signal: AbortSignal): Promise<Db> {
  const live = openDatabase(source, { readonly: true });
  try {
    live.exec("BEGIN");
    live.prepare("SELECT 1 FROM _meta").get();
    const file = realpathSync(source);
    for (const suffix of ["-wal", ""])
      if (existsSync(file + suffix)) await copyFile(file + suffix, target + suffix);
  } finally {
    live.close();
  }
  throwIfAborted(signal, interrupted);
  const db = openDatabase(target);
  for (const pragma of ["journal_mode = MEMORY", "synchronous = OFF", "cache_size = -64000"])
    db.pragma(pragma);
  return db;
}

/** Calls `step` for each record of table `_past` that was known, with the record's table and JSON, some in each transaction. */
export async function eachPast(
  mirror: Mirror,
  signal: AbortSignal,
  step: (table: ResourceTable, record: PastRecord, slice: Buffer) => void,
): Promise<void> {
  const { db, manifest } = mirror;
  const known = new Set(manifest.resources.map(({ name }) => name));
  const select = db.prepare("SELECT * FROM temp._past WHERE rowid > ? ORDER BY rowid LIMIT ?").safeIntegers();
  const jsonOf = db.prepare("SELECT CAST(before AS BLOB) FROM _change_log WHERE seq = ?").pluck();
  for (let after = 0, records: PastRecord[] = []; after === 0 || records.length > 0; after += recordsAtOnce) {
    records = select.all(after, recordsAtOnce) as PastRecord[];
    mirror.apply(() => {
      for (const record of records) {
        const slice = record.json === null ? null : (jsonOf.get(record.json) as Buffer | null);
        if (slice && known.has(record.resource)) step(mirror.table(record.resource), record, slice);
      }
    });
    await yieldToLoop(signal, interrupted);
  }
}

/** What the mirror noted later: fields that were new then, runs, stored files, records set aside. */
function forgetLater(db: Db, { at }: MirrorMoment): void {
  inTransaction(db, () => {
    for (const sql of [
      "DELETE FROM _schema_changes WHERE at > @at",
      "DELETE FROM _quarantine WHERE at > @at",
      "DELETE FROM _hand_overs WHERE at > @at",
      "DELETE FROM document_files WHERE fetched_at > @at",
      "DELETE FROM _runs WHERE started_at > @at",
      "UPDATE _runs SET finished_at = NULL, outcome = NULL WHERE finished_at > @at",
      "UPDATE _runs SET report = json_remove(report, '$.listed_at') WHERE report ->> 'listed_at' > @at",
      `UPDATE _runs SET swept = (SELECT json_group_object(key, value) FROM json_each(swept) WHERE value <= @at)
        WHERE EXISTS (SELECT 1 FROM json_each(swept) WHERE value > @at)`,
    ])
      db.prepare(sql).run({ at });
    // Nobody knows who was listed first after the moment: until a run was complete, these count as not listed.
    const isWhole = db.prepare("SELECT 1 FROM _runs WHERE outcome = 'complete'").get() !== undefined;
    if (!isWhole) db.prepare("DELETE FROM _parents WHERE listed_at > ?").run(Date.parse(at));
    db.prepare("DELETE FROM _meta WHERE key = ?").run(archivePositionKey);
  });
}

/**
 * A change is the first since the moment where the change before it, of which it is the next, is not later. By id, so that
 * neighbours are written together.
 */
function listChanged(db: Db, { seq }: MirrorMoment): void {
  db.exec(`CREATE TEMP TABLE _next (seq INTEGER PRIMARY KEY, made INTEGER);
    INSERT INTO temp._next SELECT next_seq, seq FROM _change_log WHERE next_seq > ${seq} ORDER BY next_seq`);
  db.exec(`CREATE TEMP TABLE _past AS
    SELECT l.resource, l.record_id AS id, l.op,
      CASE WHEN l.op <> 'insert' THEN l.seq WHEN m.op = 'delete' THEN m.seq END AS json,
      m.seq AS made, r.at AS madeAt, r.cause AS cause, NULL AS until
    FROM _change_log l LEFT JOIN temp._next n ON n.seq = l.seq LEFT JOIN _change_log m ON m.seq = n.made
      LEFT JOIN _reads r ON r.id = m.read
    WHERE l.seq > ${seq} AND l.op <> 'event' AND (m.seq IS NULL OR m.seq <= ${seq}) ORDER BY l.resource, l.record_id`);
}

/** All records of a table that came later, at once: one by one takes ten times as long. */
function removeLater(db: Db, { plan: { table, children } }: ResourceTable): void {
  const rows = [table, rawTable(table), fenceTable(table)].map((name) => ({ table: name, parentKey: "id" }));
  const ids = `SELECT id FROM temp._past WHERE resource = '${table}' AND json IS NULL`;
  for (const { table: name, parentKey } of [...rows, ...children])
    db.exec(`DELETE FROM ${quoted(name)} WHERE ${quoted(parentKey)} IN (${ids})`);
}

/**
 * Gives a record the rows of its JSON of then. Cells that the JSON does not name, the owner of an owned record, stay as they
 * are: no change moves them.
 */
export function putPast(
  table: ResourceTable,
  { id: key, cause, made, madeAt }: PastRecord,
  slice: Buffer,
  stamp: ReadStamp,
  isGone = false,
): void {
  const source: Source = isPreview(table, cause, slice) ? "preview" : "detail";
  const then = madeAt === null ? stamp : { ...stamp, receivedAtMs: Date.parse(madeAt) };
  table.putPast({ id: canonicalId(key), slice, source, change: made, isGone }, then);
}

/** Lists give previews; rows that were derived again, and those whose change was removed, are known by what they lack. */
function isPreview({ resource, plan }: ResourceTable, cause: string | null, slice: Buffer): boolean {
  if (isShownWhole(resource, slice)) return false;
  const isDerived = cause === "schema" || cause === null;
  return (
    cause === "sweep" || (isDerived && plan.children.some(({ field }) => valueOf(slice, field) === null))
  );
}

function cutLog(db: Db, { seq }: MirrorMoment): void {
  db.exec(`DELETE FROM _change_log WHERE seq > ${seq}`);
  db.exec("UPDATE _change_log SET next_seq = NULL WHERE seq IN (SELECT made FROM temp._next)");
}
