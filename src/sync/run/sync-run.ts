import { stopSignal } from "../../base/cancellation.ts";
import { isoTime } from "../../base/clock.ts";
import { hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import { formatCount } from "../../base/units.ts";
import { pinnedIdentity, rememberIdentity } from "../../state/meta.ts";
import type { Mirror } from "../../state/mirror.ts";
import { nameOfTarget } from "../../state/work-item.ts";
import { databaseError } from "../../store/database.ts";
import { retryInTurn } from "../../store/transient-errors.ts";
import { requestIdOf } from "../apply/handle-failure.ts";
import { requireRunId, type RunContext, type RunParts } from "../context/run-context.ts";
import { emptySummary, outcomeOfError } from "../context/run-summary.ts";
import type { RunSummary, Outcome, RunError, ScrubSummary } from "../context/run-summary.ts";
import type { Tally } from "../context/tally.ts";
import { Engine } from "../engine/engine.ts";
import { identify } from "../identity/identify.ts";
import { refreshLists } from "../plan/initial-work.ts";
import { noteOwnersRead, queueScrub } from "../plan/read-reasons.ts";
import { readRecent, readScrubChoice, readScrubPlan, useScrubDay, withdrawScrub } from "../plan/scrub.ts";
import type { ParentsPerRun } from "../plan/scrub.ts";
import { batchRetryPolicy } from "../../retry/retry-policies.ts";
import { beginRun, noteFailedStart, type RunOptions, type ScrubOptions } from "./begin-run.ts";

/**
 * Runs one sync of one company: verifies the token's company (I10), queues the initial work, works until the queue
 * is empty or a limit ends it, scrubs, and reports.
 *
 * @throws only what the summary cannot say: bugs
 */
export function runSync(parts: RunParts, options: RunOptions): Promise<RunSummary> {
  return new SyncRun(parts, options).perform();
}

/** Fewer details than this are read within minutes: the report that follows the run is early enough. */
const manyDetails = 600;

class SyncRun {
  private readonly parts: RunParts;
  private readonly options: RunOptions;
  private readonly startedAtMs: number;
  private readonly over = new AbortController();
  private readonly signal: AbortSignal;
  /** null: it has not begun to write. */
  private run: RunContext | null = null;
  private resumed = false;
  /** ISO; null: not everything listed is in. */
  private listedAt: string | null = null;
  private scrub: ReturnType<typeof queueScrubPhase> | null = null;

  constructor(parts: RunParts, options: RunOptions) {
    this.parts = parts;
    this.options = options;
    this.startedAtMs = parts.clock.nowMs();
    this.signal = stopSignal(options, this.over.signal);
    parts.mirror.notices.begin();
  }

  async perform(): Promise<RunSummary> {
    const { signal, closed } = this.options;
    try {
      const outcome = await this.work();
      return await this.finish(signal.aborted ? "interrupted" : outcome);
    } catch (thrown) {
      const error = databaseError(this.parts.mirror.db.name, thrown);
      const isKnown = error instanceof MirrorError;
      // A bug is thrown on.
      if (!isKnown && !closed.aborted && !signal.aborted) throw error;
      const outcome = isKnown && !closed.aborted ? outcomeOfError(error) : "stopped";
      return this.finish(signal.aborted ? "interrupted" : outcome, errorOf(error));
    } finally {
      this.over.abort();
    }
  }

  /** Both phases of a run: everything listed, changed and missing; then the scrub, which keeps nobody waiting. */
  private async work(): Promise<Outcome> {
    const { parts, options, signal } = this;
    const { mirror, transport } = parts;
    const { concurrency, acceptIdentity, closed, scrub, patienceMs, quick } = options;
    const ask = () => identify(parts, { acceptIdentity, lane: "list", signal });
    const waiting = { ...parts, patienceMs, ended: AbortSignal.any([signal, closed]) };
    const policy = batchRetryPolicy(waiting, ask);
    const identified = await policy.untilAnswered();
    const { run, resumed } = await this.free(() => beginRun(parts, options, identified, this.startedAtMs));
    Object.assign(this, { run, resumed });
    const refresh = () => this.free(() => !quick && refreshLists(run));
    const afterPage = this.onceListed(run);
    const engine = { transport, concurrency, policy, signal, closed, refresh, afterPage };
    const ended = await new Engine(run, engine).work();
    await this.free(() => learnBusinessId(mirror));
    if (ended === "drained") return "stopped";
    if (quick) return run.tally.allTroubles().length > 0 ? "partial" : "complete";
    const outcome = await this.free(() => outcomeOfWork(run, resumed));
    this.listedAt = isoTime(parts.clock.nowMs());
    if (scrub === null || options.full || !(await this.beginScrub(run, scrub, outcome))) return outcome;
    const scrubClosed = AbortSignal.any([closed, scrub.closed]);
    const scrubbed = await new Engine(run, { ...engine, closed: scrubClosed }).work();
    if (scrubbed === "drained" && !scrub.closed.aborted) return "stopped";
    return this.free(() => outcomeOfWork(run, resumed));
  }

  /** Runs a step that writes; waits while another program holds the mirror. */
  private free<T>(step: () => T): Promise<T> {
    return retryInTurn(this.parts.mirror.db, step, { ...this.parts, signal: this.signal });
  }

  /** Has the report published as soon as no list waits, once for each time, where the rest takes long. */
  private onceListed({ log, queue, names, begunLists }: RunContext): () => void {
    const { quick, onListed } = this.options;
    let announcedMs = 0;
    return () => {
      const begunMs = Math.max(0, ...[...begunLists.values()].map((list) => list.begunMs));
      if (quick || begunMs <= announcedMs || queue.hasLists(names)) return;
      announcedMs = begunMs;
      const details = queue.countDetails(names);
      if (details < manyDetails) return;
      const waiting = formatCount(details);
      log.info(`all lists are in; ${waiting} details and lists of parents follow, the newest first`);
      void onListed?.(this.summary("partial"), false);
    };
  }

  /** Stores that everything listed is in, queues the scrub and has the report published. False: nothing to scrub. */
  private async beginScrub(run: RunContext, options: ScrubOptions, outcome: Outcome): Promise<boolean> {
    const { parentsPerRun, onListed } = this.options;
    const summary = this.summary(outcome);
    await this.free(() => run.mirror.apply(() => run.runs.noteListed(requireRunId(run), summary)));
    this.scrub = await this.free(() => queueScrubPhase(run, options, parentsPerRun));
    const { planned, total } = this.scrub;
    if (planned === 0) return false;
    const count = `${formatCount(planned)} of ${formatCount(total)}`;
    run.log.info(`everything listed is in; reading ${count} again for what lists do not show`);
    await onListed?.(summary, true);
    return true;
  }

  /** Ends the scrub, builds the summary and stores it in the run's row, whatever signal ended the run. */
  private async finish(outcome: Outcome, error?: RunError): Promise<RunSummary> {
    const { parts, run, scrub } = this;
    const { mirror } = parts;
    const wait = { ...parts, signal: new AbortController().signal };
    const canWrite = outcome !== "database";
    const scrubbed = canWrite && scrub ? await retryInTurn(mirror.db, () => scrub.end(), wait) : null;
    const summary = this.summary(outcome, scrubbed, error);
    const store = () => {
      if (run) run.runs.finish(requireRunId(run), summary.finished_at, outcome, summary);
      else noteFailedStart(mirror.meta, summary);
    };
    // A mirror of another company is not touched (I10).
    const isNoted = outcome === "failed" || outcome === "unauthenticated";
    if (canWrite && (run || isNoted)) await retryInTurn(mirror.db, () => mirror.apply(store), wait);
    return summary;
  }

  private summary(outcome: Outcome, scrub: ScrubSummary | null = null, error?: RunError): RunSummary {
    const { run } = this;
    const { tally, clock, mirror, rateLimited } = this.parts;
    const { newColumns, missingFields, unkeptFields } = mirror.notices.current;
    if (run) noteLeft(run, outcome);
    tally.requests.rate_limited = rateLimited();
    return {
      ...emptySummary(clock, isoTime(this.startedAtMs), outcome),
      listed_at: this.listedAt,
      resumed: this.resumed,
      requests: { ...tally.requests },
      resources: Object.fromEntries(tally.resources),
      scrub,
      swept: run && outcome !== "database" ? run.runs.sweptIn(requireRunId(run)) : {},
      troubles: tally.allTroubles(),
      new_columns: newColumns,
      missing_fields: [...missingFields].toSorted(),
      unkept_fields: [...unkeptFields].toSorted(),
      uncompared_fields: outcome === "database" ? [] : mirror.differences.all(),
      ...(error && { error }),
    };
  }
}

/**
 * Queues the second phase of a run: when everything listed is in, what was read longest ago is read again. Returns how
 * many reads it has, of how many, and the end of it.
 */
function queueScrubPhase(run: RunContext, options: ScrubOptions, parentsPerRun: ParentsPerRun) {
  const { settings, windowMs, isCovered } = options;
  const { mirror, clock, resources, tally } = run;
  const nowMs = clock.nowMs();
  const scope = { declared: mirror.declaration.resources, resources, parentsPerRun };
  const question = { settings, windowMs, isCovered, limit: options.limit(), nowMs, ...scope };
  const changedBefore = changedIn(tally);
  const { total, planned } = mirror.apply(() => {
    const recent = readRecent(mirror.db, question);
    const today = readScrubPlan(mirror.db, question, recent.length);
    const chosen = readScrubChoice(mirror.db, today, recent, nowMs);
    const added = chosen.filter((one) => queueScrub(run, one)).length;
    if (added > 0) useScrubDay(mirror.meta, today.day, added);
    return { total: today.plan.total, planned: added };
  });
  if (planned > 0) tally.scrubPlanned = planned;
  /** Takes back what was not read, and says what the rest found. */
  const end = (): ScrubSummary => {
    const left = mirror.apply(() => withdrawScrub(run.queue, mirror.meta));
    return { total, planned, read: planned - left, changed: changedIn(tally) - changedBefore, left };
  };
  return { total, planned, end };
}

function changedIn({ resources }: Tally): number {
  return [...resources.values()].reduce((sum, one) => sum + one.inserted + one.updated + one.deleted, 0);
}

/** Stores the business id of the mirrored documents. Writes only when it has changed. */
function learnBusinessId(mirror: Mirror): void {
  const identity = pinnedIdentity(mirror.meta);
  const { businessIdColumn, businessIdIn } = mirror.declaration.identity;
  const businessId = mirror.records.latestValue(businessIdIn, businessIdColumn);
  if (!identity || businessId === null || businessId === identity.businessId) return;
  mirror.apply(() => rememberIdentity(mirror, { ...identity, businessId }));
}

/** How a run whose work ended by itself ended; adds what is left behind to its troubles. */
export function outcomeOfWork(run: RunContext, resumed: boolean): Outcome {
  run.mirror.apply(() => {
    releaseWithoutId(run, resumed);
    noteOwnersRead(run);
  });
  noteKept(run);
  return run.tally.allTroubles().length > 0 ? "partial" : "complete";
}

/**
 * Removes records without an id from quarantine that this run did not meet although it read all of the resource:
 * they are deleted at the service, or have an id now.
 */
function releaseWithoutId(run: RunContext, resumed: boolean): void {
  const { quarantine } = run.mirror;
  const troubled = new Set(run.tally.allTroubles().map((trouble) => trouble.resource));
  for (const resource of run.selected.keys()) {
    const readWhole = !resumed && (run.full || run.tally.swept.has(resource));
    if (!readWhole || troubled.has(resource)) continue;
    quarantine.releaseWithoutId(resource, run.withoutId.get(resource) ?? new Set());
  }
}

/** Quarantined records and dead letters are reported, also those of earlier runs. */
function noteKept({ mirror, queue, selected, tally }: RunContext): void {
  const known = new Set(tally.allTroubles().map((one) => `${one.resource} ${one.id}`));
  for (const { resource, recordId, reason } of mirror.quarantine.all()) {
    if (!selected.has(resource)) continue;
    const message = `record ${recordId ?? "without an id"} is in quarantine: ${reason}`;
    tally.trouble({ resource, kind: "quarantined", id: recordId?.toString() ?? null, message });
  }
  for (const { resource, target, id, reason } of queue.deadLetters()) {
    if (!selected.has(resource) || known.has(`${resource} ${id}`)) continue;
    tally.trouble({ resource, kind: "dead", id, message: `${nameOfTarget(target)} is set aside: ${reason}` });
  }
}

function errorOf(error: unknown): RunError {
  const requestId = requestIdOf(error);
  const own = requestId !== null && { request_id: requestId };
  const kind = error instanceof MirrorError ? error.kind : "runtime";
  return { kind, message: messageOf(error), ...hintOf(error), ...own };
}

/** Counts what is left to read. A failing database may not show it; that must not hide why it failed. */
function noteLeft({ selected, tally, queue, mirror }: RunContext, outcome: Outcome): void {
  for (const name of selected.keys()) tally.of(name).pending = 0;
  try {
    for (const { resource, count } of queue.counts([...selected.keys()])) tally.of(resource).pending += count;
    for (const name of selected.keys()) tally.of(name).provisional = mirror.records.counts(name).provisional;
  } catch (error) {
    if (outcome !== "database") throw error;
  }
}
