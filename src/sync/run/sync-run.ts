import { isoTime } from "../../base/clock.ts";
import { resourceNamed } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import { Runs, type RunRow } from "../../state/runs.ts";
import type { LaneShare } from "../../state/work-queue.ts";
import { databaseError } from "../../store/database.ts";
import { applySingle } from "../apply/list-answer.ts";
import { createRunContext, type RunContext, type WorkerParts } from "../context/run-context.ts";
import type { CompanyReport, Outcome, RunError } from "../context/run-report.ts";
import { runRemovals } from "../deletion/mass-delete-guard.ts";
import { runRouteProofs } from "../deletion/route-probe.ts";
import { Engine, stopSignal } from "../engine/engine.ts";
import { identify, learnBusinessId, rememberIdentity, type Identified } from "../identity/identify.ts";
import { addInitialWork } from "../plan/initial-work.ts";
import type { Unfinished } from "../plan/sweep-plan.ts";
import { BatchRetryPolicy } from "../retry/retry-policy.ts";
import { finishRun, outcomeOfError, outcomeOfWork, errorOf, type RunNotices } from "./run-outcome.ts";

/** The parts of one company's run. */
export interface RunParts extends WorkerParts {
  /** Returns how many answers were 429 so far. */
  readonly rateLimited: () => number;
  readonly notices: RunNotices;
}

/** What the user, or the daemon, asks of a run. */
export interface RunOptions {
  readonly resources: readonly Resource[];
  readonly full: boolean;
  readonly allowMassDelete: boolean;
  readonly acceptIdentity: boolean;
  /** Parents' lists per run; null: all of them in every run. */
  readonly parentsPerRun: number | null;
  /** Details that the scrub may read again in this run. */
  readonly scrubAllowance: number;
  readonly concurrency: number;
  /** `others` where an event worker takes the lane of events, else `all`. */
  readonly lanes: LaneShare;
  /** Interrupts the run: aborts waiting and requests in flight. */
  readonly signal: AbortSignal;
  /** The run's time is over: requests in flight may finish within `graceMs`. */
  readonly closed: AbortSignal;
  readonly graceMs: number;
}

/**
 * Runs one sync of one company: verifies the token's company (I10), queues the initial work, works until the queue
 * is empty or a limit ends it, and reports.
 *
 * @throws only what the report cannot say: bugs
 */
export async function runSync(parts: RunParts, options: RunOptions): Promise<CompanyReport> {
  const { mirror, transport, clock } = parts;
  const { concurrency, acceptIdentity, closed, graceMs } = options;
  const startedAtMs = clock.nowMs();
  const signal = stopSignal(options.signal, closed, graceMs);
  let run: RunContext | null = null;
  let resumed = false;
  const finish = (outcome: Outcome, error?: RunError) =>
    finishRun(parts, run, { outcome, startedAtMs, resumed, ...(error && { error }) });
  try {
    const identified = await identify(parts, { acceptIdentity, lane: "list", repeatable: true, signal });
    ({ run, resumed } = beginRun(parts, options, identified, startedAtMs));
    const policy = new BatchRetryPolicy(run);
    const ended = await new Engine(run, { transport, concurrency, policy, signal, closed }).work();
    learnBusinessId(mirror);
    if (options.signal.aborted) return finish("interrupted");
    return finish(ended === "drained" ? "stopped" : outcomeOfWork(run, resumed));
  } catch (thrown) {
    const error = databaseError(mirror.db.name, thrown);
    if (options.signal.aborted) return finish("interrupted", errorOf(error));
    const outcome = closed.aborted ? "stopped" : outcomeOfError(error);
    if (outcome === null) throw error;
    return finish(outcome, errorOf(error));
  }
}

/** Writes the run's row, the company's record and the initial work in one transaction. */
function beginRun(
  parts: RunParts,
  options: RunOptions,
  identified: Identified,
  startedAtMs: number,
): { run: RunContext; resumed: boolean } {
  const { mirror } = parts;
  const runs = new Runs(mirror.db);
  const last = runs.latest(1)[0];
  const unfinished = last ? unfinishedOf(last) : null;
  return mirror.apply(() => {
    const mode = options.full ? "full" : "incremental";
    const swept = unfinished ? (last?.swept ?? {}) : {};
    const runId = runs.begin(mode, isoTime(startedAtMs), unfinished?.run ?? null, swept);
    const run = contextOf(parts, options, runId, startedAtMs);
    if (identified.changed) rememberIdentity(mirror, identified.identity);
    applyCompany(run, identified);
    addInitialWork(run, unfinished, options.scrubAllowance);
    return { run, resumed: unfinished !== null };
  });
}

function contextOf(parts: RunParts, options: RunOptions, runId: number, startedAtMs: number): RunContext {
  const { queue, clock, tally } = parts;
  const { resources, full, allowMassDelete, parentsPerRun, lanes } = options;
  tally.begin(resources.map(({ name }) => name));
  return createRunContext(parts, resources, {
    runId,
    startedAtMs,
    share: lanes,
    full,
    allowMassDelete,
    parentBudget: parentsPerRun === null || full ? null : { left: parentsPerRun },
    provenRoutes: runRouteProofs(queue, clock),
    removals: runRemovals(),
  });
}

/** The answer that identified the company is also its record. */
function applyCompany(run: RunContext, { answer }: Identified): void {
  const { sequence, manifest } = run.mirror;
  const resource = resourceNamed(manifest, manifest.identity.resource);
  if (!run.selected.has(resource.name)) return;
  const stamp = {
    cause: "sweep",
    sentSeq: sequence.next(),
    receivedSeq: sequence.next(),
    receivedAtMs: run.startedAtMs,
    requestId: answer.requestId,
    run: run.runId,
  } as const;
  applySingle({ run, stamp }, resource, answer.body);
}

/** A run that was killed, stopped or cut off; this run continues its sweeps. */
function unfinishedOf(last: RunRow): Unfinished | null {
  if (last.outcome === "complete" || last.outcome === "partial") return null;
  const sweptAtMs = Object.fromEntries(Object.entries(last.swept).map(([key, at]) => [key, Date.parse(at)]));
  return { run: last.id, startedAtMs: Date.parse(last.startedAt), sweptAtMs };
}
