import { isoTime, type Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { resourceNamed } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Transport } from "../../connector/transport.ts";
import { Runs, type RunRow } from "../../state/runs.ts";
import { WorkQueue, type LaneShare } from "../../state/work-queue.ts";
import type { Mirror } from "../../state/mirror.ts";
import { databaseError } from "../../store/database.ts";
import { applySingle } from "../apply/list-answer.ts";
import { createRunContext, type RunContext } from "../context/run-context.ts";
import type { CompanyReport, Outcome } from "../context/run-report.ts";
import type { Tally } from "../context/tally.ts";
import { runRemovals } from "../deletion/mass-delete-guard.ts";
import { runRouteProofs } from "../deletion/route-probe.ts";
import { Engine, stopSignal } from "../engine/engine.ts";
import { identify, learnBusinessId, rememberIdentity, type Identified } from "../identity/identify.ts";
import { addInitialWork } from "../plan/initial-work.ts";
import type { Unfinished } from "../plan/sweep-plan.ts";
import { BatchRetryPolicy } from "../retry/retry-policy.ts";
import { finishRun, outcomeOfError, outcomeOfWork, errorOf, type RunNotices } from "./run-outcome.ts";

/** The parts one company's run is built from. */
export interface RunParts {
  readonly mirror: Mirror;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly token: string;
  readonly tally: Tally;
  /** Returns how many answers were 429 so far. */
  readonly rateLimited: () => number;
  readonly notices: RunNotices;
  /** Shared with the event worker of the same process, because leases are kept in it. @default a new one */
  readonly queue?: WorkQueue;
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
  /** `others` where an event worker takes the lane of events. @default `all` */
  readonly lanes?: LaneShare;
  /** Interrupts the run: aborts waiting and requests in flight. */
  readonly signal: AbortSignal;
  /** The run's time is over: requests in flight may finish within `graceMs`. */
  readonly closed?: AbortSignal;
  /** @default 30,000 */
  readonly graceMs?: number;
}

/**
 * Runs one sync of one company: verifies the token's company (I10), queues the initial work, works until the queue
 * is empty or a limit ends it, and reports.
 *
 * @throws only what the report cannot say: bugs
 */
export async function runSync(parts: RunParts, options: RunOptions): Promise<CompanyReport> {
  const startedAtMs = parts.clock.nowMs();
  const { mirror, transport, token, random, tally, log } = parts;
  const { concurrency, acceptIdentity, closed = new AbortController().signal, graceMs = 30_000 } = options;
  const signal = stopSignal(options.signal, closed, graceMs);
  const earlyEnd = (): Outcome | null =>
    options.signal.aborted ? "interrupted" : closed.aborted ? "stopped" : null;
  let run: RunContext | null = null;
  let resumed = false;
  try {
    const onRequest = () => tally.sent("list");
    const onNotice = (message: string) => log.warn(message);
    const identified = await identify({
      mirror,
      transport,
      token,
      random,
      signal,
      acceptIdentity,
      onRequest,
      onNotice,
    });
    ({ run, resumed } = beginRun(parts, options, identified, startedAtMs));
    const policy = new BatchRetryPolicy(run);
    const ended = await new Engine(run, { transport, concurrency, policy, signal, closed }).work();
    learnBusinessId(mirror);
    const early = options.signal.aborted ? "interrupted" : ended === "drained" ? "stopped" : null;
    const outcome = early ?? outcomeOfWork(run, resumed);
    return finishRun(parts, run, { outcome, startedAtMs, resumed });
  } catch (thrown) {
    const error = databaseError(mirror.db.name, thrown);
    const outcome = earlyEnd() ?? outcomeOfError(error);
    if (outcome === null) throw error;
    return finishRun(parts, run, { outcome, startedAtMs, resumed, error: errorOf(error) });
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
  const { mirror, clock, log, tally, queue = new WorkQueue(mirror.db) } = parts;
  const { resources, full, allowMassDelete, parentsPerRun, lanes: share = "all" } = options;
  tally.begin(resources.map((resource) => resource.name));
  return createRunContext(resources, {
    mirror,
    queue,
    tally,
    clock,
    log,
    runId,
    startedAtMs,
    share,
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
