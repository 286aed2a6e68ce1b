import { isoTime, localDate, type Clock } from "../base/clock.ts";
import { assert } from "../base/errors.ts";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import { showSnapshot, type SnapshotOptions } from "../state/mirror-snapshot.ts";
import type { MirrorMoment } from "../state/as-of/moment.ts";
import { assertThere, guarded, openDatabase, sizeOfFiles, type Db } from "../store/database.ts";
import { attachBelow } from "../store/snapshot/overlay.ts";
import { buildReport, pause, redeclareTables, updateReport, type ReportDraft } from "./build-report.ts";
import { changeAt, originOf, readLastReport, sameOrigin, writeFacts } from "./report-facts.ts";
import type { LastReport, ReportOrigin } from "./report-facts.ts";
import {
  assertSoundReport,
  attachReport,
  copyReport,
  nextOf,
  pageSizeFor,
  publishFile,
} from "./report-file.ts";
import { layoutOf } from "./report-layout.ts";

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
  const file = await publishFile(report, options.mode ?? null, async (isThere) => {
    const last = isThere ? readLastReport(report) : null;
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
  const origin = originOf(snapshot, layout.hash);
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
  return {
    reportDate: localDate(moment ? Date.parse(moment.at) : nowMs, timezone),
    facts: { ...made, ...asOf },
    redact,
  };
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
