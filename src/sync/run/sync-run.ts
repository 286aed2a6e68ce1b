import { isoTime } from "../../base/clock.ts";
import type { ServiceAnswer } from "../../connector/transport.ts";
import { readObject } from "../../extract/answers.ts";
import { Runs, type RunRow } from "../../state/runs.ts";
import type { LaneShare } from "../../state/lease-order.ts";
import { databaseError } from "../../store/database.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import {
  createRunContext,
  requireRunId,
  type ParentReads,
  type RunContext,
  type RunParts,
} from "../context/run-context.ts";
import type { CompanyReport, Outcome, RunError } from "../context/run-report.ts";
import { runRemovals } from "../deletion/mass-delete-guard.ts";
import { runRouteProofs } from "../deletion/route-probe.ts";
import { Engine, stopSignal, type WorkOptions } from "../engine/engine.ts";
import { identify, type Identified } from "../identity/identify.ts";
import { learnBusinessId, rememberIdentity } from "../identity/pinned-identity.ts";
import { addInitialWork, refreshLists } from "../plan/initial-work.ts";
import { batchRetryPolicy } from "../retry/retry-policy.ts";
import { errorOf, finishRun, outcomeOfError, outcomeOfWork } from "./run-outcome.ts";

/** What the user, or the daemon, asks of a run. */
export interface RunOptions extends WorkOptions {
  readonly full: boolean;
  readonly allowMassDelete: boolean;
  readonly acceptIdentity: boolean;
  /** Parents' lists per run, the stalest first. `auto`: those never read; the scrub reads the others. */
  readonly parentsPerRun: number | "all" | "auto";
  /** Details that the scrub may read again in this run. */
  readonly scrubAllowance: number;
  /** `others` where an event worker takes the lane of events, else `all`. */
  readonly share: LaneShare;
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
    const policy = batchRetryPolicy();
    const context = run;
    const refresh = () => refreshLists(context);
    const ended = await new Engine(run, { transport, concurrency, policy, signal, closed, refresh }).work();
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
function beginRun(parts: RunParts, options: RunOptions, identified: Identified, startedAtMs: number) {
  const { mirror, queue, clock } = parts;
  const { resources, full, allowMassDelete, share } = options;
  const runs = new Runs(mirror.db);
  const unfinished = unfinishedRun(runs, full);
  const chainStartedAt = unfinished && runs.chainStartedAt(unfinished.id);
  const chainStartedMs = chainStartedAt === null ? startedAtMs : Date.parse(chainStartedAt);
  return mirror.apply(() => {
    const mode = full ? "full" : "incremental";
    const run = createRunContext(parts, {
      runId: runs.begin(mode, isoTime(startedAtMs), unfinished?.id ?? null, unfinished?.swept ?? {}),
      resources,
      startedAtMs,
      share,
      full,
      allowMassDelete,
      chainStartedMs,
      parentReads: parentReads(options, chainStartedMs),
      provenRoutes: runRouteProofs(queue, clock),
      removals: runRemovals(),
    });
    if (identified.changed) rememberIdentity(mirror, identified.identity);
    applyCompany(run, identified.answer);
    addInitialWork(run, unfinished, options.scrubAllowance);
    return { run, resumed: unfinished !== null };
  });
}

/**
 * The last run, if it was killed, stopped or cut off; this run does not repeat what it read. A full run continues
 * only a full one: what another read is not all that it has to read.
 */
function unfinishedRun(runs: Runs, full: boolean): RunRow | null {
  const last = runs.last();
  if (last === null || last.outcome === "complete" || last.outcome === "partial") return null;
  return full && last.mode !== "full" ? null : last;
}

/** Where every run reads all parents' lists, one that continues another leaves out those that the other read. */
function parentReads({ full, parentsPerRun }: RunOptions, chainStartedMs: number): ParentReads {
  const left = Number.MAX_SAFE_INTEGER;
  if (full || parentsPerRun === "all") return { beforeMs: chainStartedMs, left };
  return parentsPerRun === "auto" ? { beforeMs: 0, left } : { beforeMs: left, left: parentsPerRun };
}

/** The answer that identified the company is also its record: row 1 of a resource that is one object. */
function applyCompany(run: RunContext, { requestId, body }: ServiceAnswer): void {
  const { mirror, tally, startedAtMs } = run;
  const { sequence, manifest } = mirror;
  const name = manifest.identity.resource;
  if (!run.selected.has(name)) return;
  const stamp: ReadStamp = {
    cause: "sweep",
    sentSeq: sequence.next(),
    receivedSeq: sequence.next(),
    receivedAtMs: startedAtMs,
    requestId,
    run: run.runId,
  };
  tally.of(name).listed = 1;
  tally.count(name, mirror.table(name).put({ stamp, id: 1, slice: readObject(body), source: "list" }));
  tally.swept.add(name);
  run.runs.noteSwept(requireRunId(run), name, isoTime(startedAtMs));
}
