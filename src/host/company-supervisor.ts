import { makeFolders } from "../base/files/atomic-file.ts";
import { hintOf, messageOf, MirrorError } from "../base/errors.ts";
import { withChangedToken } from "../config/companies.ts";
import type { CompanySettings } from "../store/mirror-files.ts";
import type { ProgressView } from "../log/progress.ts";
import { retries } from "../retry/retry-limits.ts";
import { HandOverCounts } from "../state/as-of/hand-overs.ts";
import { readView, type CompanyStatusView } from "../status/company-view.ts";
import { noteOf } from "../status/event-status.ts";
import { databaseError, guarded } from "../store/database.ts";
import { lockHolder, takeWriterLock, type WriterLock } from "../store/writer-lock.ts";
import { RefusalWatch, type Refusal } from "../webhook/delivery-gap/refusal-watch.ts";
import type { Ingest } from "../webhook/ingest/ingest.ts";
import { CompanyRuntime } from "./company-runtime.ts";
import type { AfterRunScope } from "./after-run-queue.ts";
import { needsRestart } from "./host-context.ts";
import type { CompanyHooks, HostContext, ReceivingMirror } from "./host-context.ts";
import { CompanyCounters } from "./counters.ts";
import { runSchedule } from "../config/cron-schedule.ts";
import { nextWorkMs } from "./run-scheduler.ts";
import { stopDeadlines } from "../runs/process-context.ts";

const secretsCheckMs = 2_000;

/**
 * Keeps one company going: takes the writer lock, opens the runtime, and opens it again after a failure or a change
 * of the config.
 *
 * Guarantee: `supervise` never rejects; whatever happens to a mirror, a token or a service concerns this company
 * only. While the mirror cannot be written, deliveries are refused.
 * Source of truth: the mirror; the counters are of this process.
 * Worst outcome of a crash: the operating system releases the lock, and the next process takes it.
 */
export class CompanySupervisor {
  readonly name: string;
  readonly counters = new CompanyCounters();
  readonly handOvers = new HandOverCounts();
  private readonly refusals: RefusalWatch;
  readonly context: HostContext;
  private readonly hooks: CompanyHooks | undefined;
  settings: CompanySettings;
  private runtime: CompanyRuntime | null = null;
  private closedState: CompanyStatusView["service"];
  private readonly stopped = new AbortController();
  /** Cuts off what has not ended in time after `stop`. */
  private readonly aborted = new AbortController();
  private restart = new AbortController();
  private ended: Promise<void> = Promise.resolve();

  /** @param hooks @default the company is this process's alone */
  constructor(context: HostContext, settings: CompanySettings, hooks?: CompanyHooks) {
    this.name = settings.company.name;
    this.context = context;
    this.hooks = hooks;
    this.settings = settings;
    this.refusals = new RefusalWatch(context.clock);
    this.closedState = { state: "starting", message: null, sinceMs: context.clock.nowMs() };
  }

  get ingest(): Ingest | "unavailable" {
    return this.runtime?.ingest ?? "unavailable";
  }

  start(): void {
    this.ended = this.supervise();
    void this.followSecrets();
  }

  countDelivery(result: string, refusal?: Refusal): void {
    this.counters.countDelivery(result);
    if (refusal) this.refusals.refused(refusal);
    else this.refusals.accepted();
  }

  /** How the company stands. Never throws: a mirror that cannot be read is a problem of this company, and hides no other. */
  view(): CompanyStatusView {
    try {
      return this.viewOf(this.runtime);
    } catch (error) {
      const sinceMs = this.context.clock.nowMs();
      const message = messageOf(databaseError(this.settings.files.mirror, error));
      const service = { state: "database", message, sinceMs } as const;
      return { ...this.viewOf(null), service };
    }
  }

  /** @param readable the runtime; null: its mirror cannot be read, or there is none */
  private viewOf(readable: CompanyRuntime | null): CompanyStatusView {
    const { settings, counters, refusals, runtime } = this;
    const { clock, connections, strayRefusals } = this.context;
    const nowMs = clock.nowMs();
    const view = readView(readable?.mirror.db ?? null, settings, nowMs);
    const current = runtime?.runQueue.current ?? null;
    const skewMs = runtime?.service.skew.skewMs() ?? null;
    return {
      ...view,
      missingSecrets: missingSecrets(settings, runtime),
      open: runtime !== null,
      service: runtime ? runtime.eventWorker.state() : this.closedState,
      run: current ? { mode: current.mode, startedMs: current.startedMs } : null,
      runs: { ...counters.runs },
      logHeldMs: readable?.logWatch.heldMs() ?? null,
      lastRun: counters.shownRun ?? view.lastRun,
      budget: readable?.service.rateLimiter.view() ?? null,
      ...counters.with(countingOf(runtime)),
      deliveries: Object.fromEntries(counters.deliveries),
      receiver: noteOf(refusals, strayRefusals, connections.dropped, skewMs),
      writeProblem: runtime?.writeProblem ?? null,
      afterRun: { ...view.afterRun, problem: counters.afterRunProblem },
      nextRunMs: (runtime && runSchedule(settings.config.schedule)?.after(nowMs)) ?? null,
    };
  }

  get requests(): Readonly<Record<string, number>> {
    return this.counters.with(countingOf(this.runtime)).requests;
  }

  /** Of the run under way; null: there is none. */
  progress(): ProgressView | null {
    return this.runtime?.runQueue.progress() ?? null;
  }

  /** Changes the settings; restarts the runtime if it was built from others. Running work ends where it can resume. */
  change(settings: CompanySettings): void {
    const restarts = needsRestart(this.settings, settings);
    this.settings = settings;
    if (restarts) this.restart.abort();
  }

  /** Makes what follows a run, with the settings as they are now. Never rejects: what went wrong is shown. */
  async makeAfterRun(scope: AfterRunScope): Promise<void> {
    try {
      this.counters.afterRunProblem = await this.context.afterRun(this.settings, scope);
    } catch (error) {
      this.counters.afterRunProblem = messageOf(error);
      this.context.log.error("what follows a run failed", { error: messageOf(error) });
    }
  }

  /** Null: the mirror is not open. */
  get opened(): ReceivingMirror | null {
    return this.runtime?.mirror.db.open ? this.runtime : null;
  }

  /** Why the mirror could not be opened, or cannot be used; null: it is open, or is being opened. */
  get problem(): string | null {
    return this.runtime ? null : this.closedState.message;
  }

  /** When there is something to do next, epoch ms; null: nothing is known. What is under way counts as now. */
  nextWorkMs(): number | null {
    const { runtime, settings } = this;
    const nowMs = this.context.clock.nowMs();
    if (!runtime?.mirror.db.open || runtime.runQueue.isBusy || runtime.queue.leased.size > 0) return nowMs;
    const names = settings.resources.map(({ name }) => name);
    const dueMs = [runtime.scheduler.nextMs(nowMs), runtime.queue.nextDueMs(names, "events")];
    const ownMs = [runtime.afterRun.publishMs(), ...runtime.pushers.map((one) => one.dueMs(nowMs))];
    return nextWorkMs(dueMs, ownMs, runtime.eventWorker.state(), nowMs);
  }

  /**
   * Resolves when the mirror is closed and its lock released.
   *
   * @param withinMs how long requests in flight may take; 0: they are cut off at once
   */
  async stop(withinMs: number = stopDeadlines.requests): Promise<void> {
    this.stopped.abort();
    if (withinMs === 0) this.aborted.abort();
    const timer = setTimeout(() => this.aborted.abort(), withinMs);
    await this.ended.finally(() => clearTimeout(timer));
  }

  /**
   * Takes over what the files of token and webhook secrets hold, until stopped. A new token restarts the runtime, so
   * that nothing is written before its company is known (I10).
   */
  private async followSecrets(): Promise<void> {
    const { clock, log, onSecrets } = this.context;
    const stopped = this.stopped.signal;
    for (; !stopped.aborted; await clock.sleep(secretsCheckMs, stopped)) {
      this.runtime?.keyring.refresh();
      const company = withChangedToken(this.settings.company);
      if (!company) continue;
      onSecrets([company.token.reveal()]);
      log.info("the file of the token has changed: the new token is used");
      this.change({ ...this.settings, company });
    }
  }

  private async supervise(): Promise<void> {
    try {
      while (!this.stopped.signal.aborted) {
        using lock = await this.takeLock();
        while (!this.stopped.signal.aborted && lock?.isHeld()) await this.runOnce(lock);
      }
    } catch (error) {
      this.context.log.error("the company's supervisor ended", { error: messageOf(error) });
      this.setRuntime(null, messageOf(error));
    }
  }

  /** Null: stopped before the lock was free. */
  private async takeLock(): Promise<(WriterLock & Disposable) | null> {
    const { clock, log } = this.context;
    let logged: string | null = null;
    while (!this.stopped.signal.aborted) {
      try {
        await this.context.turns.next();
        return this.tryLock();
      } catch (error) {
        const message = messageOf(error);
        if (message !== logged) log.warn(`waiting: ${message}`, hintOf(error));
        logged = message;
        this.setRuntime(null, message);
        await clock.sleep(retries.mirror.lockedMs, this.stopped.signal);
      }
    }
    return null;
  }

  private tryLock(): WriterLock & Disposable {
    const { config, files } = this.settings;
    guarded(config.dataDir, () => makeFolders(config.dataDir));
    // Reading the holder first: taking a lock that is held would block all companies for a while.
    const holder = lockHolder(files.lock);
    if (holder) throw new MirrorError("locked", `the mirror is being written by ${holder.description}`);
    const { hooks } = this;
    if (!hooks) return takeWriterLock(files.lock, "serve");
    const lock = takeWriterLock(files.lock, "worker");
    const isHeld = () => hooks.isHeld() && lock.isHeld();
    const lostBecause = () => (hooks.isHeld() ? null : "this process may not write the company any more");
    return { ...lock, isHeld, lostBecause };
  }

  private async runOnce(lock: WriterLock): Promise<void> {
    const { context, settings, counters, refusals, hooks } = this;
    const { clock, log, turns } = context;
    this.restart = new AbortController();
    const closed = AbortSignal.any([this.stopped.signal, this.restart.signal]);
    const signal = this.aborted.signal;
    try {
      await turns.next();
      const options = { context, settings, counters, refusals, lock, hooks, closed, signal };
      const runtime = await CompanyRuntime.open(options);
      this.setRuntime(runtime, null);
      if (runtime.receives) log.info("the mirror is open: deliveries are received");
      else
        log.warn(
          "the mirror is open; without a webhook secret no delivery can be verified, so only runs are made",
        );
      await runtime.run();
      this.setRuntime(null, null);
    } catch (error) {
      log.error(messageOf(error), hintOf(error));
      this.setRuntime(null, messageOf(error));
      // Where the lock was lost, it is taken again at once; so is another file in the mirror's place.
      const isLost = error instanceof MirrorError && error.kind === "locked";
      if (lock.isHeld() && !isLost) await clock.sleep(retries.mirror.failedMs, closed);
    }
  }

  /** `problem`: why there is no runtime; null: there is one, or it ended as it should. */
  private setRuntime(runtime: CompanyRuntime | null, problem: string | null): void {
    this.runtime = runtime;
    if (this.closedState.message === problem) return;
    const state = problem === null ? "starting" : "database";
    this.closedState = { state, message: problem, sinceMs: this.context.clock.nowMs() };
  }
}

function missingSecrets({ company }: CompanySettings, runtime: CompanyRuntime | null): readonly string[] {
  const ofWebhook = runtime?.keyring.missing() ?? company.webhook.secrets.map(({ problem }) => problem);
  return [company.token.problem, ...ofWebhook].filter((problem) => problem !== null);
}

function countingOf(runtime: CompanyRuntime | null) {
  if (!runtime) return [];
  const { eventWorker, service, runQueue } = runtime;
  const ofEvents = { tally: eventWorker.tally, transport: service.transport };
  return runQueue.current ? [ofEvents, runQueue.current.run] : [ofEvents];
}
