import { existsSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { yieldToLoop } from "../../base/cancellation.ts";
import { canonicalId } from "../../base/ids.ts";
import { silentLog } from "../../base/logger.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import { valueOf } from "../../json/cut.ts";
import { isShownWhole } from "../../store/apply/previews.ts";
import { stampWithoutRead, type ReadStamp, type Source } from "../../store/apply/read-stamp.ts";
import type { ResourceTable } from "../../store/apply/resource-table.ts";
import type { Db } from "../../store/database.ts";
import { quoted } from "../../store/sql-text.ts";
import { attachLive, changedTable, overlayTable } from "../../store/snapshot/overlay.ts";
import { historyColumns, historyTable } from "../../store/snapshot/snapshot-tables.ts";
import { columnNames, dataColumns } from "../../store/tables/table-layout.ts";
import type { TablePlan } from "../../store/tables/table-plan.ts";
import { archivePositionKey } from "../meta.ts";
import type { MirrorMoment } from "./moment.ts";
import { Mirror, openScratch } from "../mirror.ts";

interface PastRecord {
  readonly id: bigint;
  readonly resource: string;
  /** Of a rewound record: its first change since. Of a version: the change that made it. */
  readonly op: string;
  /** When the next version followed, ISO; null: none did. */
  readonly until: string | null;
  /** Of the change that made it so, which is `made` in table `_past`; null: it was removed from the log. */
  readonly madeAt: string | null;
  readonly cause: string | null;
}

const recordsAtOnce = 1_000;
const interrupted = "the books as of an earlier moment were not finished; nothing was written";

/**
 * Makes an overlay that shows a mirror as it was at a moment of its change log: rows, child rows, JSON, tombstones, runs
 * and the log itself end there. Everything that reads a mirror reads the overlay. One that is there already is brought up
 * to the live mirror's last change.
 *
 * Guarantee: only the overlay is written. It has the records that changed since the moment, and no other. Columns of fields
 * that the service showed first later are not there. The caller made sure that the log holds the moment (`seqAt`).
 * Source of truth: the change log, whose rows hold each record as it was before.
 * Worst outcome of a crash: an unfinished overlay, which nobody reads.
 *
 * @throws MirrorError `database`, `stopped`
 */
export async function overlayAsOf(
  live: string,
  overlay: string,
  declaration: ConnectorDeclaration,
  moment: MirrorMoment,
  { clock, signal }: OverlayOptions,
): Promise<void> {
  await writeOverlay(live, overlay, declaration, moment, async (mirror) => {
    const { db } = mirror;
    const stamp = stampWithoutRead("schema", clock);
    const known = () => db.prepare(`SELECT known FROM ${overlayTable}`).pluck().get() as number;
    // What changes while the first, long round reads is left to the next one.
    for (let last = lastChange(db); last !== known(); last = lastChange(db)) {
      listChanged(db, moment, known());
      await eachPast(mirror, signal, (table, record, slice) =>
        putPast(table, record, slice, stamp, record.op === "insert"),
      );
      noteChanged(mirror);
      db.prepare(`UPDATE ${overlayTable} SET known = ?`).run(last);
      db.exec("COMMIT; BEGIN");
    }
  });
}

interface OverlayOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Runs `step` on the overlay in one transaction, which reads one commit of the mirror attached as `live`, beside its writer.
 *
 * @param moment null: it shows what is now, with a history
 */
async function writeOverlay(
  live: string,
  overlay: string,
  declaration: ConnectorDeclaration,
  moment: MirrorMoment | null,
  step: (mirror: Mirror) => Promise<void>,
): Promise<void> {
  const isNew = !existsSync(overlay);
  using db = openScratch(overlay);
  if (isNew) takeOver(db, live, moment);
  // Its tables are all there before the live mirror is attached: no statement that names no schema writes that one.
  const mirror = new Mirror(db, declaration, silentLog, null);
  for (const { name } of declaration.resources) {
    const columns = "(id INTEGER PRIMARY KEY, json INTEGER, made INTEGER)";
    db.exec(`CREATE TABLE IF NOT EXISTS ${quoted(changedTable(name))} ${columns}`);
  }
  attachLive(db, live);
  // Those that follow are parts of this transaction, which takes no lock to write the live mirror.
  db.exec("BEGIN");
  await step(mirror);
  db.exec("COMMIT");
}

function lastChange(db: Db): number {
  return db.prepare("SELECT coalesce(max(seq), 0) FROM live._change_log").pluck().get() as number;
}

/** Calls `step` for each record of table `_past` that was known, with its JSON: the `before` of the change `json`. */
async function eachPast(
  mirror: Mirror,
  signal: AbortSignal,
  step: (table: ResourceTable, record: PastRecord, slice: Buffer) => void,
): Promise<void> {
  const { db, declaration } = mirror;
  for (const { name, list } of declaration.resources)
    if (list.kind === "owned") putPresent(db, mirror.table(name).plan.table);
  const known = new Set(declaration.resources.map(({ name }) => name));
  const select = db.prepare(`SELECT p.rowid AS place, p.*, CAST(l.before AS BLOB) AS slice
    FROM temp._past p JOIN live._change_log l ON l.seq = p.json AND l.before IS NOT NULL
    WHERE p.rowid > ? ORDER BY p.rowid LIMIT ${recordsAtOnce}`);
  select.safeIntegers();
  type Found = PastRecord & { readonly place: bigint; readonly slice: Buffer };
  for (let found: Found[] = [], last: Found | undefined; ;) {
    found = select.all(last?.place ?? 0) as Found[];
    last = found.at(-1);
    if (!last) return;
    mirror.apply(() => {
      for (const record of found)
        if (known.has(record.resource)) step(mirror.table(record.resource), record, record.slice);
    });
    await yieldToLoop(signal, interrupted);
  }
}

/** The present rows of past records, whose owners are in no JSON: no change moves these. */
function putPresent(db: Db, table: string): void {
  const there = columnNames(db, table, "live");
  const names = [...columnNames(db, table)].filter((name) => there.has(name)).map(quoted);
  if (names.length === 0) return;
  db.exec(`INSERT OR IGNORE INTO main.${quoted(table)} (${names.join(", ")}) SELECT ${names.join(", ")}
    FROM live.${quoted(table)} WHERE id IN (SELECT id FROM temp._past WHERE resource = '${table}' AND json IS NOT NULL)`);
}

/** The mirror's own facts, without what it noted later: fields that were new then, runs, stored files. */
function takeOver(db: Db, live: string, moment: MirrorMoment | null): void {
  attachLive(db, live);
  const at = moment?.at ?? "9999-12-31T00:00:00.000Z";
  // Nobody knows who was listed first after the moment: until a run was complete, these count as not listed.
  const isWhole = "EXISTS (SELECT 1 FROM main._runs WHERE outcome = 'complete')";
  db.exec(`INSERT INTO main._meta SELECT * FROM live._meta WHERE key <> '${archivePositionKey}'`);
  for (const sql of [
    "INSERT INTO main._schema_changes SELECT * FROM live._schema_changes WHERE at <= @at",
    "INSERT INTO main._hand_overs SELECT * FROM live._hand_overs WHERE at <= @at",
    "INSERT INTO main.document_files SELECT * FROM live.document_files WHERE fetched_at <= @at",
    "INSERT INTO main._runs SELECT * FROM live._runs WHERE started_at <= @at",
    "UPDATE main._runs SET finished_at = NULL, outcome = NULL WHERE finished_at > @at",
    "UPDATE main._runs SET report = json_remove(report, '$.listed_at') WHERE report ->> 'listed_at' > @at",
    `UPDATE main._runs SET swept = (SELECT json_group_object(key, value) FROM json_each(swept) WHERE value <= @at)
      WHERE EXISTS (SELECT 1 FROM json_each(swept) WHERE value > @at)`,
    `INSERT INTO main._parents SELECT * FROM live._parents
      WHERE listed_at <= CAST(unixepoch(@at, 'subsec') * 1000 AS INTEGER) OR ${isWhole}`,
  ])
    db.prepare(sql).run({ at });
  const seq = moment?.seq ?? lastChange(db);
  db.exec(`CREATE TABLE ${overlayTable} (mirror TEXT NOT NULL, seq INTEGER NOT NULL, known INTEGER)`);
  db.prepare(`INSERT INTO ${overlayTable} VALUES (?, ?, ?)`).run(live, seq, moment && seq);
  db.exec("DETACH live");
}

/** Begins with `temp._next`: which change made each record that a change after this one found. */
function listNext(db: Db, after: number): void {
  db.exec(`DROP TABLE IF EXISTS temp._next; DROP TABLE IF EXISTS temp._past;
    CREATE TEMP TABLE _next (seq INTEGER PRIMARY KEY, made INTEGER);
    INSERT INTO temp._next SELECT next_seq, seq FROM live._change_log WHERE next_seq > ${after} ORDER BY next_seq`);
}

/**
 * Lists what changed after one that is known already. A change is the first since the moment where the change before it,
 * of which it is the next, is not later. By id, so that neighbours are written together.
 */
function listChanged(db: Db, { seq }: MirrorMoment, known: number): void {
  listNext(db, known);
  db.exec(`CREATE TEMP TABLE _past AS
    SELECT l.resource, l.record_id AS id, l.op,
      CASE WHEN l.op <> 'insert' THEN l.seq WHEN m.op = 'delete' THEN m.seq END AS json,
      m.seq AS made, r.at AS madeAt, iif(m.op = 'delete', NULL, r.cause) AS cause, NULL AS until
    FROM live._change_log l LEFT JOIN temp._next n ON n.seq = l.seq LEFT JOIN live._change_log m ON m.seq = n.made
      LEFT JOIN live._reads r ON r.id = m.read
    WHERE l.seq > ${known} AND l.op <> 'event' AND (m.seq IS NULL OR m.seq <= ${seq}) ORDER BY l.resource, l.record_id, l.seq`);
}

/** Which records the live mirror shows otherwise: those that were not there, and those with a row of then. */
function noteChanged({ db, declaration }: Mirror): void {
  const changed = new Set(db.prepare("SELECT DISTINCT resource FROM temp._past").pluck().all());
  for (const { name } of declaration.resources.filter((resource) => changed.has(resource.name))) {
    const ids = quoted(changedTable(name));
    db.exec(`INSERT OR IGNORE INTO ${ids} SELECT id, json, made FROM temp._past WHERE resource = '${name}'
        AND (json IS NULL OR id IN (SELECT id FROM main.${quoted(name)}))`);
  }
}

/**
 * Gives a record the rows of its JSON of then. Cells that the JSON does not name, the owner of an owned record, stay as they
 * are: no change moves them.
 */
function putPast(
  table: ResourceTable,
  { id: key, cause, madeAt }: PastRecord,
  slice: Buffer,
  stamp: ReadStamp,
  isGone = false,
): void {
  const source: Source = isPreview(table, cause, slice) ? "preview" : "detail";
  const then = madeAt === null ? stamp : { ...stamp, receivedAtMs: Date.parse(madeAt) };
  table.putPast({ id: canonicalId(key), slice, source, isGone }, then);
}

/** Lists give previews; rows that were derived again, and those whose change was removed, are known by what they lack. */
function isPreview({ resource, plan }: ResourceTable, cause: string | null, slice: Buffer): boolean {
  if (isShownWhole(resource, slice)) return false;
  const isDerived = cause === "schema" || cause === null;
  return (
    cause === "sweep" || (isDerived && plan.children.some(({ field }) => valueOf(slice, field) === null))
  );
}

/**
 * Makes an overlay that shows a mirror as it is, with a table of all versions of each table's rows: what the change log
 * knows, each with its period.
 *
 * Guarantee: only the overlay is written. Each version is there once; periods of a record do not overlap.
 * Source of truth: the change log. What was removed from it is one version, from the log's beginning on.
 * Worst outcome of a crash: an unfinished overlay, which nobody reads.
 *
 * @throws MirrorError `database`, `stopped`
 */
export async function overlayWithHistory(
  live: string,
  overlay: string,
  declaration: ConnectorDeclaration,
  { clock, signal }: OverlayOptions,
): Promise<void> {
  await writeOverlay(live, overlay, declaration, null, async (mirror) => {
    const { db } = mirror;
    // As of the commit that this transaction reads.
    db.exec(`UPDATE main.${overlayTable} SET seq = (SELECT coalesce(max(seq), 0) FROM live._change_log)`);
    const begin =
      "SELECT r.at FROM live._change_log l JOIN live._reads r ON r.id = l.read ORDER BY l.seq LIMIT 1";
    db.exec(`CREATE TEMP TABLE _begin AS SELECT (${begin}) AS at`);
    for (const { name } of declaration.resources) addPresent(db, mirror.table(name).plan);
    listPast(db);
    const stamp = stampWithoutRead("schema", clock);
    // The overlay's own row of a record is each of its versions in turn.
    await eachPast(mirror, signal, (table, version, slice) => {
      putPast(table, version, slice, stamp);
      addVersion(db, table.plan, version);
    });
  });
}

function versionedOf(plan: TablePlan) {
  const data = dataColumns(plan).map(({ name }) => name);
  const children = plan.children.map(({ table, parentKey: key, columns }) => {
    return { table, key, columns: [key, "position", ...columns.map(({ name }) => name)] };
  });
  return [{ table: plan.table, key: "id", columns: ["id", ...data] }, ...children];
}

const own = historyColumns.map(({ name }) => name).join(", ");

function addPresent(db: Db, plan: TablePlan): void {
  for (const { table, key, columns } of versionedOf(plan)) {
    const there = columnNames(db, table, "live");
    const schema = there.size > 0 ? "live" : "main";
    const shown = columns.map((column) =>
      schema === "main" || there.has(column.toLowerCase())
        ? `t.${quoted(column)}`
        : `NULL AS ${quoted(column)}`,
    );
    const version = `coalesce(l.op, 'insert') AS _op, coalesce(r.at, (SELECT at FROM temp._begin)) AS valid_from, NULL AS valid_to`;
    db.exec(`CREATE TABLE main.${quoted(historyTable(table))} AS SELECT ${version}, ${shown.join(", ")}
      FROM ${schema}.${quoted(table)} t
      JOIN ${schema}.${quoted(`_fence_${plan.table}`)} f ON f.id = t.${quoted(key)} AND f.gone = 0
      LEFT JOIN live._change_log l ON l.seq = f.last_change LEFT JOIN live._reads r ON r.id = l.read`);
  }
}

/** Each change ends the version that it keeps; a deletion is a version of its own, with the last values. */
function listPast(db: Db): void {
  listNext(db, 0);
  db.exec(`CREATE TEMP TABLE _past AS
    SELECT c.resource, c.record_id AS id, c.seq AS json, m.seq AS made, r.cause AS cause, coalesce(m.op, 'insert') AS op,
      coalesce(r.at, (SELECT at FROM temp._begin)) AS madeAt, e.at AS until
    FROM live._change_log c JOIN live._reads e ON e.id = c.read
      LEFT JOIN temp._next p ON p.seq = c.seq LEFT JOIN live._change_log m ON m.seq = p.made
      LEFT JOIN live._reads r ON r.id = m.read
    WHERE c.op IN ('update', 'delete') AND c.before IS NOT NULL
    UNION ALL
    SELECT c.resource, c.record_id, c.seq, c.seq, NULL, 'delete', r.at, e.at
    FROM live._change_log c JOIN live._reads r ON r.id = c.read
      LEFT JOIN live._change_log n ON n.seq = c.next_seq LEFT JOIN live._reads e ON e.id = n.read
    WHERE c.op = 'delete' AND c.before IS NOT NULL`);
}

function addVersion(db: Db, plan: TablePlan, { id, op, madeAt, until }: PastRecord): void {
  for (const { table, key, columns } of versionedOf(plan)) {
    const names = columns.map(quoted).join(", ");
    const sql = `INSERT INTO ${quoted(historyTable(table))} (${own}, ${names})
      SELECT ?, ?, ?, ${names} FROM ${quoted(table)} WHERE ${quoted(key)} = ?`;
    db.prepare(sql).run(op, madeAt, until, canonicalId(id));
  }
}
