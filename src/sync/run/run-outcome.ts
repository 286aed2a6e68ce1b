import { isoTime } from "../../base/clock.ts";
import { hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import type { Meta } from "../../state/meta.ts";
import { nameOfTarget } from "../../state/work-item.ts";
import { retryInTurn } from "../../store/transient-errors.ts";
import { requestIdOf } from "../apply/handle-failure.ts";
import { releaseWithoutId } from "../apply/records-without-id.ts";
import { requireRunId, type RunContext, type RunParts } from "../context/run-context.ts";
import type { CompanyReport, Outcome, RunError } from "../context/run-report.ts";
import type { ScrubPhase } from "./scrub-phase.ts";

/** How a run whose work ended by itself ended; adds what is left behind to its troubles. */
export function outcomeOfWork(run: RunContext, resumed: boolean): Outcome {
  run.mirror.apply(() => releaseWithoutId(run, resumed));
  noteKept(run);
  return run.tally.allTroubles().length > 0 ? "partial" : "complete";
}

/** Quarantined records and dead letters are reported, also those of earlier runs. */
function noteKept({ mirror, queue, selected, tally }: RunContext): void {
  for (const { resource, recordId, reason } of mirror.quarantine.all()) {
    if (!selected.has(resource)) continue;
    const message = `record ${recordId ?? "without an id"} is in quarantine: ${reason}`;
    tally.trouble({ resource, kind: "quarantined", message });
  }
  const known = new Set(tally.allTroubles().map((one) => `${one.resource} ${one.id}`));
  for (const { resource, target, id, reason } of queue.deadLetters()) {
    if (!selected.has(resource) || known.has(`${resource} ${id}`)) continue;
    tally.trouble({ resource, kind: "dead", id, message: `${nameOfTarget(target)} is set aside: ${reason}` });
  }
}

/** How a run ended that this error cut off; null for a bug, which the caller throws on. */
export function outcomeOfError(error: unknown): Outcome | null {
  if (!(error instanceof MirrorError)) return null;
  const { kind } = error;
  if (kind === "unauthenticated" || kind === "identity" || kind === "database") return kind;
  return kind === "stopped" ? "stopped" : "failed";
}

/** The error as the report shows it. */
export function errorOf(error: unknown): RunError {
  const requestId = requestIdOf(error);
  return {
    kind: error instanceof MirrorError ? error.kind : "runtime",
    message: messageOf(error),
    ...hintOf(error),
    ...(requestId === null ? {} : { request_id: requestId }),
  };
}

/** Where the last run is stored in `_meta` that failed before it could write its row. */
const failedStartKey = "failed_start";

/** A run that failed before it began to write: the service refused the token, or was away. */
export interface FailedStart {
  readonly outcome: string;
  /** When it ended, ISO. */
  readonly at: string;
  readonly message: string;
}

/** The last such run; null: a run that began to write ended since, or there was none. */
export function lastFailedStart(meta: Meta, lastStartedAt: string | null): FailedStart | null {
  const failure = meta.get(failedStartKey) as FailedStart | null;
  return failure && failure.at > (lastStartedAt ?? "") ? failure : null;
}

/** How far a run has come. */
export interface RunState {
  readonly startedAtMs: number;
  /** null: it has not begun to write. */
  run: RunContext | null;
  resumed: boolean;
  /** ISO; null: not everything listed is in. */
  listedAt: string | null;
  scrub: ScrubPhase | null;
}

/** How a run ended. */
type Ending = Pick<CompanyReport, "outcome" | "error">;

/** Ends the scrub, builds the report and stores it in the run's row, whatever signal ended the run. */
export async function finishRun(parts: RunParts, state: RunState, ending: Ending): Promise<CompanyReport> {
  const { run, scrub } = state;
  const { mirror } = parts;
  const wait = { ...parts, signal: new AbortController().signal };
  const canWrite = ending.outcome !== "database";
  const scrubbed = canWrite && scrub ? await retryInTurn(mirror.db, () => scrub.end(), wait) : null;
  const report = reportOf(parts, state, { ...ending, scrub: scrubbed });
  const { finished_at: finishedAt, outcome, error } = report;
  const store = () => mirror.apply(() => run?.runs.finish(requireRunId(run), finishedAt, outcome, report));
  const note = () => {
    const failure: FailedStart = { outcome, at: finishedAt, message: error?.message ?? "" };
    mirror.apply(() => mirror.meta.set(failedStartKey, failure));
  };
  // A mirror of another company is not touched (I10).
  const isNoted = outcome === "failed" || outcome === "unauthenticated";
  if (canWrite && (run || isNoted)) await retryInTurn(mirror.db, run ? store : note, wait);
  return report;
}

/** The report of a run as it stands. */
export function reportOf(
  parts: RunParts,
  { run, startedAtMs, resumed, listedAt }: RunState,
  { outcome, error, scrub }: Ending & Pick<CompanyReport, "scrub">,
): CompanyReport {
  const { tally, clock, notices } = parts;
  if (run) noteLeft(run, outcome);
  tally.requests.rate_limited = parts.rateLimited();
  return {
    outcome,
    started_at: isoTime(startedAtMs),
    finished_at: isoTime(clock.nowMs()),
    listed_at: listedAt,
    resumed,
    requests: { ...tally.requests },
    resources: Object.fromEntries(tally.resources),
    scrub,
    swept: run ? run.runs.sweptIn(requireRunId(run)) : {},
    troubles: tally.allTroubles(),
    new_columns: notices.newColumns,
    missing_fields: [...notices.missingFields].toSorted(),
    unkept_fields: [...notices.unkeptFields].toSorted(),
    uncompared_fields: outcome === "database" ? [] : parts.mirror.differences.all(),
    ...(error ? { error } : {}),
  };
}

/** Counts what is left to read. A failing database may not show it; that must not hide why it failed. */
function noteLeft({ selected, tally, queue, mirror }: RunContext, outcome: Outcome): void {
  for (const name of selected.keys()) tally.of(name).pending = 0;
  try {
    for (const { resource, count } of queue.counts()) {
      if (selected.has(resource)) tally.of(resource).pending += count;
    }
    for (const name of selected.keys()) tally.of(name).provisional = mirror.records.counts(name).provisional;
  } catch (error) {
    if (outcome !== "database") throw error;
  }
}
