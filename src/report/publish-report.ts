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

interface PublishParts {
  readonly declaration: ConnectorDeclaration;
  readonly clock: Clock;
  readonly company: string;
  readonly mirror: string;
  readonly report: string;
  /** Of the report's file; null: as the last one. @default null */
  readonly mode?: number | null;
  /** IANA time zone of the report's date. */
  readonly timezone: string;
  /** Columns whose values the report does not have. @default [] */
  readonly redact?: SnapshotOptions["redact"];
  readonly version: string;
  readonly signal: AbortSignal;
  /** Publish anew even if nothing changed. */
  readonly force?: boolean;
  /** By default the faster one. */
  readonly way?: PublishWay;
  /** The mirror is an overlay as of this moment. @default it is of now */
  readonly moment?: MirrorMoment | null;
  readonly onStep?: ReportDraft["onStep"];
}

/**
 * Publishes the report from one consistent read of the mirror, beside a running writer; see `publishFile`.
 *
 * @throws MirrorError `locked`, `stopped` or `database`
 */
export async function publishReport(parts: PublishParts) {
  const { report, mode = null } = parts;
  assertThere(parts.mirror, `there is no mirror of ${parts.company} to publish`);
  let next: Awaited<ReturnType<typeof writeNext>> | undefined;
  const file = await publishFile(report, mode, async (isThere) => {
    next = await writeNext(parts, isThere ? readLastReport(report) : null);
    return next.way !== null;
  });
  assert(next, "a publish ends with what was written");
  const { way, completeness, origin } = next;
  return { ...file, way, completeness, seq: Number(origin.seq), reportDate: origin.report_date };
}

/** Writes the next report from one consistent read, unless it would equal the last one: `way` is null then. */
async function writeNext(parts: PublishParts, last: LastReport | null) {
  const { declaration, mirror, report, signal, onStep = () => undefined } = parts;
  using db = openDatabase(":memory:");
  const options = snapshotOptions(parts);
  const snapshot = guarded(mirror, () => readMirror(db, mirror, declaration, options));
  const { completeness, seq } = snapshot;
  const layout = layoutOf(declaration, snapshot.tables);
  const origin = originOf(snapshot, layout.hash);
  if (last && !parts.force && sameOrigin(last.origin, origin)) return { way: null, origin, completeness };
  const draft = { db, layout, signal, onStep };
  const base = last && isUpdatable(db, last.origin, origin) ? last : null;
  const way = base ? (parts.way ?? fasterWay(parts, base.rows, seq - Number(base.origin.seq))) : "anew";
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

function snapshotOptions(parts: PublishParts): SnapshotOptions {
  const { company, timezone, version, declaration, redact = [], moment = null } = parts;
  const nowMs = parts.clock.nowMs();
  const asOf = moment && { as_of: `${moment.log}:${moment.seq} ${moment.at}`, as_of_means: asKnownThen };
  const made = { company, published_at: isoTime(nowMs), timezone, connector: declaration.name, version };
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
function fasterWay({ force }: PublishParts, rows: number, changes: number): PublishWay {
  return !force && rows >= 20_000 && changes * 20 <= rows ? "changes" : "anew";
}
