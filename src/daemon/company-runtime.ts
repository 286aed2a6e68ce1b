import type { LoopTurns } from "../store/loop-turns.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import { InboxView } from "../state/inbox/inbox-view.ts";
import { openMirror, type Mirror } from "../state/mirror.ts";
import { UptimeLog } from "../state/uptime-log.ts";
import { WorkQueue } from "../state/work-queue.ts";
import { LogWatch } from "../store/write-ahead-log.ts";
import type { WriterLock } from "../store/writer-lock.ts";
import { backupStep, hasSucceededSince, readSteps } from "../status/after-run-record.ts";
import { Tally } from "../sync/context/tally.ts";
import { EventWorker } from "../sync/event-worker/event-worker.ts";
import { releaseMemory } from "../store/kept-statements.ts";
import { CompanyIngest } from "../webhook/ingest/ingest.ts";
import { askAboutRefusals } from "../webhook/delivery-gap/delivery-failures.ts";
import { createSubscriptions } from "../webhook/subscriptions/subscription-client.ts";
import type { RefusalWatch } from "../webhook/delivery-gap/refusal-watch.ts";
import { createKeyring, type ConfiguredKeyring } from "../webhook/keys/keyring.ts";
import { serveCommands } from "./commands/command-server.ts";
import { createPerform } from "./commands/perform-command.ts";
import type { CompanyHooks, CompanySettings, DaemonContext } from "./daemon-context.ts";
import type { CompanyCounters } from "./counters.ts";
import { runHeartbeat } from "./heartbeat.ts";
import type { AfterRunQueue } from "./after-run-queue.ts";
import { performRun, type CompanyRun, type RunRequest } from "../runs/company-run.ts";
import { progressView } from "../runs/run-progress.ts";
import { createIdleFetch } from "./idle-fetch.ts";
import type { RunPlaces } from "../runs/run-places.ts";
import { stopDeadlines } from "../runs/process-context.ts";
import { RunQueue, type EndedRun, type Scrubbing } from "../runs/run-queue.ts";
import { connectService, type ServiceConnection } from "../runs/service-connection.ts";
import { createNotices, type Notices } from "../runs/store-notices.ts";
import { parseCronSchedule, type CronSchedule } from "./scheduler/cron-schedule.ts";
import { Pruner } from "./scheduler/pruner.ts";
import { isAfterRunOwed, republishAfterEvents } from "./scheduler/republish.ts";
import { RunScheduler } from "./scheduler/run-scheduler.ts";

/** How long requests in flight may take when the runtime ends. */
const graceMs = stopDeadlines.requests;

/** What all companies share. */
export interface SharedParts {
  readonly runPlaces: RunPlaces;
  readonly afterRuns: Pick<AfterRunQueue, "add">;
  /** Whatever writes a mirror, opens or closes one waits for a turn of its own. */
  readonly turns: LoopTurns;
}

export interface RuntimeOptions extends SharedParts {
  readonly context: DaemonContext;
  readonly settings: CompanySettings;
  readonly counters: CompanyCounters;
  readonly refusals: RefusalWatch;
  /** Of the mirror. */
  readonly lock: WriterLock;
  /** @default the company is this process's alone */
  readonly hooks?: CompanyHooks | undefined;
  /** Ends the runtime: what is in flight may finish within `graceMs`. */
  readonly closed: AbortSignal;
  /** Ends it at once. */
  readonly signal: AbortSignal;
}

/**
 * Everything `serve` holds open for one company: database connection, work queue, HTTP transport, event worker,
 * run queue.
 *
 * Guarantee: everything that uses the mirror has ended before it is closed.
 * Source of truth: the mirror.
 * Worst outcome of a crash: reads in flight are made again, and commands of other processes are begun again.
 */
export class CompanyRuntime {
  readonly mirror: Mirror;
  readonly queue: WorkQueue;
  readonly ingest: CompanyIngest;
  readonly keyring: ConfiguredKeyring;
  readonly service: ServiceConnection;
  readonly eventWorker: EventWorker;
  readonly runQueue: RunQueue;
  readonly logWatch: LogWatch;
  readonly scheduler: RunScheduler;
  /** Null: no run by the clock. */
  readonly schedule: CronSchedule | null;
  /** Why the mirror cannot be written; null: it can. */
  writeProblem: string | null = null;
  private readonly options: RuntimeOptions;
  private readonly closing = new AbortController();
  /** The options' signal, or an end of our own. */
  private readonly closed: AbortSignal;
  private readonly uptime: UptimeLog;
  private readonly fetchFiles: () => void;
  private readonly notices: Notices;
  private readonly tasks: Promise<void>[] = [];
  /** Rejects with the first task that fails. */
  private readonly failure = Promise.withResolvers<never>();

  private constructor(options: RuntimeOptions, mirror: Mirror, notices: Notices) {
    const { context, settings, counters, runPlaces, afterRuns, hooks, signal } = options;
    const { clock, random, log, onSecrets } = context;
    const { config, resources, company } = settings;
    const { sync, timezone } = config.schedule;
    const { secrets, places } = company.webhook;
    const queue = new WorkQueue(mirror.db);
    const closed = AbortSignal.any([options.closed, this.closing.signal]);
    const schedule = sync === null ? null : parseCronSchedule(sync, timezone);
    const file = mirrorFiles(config, company.name).secrets;
    const keyring = createKeyring({ secrets, places, file, clock, onSecrets });
    const selected = new Set(resources.map(({ name }) => name));
    this.options = options;
    this.mirror = mirror;
    this.notices = notices;
    this.queue = queue;
    this.closed = closed;
    this.schedule = schedule;
    this.keyring = keyring;
    this.uptime = new UptimeLog(mirror.db);
    this.logWatch = new LogWatch(mirror.db.name, log, () => clock.monotonicMs());
    this.ingest = new CompanyIngest({ mirror, queue, selected, keyring });
    this.service = connectService(
      context,
      { ...settings, manifest: context.manifest },
      { events: this.receives, tokenless: true, guard: hooks?.requests },
    );
    const { transport } = this.service;
    const token = company.token.known ? company.token.reveal() : "";
    const worker = { mirror, queue, transport, clock, random, log, token };
    const { concurrency } = config.http;
    this.eventWorker = new EventWorker(worker, { resources, concurrency, signal, closed, graceMs });
    const begin = this.beginRun.bind(this);
    const onEnd = (run: CompanyRun, ended: EndedRun) => {
      counters.add(run);
      counters.countRun(ended);
      releaseMemory(mirror.db);
      if (!run.request.quick) this.fetchFiles();
    };
    const afterRun = () => afterRuns.add(company.name, "all");
    const followed = { begin, perform: performRun, onEnd, afterRun };
    const runQueue = new RunQueue({ context, places: runPlaces, closed, ...followed });
    this.runQueue = runQueue;
    const fetchSome = () => afterRuns.add(company.name, "files", closed);
    const isRunning = () => runQueue.current !== null;
    const filing = { config, company, resources, db: mirror.db, isRunning, fetchSome, closed };
    this.fetchFiles = createIdleFetch({ context, ...filing });
    const isServiceThere = () => this.eventWorker.state().state === "working";
    const runs = { context, mirror, runQueue, resources, schedule, closed, isServiceThere };
    this.scheduler = new RunScheduler({ ...runs, makesUpQuick: hooks !== undefined });
  }

  /** Opens the mirror. The caller holds the writer lock. Throws what opening a database throws. */
  static async open(options: RuntimeOptions): Promise<CompanyRuntime> {
    const { context, settings, lock, turns, hooks } = options;
    const notices = createNotices(context.log);
    const file = mirrorFiles(settings.config, settings.company.name).mirror;
    const mirror = await openMirror(file, context.manifest, notices.store, { ...context, lock, turns });
    releaseMemory(mirror.db);
    try {
      await turns.next();
      hooks?.onOpen(mirror);
      return new CompanyRuntime(options, mirror, notices);
    } catch (error) {
      mirror.close();
      throw error;
    }
  }

  /** Works until `closed`; rejects when the mirror cannot be used any more. The mirror is closed then, either way. */
  async run(): Promise<void> {
    try {
      this.startTasks();
      await Promise.race([Promise.all(this.tasks), this.failure.promise]);
    } finally {
      this.closing.abort();
      await Promise.allSettled([...this.tasks, this.eventWorker.ended]);
      await this.runQueue.idle();
      await this.close();
    }
  }

  /** Can deliveries of this company be verified? */
  get receives(): boolean {
    return this.keyring.accepted().length > 0;
  }

  private startTasks(): void {
    const { mirror, runQueue, uptime, scheduler, closed, isListing } = this;
    const { context, settings, lock, turns, hooks, refusals, afterRuns } = this.options;
    const { company, config } = settings;
    const { clock, log, manifest } = context;
    this.ingest.requeueLost(clock.nowMs());
    const reason = scheduler.reasonNow(this.receives, uptime.spans());
    const replay = (ids: readonly string[]) => this.ingest.replay(ids, clock.nowMs());
    const progressOf = (request: RunRequest) => {
      const { current } = runQueue;
      return current?.request === request ? progressView(current.run) : null;
    };
    refusals.acceptedAt(Date.parse(new InboxView(mirror.db).lastReceived() ?? ""));
    const keys = () => this.keyring.accepted();
    const skewMs = () => this.service.skew.skewMs();
    const service = () => this.eventWorker.state();
    const pruner = new Pruner({ context, db: mirror.db, retention: config.retention, isListing, closed });
    this.track(pruner.follow());
    const onGap = (why: string | null) => this.track(this.recoverFromGap(why));
    const onWriteProblem = (problem: string | null) => (this.writeProblem = problem);
    const refused = { refusals, keys, skewMs, receivedSpans: hooks?.receivedSpans };
    const prune = () => pruner.prune();
    const perform = createPerform({ manifest, clock, closed, runQueue, replay, prune, progressOf });
    const { socket } = mirrorFiles(config, company.name);
    // Nobody asks a worker of a fleet.
    const open = hooks ? null : serveCommands({ file: socket, clock, log, closed, perform });
    const orders = () => [...(open ?? [])];
    const watched = { logWatch: this.logWatch, ...refused, service, orders, onGap, onWriteProblem };
    this.track(this.eventWorker.ended);
    this.track(scheduler.follow(reason));
    this.track(scheduler.followQuick(config.schedule));
    const publish = async () => {
      await afterRuns.add(company.name, "report", closed);
      this.fetchFiles();
    };
    this.track(scheduler.followPublish(config.schedule, publish));
    this.track(this.republish(publish));
    // A run fetches them at its end.
    if (reason === null) this.fetchFiles();
    this.track(scheduler.followBackup(config, () => this.backUp()));
    this.track(runHeartbeat({ context, mirror, lock, uptime, closed, turns, ...watched }));
    const operations = manifest.webhooks?.subscriptions;
    const access = { transport: this.service.transport, random: context.random, lane: "webhook" } as const;
    const list = operations
      ? (signal: AbortSignal) => createSubscriptions({ ...access, operations, signal }).list()
      : null;
    this.track(askAboutRefusals({ refusals, company, list, skewMs, clock, log, closed }));
  }

  /** Has what an earlier process did not make after its run made now, and the report written again after events. */
  private async republish(publish: () => Promise<void>): Promise<void> {
    const { closed, isListing } = this;
    const { db } = this.mirror;
    const { context, settings, afterRuns } = this.options;
    const { config, company } = settings;
    if (isAfterRunOwed(db, config, company.name)) await afterRuns.add(company.name, "all", closed);
    const { publish: when, publishEveryMs: everyMs } = config.schedule;
    if (when !== "after_sync" || everyMs === null) return;
    const { afterRun: file } = mirrorFiles(config, company.name);
    await republishAfterEvents({ context, db, file, everyMs, isListing, publish, closed });
  }

  /** Has a backup made by another process. False: it did not succeed. */
  private async backUp(): Promise<boolean> {
    const { afterRuns, settings } = this.options;
    const { afterRun } = mirrorFiles(settings.config, settings.company.name);
    const before = readSteps(afterRun)[backupStep];
    await afterRuns.add(settings.company.name, "backup", this.closed);
    return hasSucceededSince(before, readSteps(afterRun)[backupStep]);
  }

  /** Does a run read what lists show? */
  private readonly isListing = () => {
    const { current } = this.runQueue;
    return current !== null && current.run.tally.scrubPlanned === null;
  };

  private track(task: Promise<void>): void {
    this.tasks.push(task);
    task.catch(this.failure.reject);
  }

  /** Deliveries were not received for a while: events may have been lost. */
  private async recoverFromGap(why: string | null): Promise<void> {
    const { log, clock } = this.options.context;
    const reason = this.scheduler.reasonNow(this.receives, this.uptime.spans());
    if (why !== null) log.warn(why);
    if (reason !== null) await this.scheduler.runUntilWhole(clock.nowMs(), reason);
  }

  private beginRun(request: RunRequest, closed: AbortSignal, scrubbing: Scrubbing): CompanyRun {
    const { mirror, queue, service, options } = this;
    const { context, settings, signal } = options;
    const { config, company } = settings;
    const transport = service.limited({ closed, mostRequests: request.mostRequests });
    const counted = { tally: new Tally(), notices: this.notices.begin() };
    const opened = { mirror, queue, transport, rateLimiter: service.rateLimiter, ...counted };
    const startedMs = context.clock.monotonicMs();
    const limited = { ...request, closed };
    const times = { startedMs, signal, graceMs };
    return { context, config, company, request: limited, ...opened, ...times, ...scrubbing };
  }

  private async close(): Promise<void> {
    const { context, counters, turns } = this.options;
    try {
      await turns.next();
      this.uptime.end(context.clock.nowMs());
    } finally {
      await this.service.close();
      await turns.next();
      // Without a pause in between, so that a reader of the status counts nothing twice.
      counters.add({ tally: this.eventWorker.tally, transport: this.service.transport });
      this.mirror.close();
    }
  }
}
