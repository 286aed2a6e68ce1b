import { isoTime, type Clock } from "../../base/clock.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { ServiceError } from "../../connector/service-errors.ts";
import { resourceNamed, type Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Transport } from "../../connector/transport.ts";
import { Listings } from "../../state/listings.ts";
import type { Mirror } from "../../state/mirror.ts";
import { Parents } from "../../state/parents.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import { Runs, type RunRow } from "../../state/runs.ts";
import { databaseError } from "../../store/database.ts";
import { Inbox } from "../../state/inbox/inbox.ts";
import { WorkQueue, type LaneShare } from "../../state/work-queue.ts";
import { BatchRetryPolicy } from "../retry/retry-policy.ts";
import { Engine } from "../engine/engine.ts";
import { identify, learnBusinessId, rememberIdentity, type Identified } from "../identity/identify.ts";
import { runRemovals } from "../deletion/mass-delete-guard.ts";
import { runRouteProofs } from "../deletion/route-proofs.ts";
import { releaseWithoutId } from "../apply/records-without-id.ts";
import type { Unfinished } from "../plan/sweep-plan.ts";
import type { CompanyReport, Outcome, ReportedError } from "../context/run-report.ts";
import { addInitialWork } from "../plan/initial-work.ts";
import { stopSignal } from "../engine/stop-signal.ts";
import { runOf, type RunContext } from "../context/run-context.ts";
import type { Tally } from "../context/tally.ts";
import { takeSingle } from "../apply/list-answer.ts";

/** The parts one company's run is built from. */
export interface RunParts {
  readonly mirror: Mirror;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly token: string;
  readonly tally: Tally;
  /** How many answers were 429 so far. */
  readonly rateLimited: () => number;
  readonly notices: RunNotices;
  /** Shared with whoever else works on this mirror in this process: leases live in it. */
  readonly queue?: WorkQueue;
}

/** What the store noticed, collected for the report. */
export interface RunNotices {
  readonly newColumns: string[];
  readonly missingFields: Set<string>;
  readonly unkeptFields?: Set<string>;
}

export interface RunOptions {
  readonly resources: readonly Resource[];
  readonly full: boolean;
  readonly allowMassDelete: boolean;
  readonly acceptIdentity: boolean;
  /** null: every parent in every run. */
  readonly parentsPerRun: number | null;
  /** Details that the scrub may read again in this run. */
  readonly scrubAllowance: number;
  readonly concurrency: number;
  /** Where events have a tender of their own: `others`. */
  readonly lanes?: LaneShare;
  /** Interrupts: waiting and what is in flight are broken off. */
  readonly signal: AbortSignal;
  /** The run's time is over: what is in flight may finish within `graceMs`. */
  readonly closed?: AbortSignal;
  readonly graceMs?: number;
}

/** One run of one company, from the question who we are to the report. Never throws for what the report can say. */
export async function runSync(parts: RunParts, options: RunOptions): Promise<CompanyReport> {
  const startedAtMs = parts.clock.nowMs();
  const runs = new Runs(parts.mirror.db);
  let session: RunContext | null = null;
  let resumed = false;
  const { concurrency, closed = new AbortController().signal, graceMs = 30_000 } = options;
  const signal = stopSignal(options.signal, closed, graceMs);
  try {
    const identified = await identify({
      mirror: parts.mirror,
      transport: parts.transport,
      token: parts.token,
      random: parts.random,
      signal,
      acceptIdentity: options.acceptIdentity,
      onRequest: () => parts.tally.sent("list"),
      onNotice: (message) => parts.log.warn(message),
    });
    const begun = begin(parts, options, runs, identified, startedAtMs);
    session = begun.session;
    resumed = begun.resumed;
    const { transport } = parts;
    const ended = await new Engine(session, {
      transport,
      concurrency,
      course: new BatchRetryPolicy(session),
      signal,
      closed,
    }).run();
    learnBusinessId(parts.mirror);
    const early = options.signal.aborted ? "interrupted" : ended === "drained" ? "stopped" : null;
    const outcome = early ?? outcomeOf(session, resumed);
    return conclude(parts, session, runs, { outcome, startedAtMs, resumed });
  } catch (thrown) {
    const error = databaseError(parts.mirror.db.name, thrown);
    const outcome = stoppedBy(options.signal, closed) ?? outcomeOfError(error);
    if (outcome === null) throw error;
    return conclude(parts, session, runs, { outcome, startedAtMs, resumed, error: reported(error) });
  }
}

/** Null: nobody wanted it to end early. */
function stoppedBy(interrupt: AbortSignal, closed: AbortSignal): Outcome | null {
  if (interrupt.aborted) return "interrupted";
  return closed.aborted ? "stopped" : null;
}

function begin(
  parts: RunParts,
  options: RunOptions,
  runs: Runs,
  identified: Identified,
  startedAtMs: number,
): { session: RunContext; resumed: boolean } {
  const { mirror } = parts;
  const last = runs.latest(1)[0];
  const unfinished = last ? unfinishedOf(last) : null;
  return mirror.apply(() => {
    const mode = options.full ? "full" : "incremental";
    const swept = unfinished ? (last?.swept ?? {}) : {};
    const run = runs.begin(mode, isoTime(startedAtMs), unfinished?.run ?? null, swept);
    const session = newSession(parts, options, runs, run, startedAtMs);
    if (identified.changed) rememberIdentity(mirror, identified.identity);
    takeCompany(session, mirror.manifest, identified, startedAtMs);
    addInitialWork(session, unfinished, options.scrubAllowance);
    return { session, resumed: unfinished !== null };
  });
}

function newSession(
  parts: RunParts,
  options: RunOptions,
  runs: Runs,
  run: number,
  startedAtMs: number,
): RunContext {
  const { mirror, clock, log, tally } = parts;
  const { full, allowMassDelete, parentsPerRun } = options;
  const queue = parts.queue ?? new WorkQueue(mirror.db);
  tally.begin(options.resources.map((resource) => resource.name));
  return {
    manifest: mirror.manifest,
    mirror,
    clock,
    log,
    tally,
    runs,
    run,
    startedAtMs,
    full,
    allowMassDelete,
    share: options.lanes ?? "all",
    queue,
    inbox: new Inbox(mirror.db),
    listings: new Listings(mirror.db),
    parents: new Parents(mirror.db),
    selected: new Map(options.resources.map((resource) => [resource.name, resource])),
    parentBudget: parentsPerRun === null || full ? null : { left: parentsPerRun },
    provenRoutes: runRouteProofs(queue, clock),
    probeCandidates: new Map(),
    probeTrials: new Map(),
    removals: runRemovals(),
    withoutId: new Map(),
    afterCommit: [],
  };
}

/** The answer that told who we are is also the company's record. */
function takeCompany(session: RunContext, manifest: Manifest, identified: Identified, atMs: number): void {
  const { sequence } = session.mirror;
  const reading: ReadStamp = {
    cause: "sweep",
    sentSeq: sequence.next(),
    receivedSeq: sequence.next(),
    receivedAtMs: atMs,
    requestId: identified.answer.requestId,
    run: session.run,
  };
  const resource = resourceNamed(manifest, manifest.identity.resource);
  if (session.selected.has(resource.name)) takeSingle(session, resource, reading, identified.answer.body);
}

/** A run that was killed, stopped or cut off; its sweeps are gone on with. */
function unfinishedOf(last: RunRow): Unfinished | null {
  if (last.outcome === "complete" || last.outcome === "partial") return null;
  const sweptAtMs = Object.fromEntries(Object.entries(last.swept).map(([key, at]) => [key, Date.parse(at)]));
  return { run: last.id, startedAtMs: Date.parse(last.startedAt), sweptAtMs };
}

function outcomeOf(session: RunContext, resumed: boolean): Outcome {
  session.mirror.apply(() => releaseWithoutId(session, resumed));
  const names = new Set(session.selected.keys());
  noteKept(session, names);
  return session.tally.allTroubles().length > 0 ? "partial" : "complete";
}

/** What stays behind from this or earlier runs is never silent. */
function noteKept(session: RunContext, names: ReadonlySet<string>): void {
  for (const one of session.mirror.quarantine.all()) {
    if (!names.has(one.resource)) continue;
    const message = `record ${one.recordId ?? "without an id"} is in quarantine: ${one.reason}`;
    session.tally.trouble({ resource: one.resource, kind: "quarantined", message });
  }
  for (const letter of session.queue.deadLetters()) {
    if (!names.has(letter.resource) || letter.state !== "dead") continue;
    session.tally.trouble({
      resource: letter.resource,
      kind: "dead",
      message: `${letter.target}: ${letter.error}`,
    });
  }
}

/** Null: not the run's business (a bug), to be thrown on. */
function outcomeOfError(error: unknown): Outcome | null {
  if (!(error instanceof MirrorError)) return null;
  if (error.kind === "unauthenticated" || error.kind === "identity" || error.kind === "database")
    return error.kind;
  return error.kind === "stopped" ? "stopped" : "failed";
}

function reported(error: unknown): ReportedError {
  const known = error instanceof MirrorError ? error : null;
  const requestId = error instanceof ServiceError ? error.requestId : null;
  return {
    kind: known?.kind ?? "runtime",
    message: messageOf(error),
    ...(known?.hint === undefined ? {} : { hint: known.hint }),
    ...(requestId === null ? {} : { request_id: requestId }),
  };
}

interface Ending {
  readonly outcome: Outcome;
  readonly startedAtMs: number;
  readonly resumed: boolean;
  readonly error?: ReportedError;
}

function conclude(parts: RunParts, session: RunContext | null, runs: Runs, ending: Ending): CompanyReport {
  const { tally, clock, mirror } = parts;
  if (session) notePending(session, ending.outcome);
  tally.requests.rate_limited = parts.rateLimited();
  const report: CompanyReport = {
    outcome: ending.outcome,
    started_at: isoTime(ending.startedAtMs),
    finished_at: isoTime(clock.nowMs()),
    resumed: ending.resumed,
    requests: { ...tally.requests },
    resources: Object.fromEntries(tally.resources),
    swept: session ? runs.sweptIn(runOf(session)) : {},
    troubles: tally.allTroubles(),
    new_columns: parts.notices.newColumns,
    missing_fields: [...parts.notices.missingFields].toSorted(),
    unkept_fields: [...(parts.notices.unkeptFields ?? [])].toSorted(),
    ...(ending.error ? { error: ending.error } : {}),
  };
  const { outcome } = ending;
  if (session && outcome !== "database") {
    mirror.apply(() => runs.finish(runOf(session), report.finished_at, outcome, report));
  }
  return report;
}

/** Of a database that failed nobody may know what is pending; that must not hide why it failed. */
function notePending(session: RunContext, outcome: Outcome): void {
  for (const name of session.selected.keys()) session.tally.of(name).pending = 0;
  try {
    for (const { resource, count } of session.queue.counts()) {
      if (session.selected.has(resource)) session.tally.of(resource).pending += count;
    }
  } catch (error) {
    if (outcome !== "database") throw error;
  }
}
