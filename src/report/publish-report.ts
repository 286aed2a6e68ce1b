import { isoTime, localDate, type Clock } from "../base/clock.ts";
import { assert, valueOr } from "../base/errors.ts";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import { showSnapshot, type SnapshotOptions } from "../state/mirror-snapshot.ts";
import type { MirrorMoment } from "../state/as-of/moment.ts";
import { assertThere, guarded, openDatabase, readDatabase, sizeOfFiles, type Db } from "../store/database.ts";
import { attachBelow } from "../store/snapshot/overlay.ts";
import { documentFiles } from "../store/snapshot/snapshot-tables.ts";
import { quoted } from "../store/sql-text.ts";
import { buildReport, pause, redeclareTables, updateReport, type ReportDraft } from "./build-report.ts";
import {
  assertSoundReport,
  attachReport,
  copyReport,
  incompleteTables,
  nextOf,
  pageSizeFor,
  publishFile,
} from "./report-file.ts";
import { layoutOf, type UndeclaredKeys } from "./report-layout.ts";

/** `anew`: from the mirror alone; `changes`: a copy of the last report, with what changed since. */
export type PublishWay = "anew" | "changes";

/** What a report says of itself in `_about`, and what it does not show. */
interface ReportAbout {
  readonly company: string;
  /** IANA time zone of the report's date. */
  readonly timezone: string;
  readonly version: string;
  readonly clock: Clock;
  /** Columns whose values the report does not have. @default [] */
  readonly redact?: SnapshotOptions["redact"];
  /** The mirror is an overlay as of this moment. @default it is of now */
  readonly moment?: MirrorMoment | null;
}

interface PublishOptions extends Pick<ReportDraft, "signal">, Partial<Pick<ReportDraft, "onStep">> {
  /** Of the report's file; null: as the last one. @default null */
  readonly mode?: number | null;
  /** Publish anew even if nothing changed. @default false */
  readonly force?: boolean;
  /** @default the faster one */
  readonly way?: PublishWay;
}

/**
 * Publishes the report from one consistent read of the mirror, beside a running writer; see `publishFile`.
 *
 * @throws MirrorError `locked`, `stopped` or `database`
 */
export async function publishReport(
  mirror: string,
  report: string,
  declaration: ConnectorDeclaration,
  about: ReportAbout,
  options: PublishOptions,
) {
  assertThere(mirror, `there is no mirror of ${about.company} to publish`);
  const shown = snapshotOptions(declaration, about);
  let next: Awaited<ReturnType<typeof writeNext>> | undefined;
  const file = await publishFile(report, options.mode ?? null, async (isAsPublished) => {
    const last = isAsPublished ? readLastReport(report) : null;
    next = await writeNext(mirror, report, declaration, shown, last, options);
    return next.way !== null;
  });
  assert(next, "a publish ends with what was written");
  const { way, completeness, origin } = next;
  return { ...file, way, completeness, seq: Number(origin.seq), reportDate: origin.report_date };
}

/** Writes the next report from one consistent read, unless it would equal the last one: `way` is null then. */
async function writeNext(
  mirror: string,
  report: string,
  declaration: ConnectorDeclaration,
  shown: SnapshotOptions,
  last: LastReport | null,
  { force = false, way: wanted, signal, onStep = () => undefined }: PublishOptions,
) {
  using db = openDatabase(":memory:");
  const snapshot = guarded(mirror, () => readMirror(db, mirror, declaration, shown));
  const { completeness, seq } = snapshot;
  const layout = layoutOf(declaration, snapshot.tables);
  const origin = originIn(db, { layout: layout.hash, last_change: changeAt(db, seq) });
  if (last && !force && sameOrigin(last.origin, origin)) return { way: null, origin, completeness };
  const draft = { db, layout, signal, onStep };
  const base = last && isUpdatable(db, last.origin, origin) ? last : null;
  const way = base ? (wanted ?? fasterWay(force, base.rows, seq - Number(base.origin.seq))) : "anew";
  if (way === "changes") copyReport(report);
  attachReport(db, nextOf(report), pageSizeFor(sizeOfFiles(db)));
  if (base && way === "changes") await updateReport(draft, Number(base.origin.seq));
  else await buildReport(draft, last?.undeclared ?? new Map());
  writeFacts(draft, origin, await redeclareTables(draft));
  await pause(draft);
  db.pragma("analysis_limit = 1000");
  db.exec("ANALYZE report");
  db.exec("COMMIT");
  await pause(draft);
  assertSoundReport(db);
  return { way, origin, completeness };
}

const asKnownThen = "The books as the mirror knew them at this position and time, by its change log.";

function snapshotOptions(
  { name: connector }: ConnectorDeclaration,
  { company, timezone, version, clock, redact = [], moment = null }: ReportAbout,
): SnapshotOptions {
  const nowMs = clock.nowMs();
  const asOf = moment && { as_of: `${moment.log}:${moment.seq} ${moment.at}`, as_of_means: asKnownThen };
  const made = { company, published_at: isoTime(nowMs), timezone, connector, version };
  const reportDate = localDate(moment ? Date.parse(moment.at) : nowMs, timezone);
  return { reportDate, facts: { ...made, ...asOf }, redact };
}

/** Attaches the `mirror` and begins the transaction that reads it. */
function readMirror(db: Db, mirror: string, declaration: ConnectorDeclaration, options: SnapshotOptions) {
  db.prepare("ATTACH ? AS mirror").run(mirror);
  db.pragma("mirror.synchronous = FULL");
  attachBelow(db, "mirror");
  db.pragma("mirror.cache_size = -2000");
  // The empty main database's cache is what an index is sorted in. Runs that fit the processor's cache, merged
  // afterwards, take half the time of one sort.
  db.pragma("main.cache_size = -2000");
  db.exec("BEGIN");
  return showSnapshot(db, "mirror", declaration, options);
}

/** Whether the last report is of this mirror, and stored as the next one will be. */
function isUpdatable(db: Db, last: ReportOrigin, { seq, layout }: ReportOrigin): boolean {
  const lastSeq = Number(last.seq);
  return lastSeq <= Number(seq) && changeAt(db, lastSeq) === last.last_change && last.layout === layout;
}

/** Measured: an update takes half as long with one row in twenty changed, and as long with one in ten. */
function fasterWay(force: boolean, rows: number, changes: number): PublishWay {
  return !force && rows >= 20_000 && changes * 20 <= rows ? "changes" : "anew";
}

const originFacts = ["log", "seq", "last_change", "layout", "report_date", "incomplete", "files"] as const;

/**
 * What a report was made from; two reports of equal origin have equal content. `last_change` is the change of `seq`: another
 * mirror with as many changes has a different one. `layout` is a hash, `incomplete` names tables, and `files` is the last
 * line of the manifest of stored files.
 */
type ReportOrigin = Readonly<Record<(typeof originFacts)[number], string>>;

type LastReport = NonNullable<ReturnType<typeof readLastReport>>;

/** The facts of an existing report, with the rows of all its tables; null if it cannot be read. */
function readLastReport(report: string) {
  return valueOr(() => readDatabase(report, readFacts), null);
}

function readFacts(db: Db) {
  const open = db.prepare("SELECT subject, value FROM _about WHERE fact = 'undeclared_keys'").raw().all();
  const rows = db.prepare("SELECT sum(value) FROM _about WHERE fact = 'rows'").pluck().get();
  const keys = (open as [string, string][]).map(([table, names]) => [table, names.split(" ")] as const);
  const undeclared: UndeclaredKeys = new Map(keys);
  return { origin: originIn(db), rows: Number(rows), undeclared };
}

/** By `_about` of a snapshot, which lacks what is `known`, or of a report. */
function originIn(db: Db, known: Partial<ReportOrigin> = {}): ReportOrigin {
  const facts = db.prepare("SELECT fact, value FROM _about WHERE subject = 'report'").raw().all();
  const said = { ...(Object.fromEntries(facts as [string, string][]) as Partial<ReportOrigin>), ...known };
  const head = `SELECT value FROM _about WHERE subject = '${documentFiles.name}' AND fact = 'manifest_head'`;
  const files = (db.prepare(head).pluck().get() as string | undefined) ?? "";
  const origin = { ...said, incomplete: incompleteTables(db).join(" "), files };
  return Object.fromEntries(originFacts.map((fact) => [fact, origin[fact] ?? ""])) as ReportOrigin;
}

/** The change of this seq as text; empty if there is none. Unique by its time in milliseconds. */
function changeAt(db: Db, seq: number): string {
  const sql = `SELECT l.resource || ' ' || l.record_id || ' ' || l.op || ' ' || r.at
    FROM _change_log l JOIN _reads r ON r.id = l.read WHERE l.seq = ?`;
  return (db.prepare(sql).pluck().get(seq) as string | undefined) ?? "";
}

/** Whether a report of `a` need not be replaced by one of `b`. */
function sameOrigin(a: ReportOrigin, b: ReportOrigin): boolean {
  return originFacts.every((fact) => a[fact] === b[fact]);
}

/** Fills the report's `_about`: the snapshot's facts, the origin, and for each table rows and undeclared keys. */
function writeFacts({ db, layout }: ReportDraft, origin: ReportOrigin, undeclared: UndeclaredKeys) {
  db.exec("DELETE FROM report._about");
  db.exec("INSERT INTO report._about SELECT subject, fact, value FROM temp._about");
  const insert = db.prepare("INSERT INTO report._about VALUES (?, ?, ?)");
  insert.run("report", "layout", origin.layout);
  insert.run("report", "last_change", origin.last_change);
  for (const { name } of layout.tables.filter(({ kind }) => kind !== "about")) {
    const counting = db.prepare(`SELECT count(*) FROM report.${quoted(name)}`).pluck();
    insert.run(name, "rows", String(counting.get()));
    const keys = undeclared.get(name) ?? [];
    if (keys.length > 0) insert.run(name, "undeclared_keys", keys.join(" "));
  }
}
