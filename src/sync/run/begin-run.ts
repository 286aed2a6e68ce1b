import { isoTime } from "../../base/clock.ts";
import type { Resource } from "../../connector/resource.ts";
import type { ServiceAnswer } from "../../connector/transport.ts";
import { connectorKey, shardKey, rememberIdentity, type Meta } from "../../state/meta.ts";
import { Runs, type RunRow } from "../../state/runs.ts";
import { applySingle } from "../lists/list-answer.ts";
import { createRunContext, stampOf } from "../context/run-context.ts";
import type { RunContext, RunParts, WholeListSettings } from "../context/run-context.ts";
import { isWholeRun, modeOf, type RunSummary } from "../context/run-summary.ts";
import { routeProofs, runRemovals } from "../deletion/deletion.ts";
import type { Identified } from "../identity/identify.ts";
import { addQuickWork } from "../plan/quick-reads.ts";
import { addInitialWork } from "../plan/initial-work.ts";
import type { ParentsPerRun, ScrubQuestion } from "../plan/scrub.ts";
import type { WorkOptions } from "../engine/engine.ts";
import type { LaneShare } from "../../state/lease-order.ts";

export interface ScrubOptions extends Pick<ScrubQuestion, "settings" | "windowMs" | "isCovered"> {
  /** Requests in a window, as the service grants them now. */
  readonly limit: () => number;
  /** Ends the scrub alone: another run waits that has a scrub of its own. */
  readonly closed: AbortSignal;
}

export interface AskedRun {
  readonly resources: readonly Resource[];
  readonly full: boolean;
  /** Reads a few lists that show what changed lately, and proves nothing. @default false */
  readonly quick?: boolean;
  /** Continues the run before also where that was whole: lists are read again when they are due. @default false */
  readonly continues?: boolean;
  readonly allowMassDelete: boolean;
  readonly acceptIdentity: boolean;
  /** Of which shard of the companies it is one, as `2/3`; null: of all. @default null */
  readonly shard?: string | null;
  readonly closed: AbortSignal;
}

/**
 * Called when what lists show is in: before the scrub, which waits for it; and when many details are still to be read,
 * with which the run goes on meanwhile. Never rejects.
 */
export type OnListed = (summary: RunSummary, isBeforeScrub: boolean) => Promise<void>;

export interface RunOptions extends AskedRun, WorkOptions {
  /** Those of the config. @default none beside `resources` */
  readonly mirrored?: readonly Resource[];
  readonly parentsPerRun: ParentsPerRun;
  /** @default every run reads them */
  readonly wholeLists?: WholeListSettings;
  /** null: nothing is read again beyond what lists show. A full run needs none. */
  readonly scrub: ScrubOptions | null;
  readonly onListed?: OnListed;
  /** How long the run waits for a service that is away: from the first failure to the next success. */
  readonly patienceMs: number;
  /** `others` where an event worker takes the lane of events, else `all`. */
  readonly share: LaneShare;
}

/** Writes the run's row, the company's record and the initial work in one transaction. */
export function beginRun(parts: RunParts, options: RunOptions, identified: Identified, startedAtMs: number) {
  const { mirror, queue, clock } = parts;
  const { resources, full, quick = false, allowMassDelete, signal } = options;
  const runs = new Runs(mirror.db);
  // What another company showed is read anew.
  const unfinished = quick || options.acceptIdentity ? null : unfinishedRun(runs, options);
  return mirror.apply(() => {
    const swept = unfinished?.swept ?? {};
    const runId = runs.begin(modeOf(options), isoTime(startedAtMs), unfinished?.id ?? null, swept);
    const first = runs.firstOfChain(runId);
    const run = createRunContext(parts, {
      resources,
      mirrored: options.mirrored ?? [],
      provenRoutes: routeProofs(queue, clock),
      signal,
      removals: runRemovals(),
      runId,
      startedAtMs,
      share: quick ? "quick" : options.share,
      full,
      allowMassDelete,
      chainStartedMs: Date.parse(first.startedAt),
      firstSeq: unfinished ? null : mirror.sequence.next(),
      parentReads: parentReads(options, first.id),
      // Another company's changes say nothing of what the mirror lacks of it.
      wholeLists: options.acceptIdentity ? null : (options.wholeLists ?? null),
    });
    mirror.meta.note(shardKey, options.shard ?? null);
    mirror.meta.note(connectorKey, mirror.declaration.name);
    mirror.meta.note(failedStartKey, null);
    if (identified.changed) rememberIdentity(mirror, identified.identity);
    applyCompany(run, identified.answer);
    if (quick) addQuickWork(run);
    else addInitialWork(run, unfinished);
    return { run, resumed: unfinished !== null };
  });
}

/**
 * The last run, if it was killed, stopped or cut off before everything listed was in, or is to be continued all the
 * same; this run does not repeat what it read. A full run continues only a full one: what another read is not all
 * that it has to read.
 */
export function unfinishedRun(
  runs: Runs,
  { full, continues = false }: Pick<RunOptions, "full" | "continues">,
): RunRow | null {
  const last = runs.last();
  if (last === null || (full && last.mode !== "full")) return null;
  const report = last.report as Partial<RunSummary>;
  return isWholeRun({ ...report, outcome: last.outcome }) && !continues ? null : last;
}

/** Where every run reads parents' lists, one that continues others leaves out those that the others read. */
function parentReads({ full, quick, parentsPerRun }: RunOptions, firstRun: number) {
  if (quick) return { beforeRun: 0, left: 0 };
  const isSome = !full && typeof parentsPerRun === "number";
  const left = isSome ? parentsPerRun : Number.MAX_SAFE_INTEGER;
  return { beforeRun: full || parentsPerRun !== "auto" ? firstRun : 0, left };
}

/** The answer that identified the company is also its record. */
function applyCompany(run: RunContext, { requestId, body }: ServiceAnswer): void {
  const { sequence, declaration } = run.mirror;
  const company = run.selected.get(declaration.identity.resource);
  if (!company) return;
  const stamp = stampOf(run, { cause: "sweep", sentSeq: sequence.next(), requestId });
  applySingle({ run, stamp: { ...stamp, receivedAtMs: run.startedAtMs } }, company.name, body);
}

/** Where the last run is stored in `_meta` that failed before it could write its row; null: another one began since. */
const failedStartKey = "failed_start";

/** A run that failed before it began to write: the service refused the token, or was away. */
type FailedStart = Readonly<Record<"outcome" | "at" | "message", string>>;

/** Notes such a run, inside a transaction. */
export function noteFailedStart(meta: Meta, { outcome, finished_at: at, error }: RunSummary): void {
  meta.set(failedStartKey, { outcome, at, message: error?.message ?? "" } satisfies FailedStart);
}

/** The last such run; null: another one began since, or there was none. */
export function lastFailedStart(meta: Meta): FailedStart | null {
  return meta.get(failedStartKey) as FailedStart | null;
}
