import { InboxView } from "../state/inbox/inbox.ts";
import { openMirror, type Mirror } from "../state/mirror.ts";
import { UptimeLog } from "../state/uptime-log.ts";
import { WorkQueue } from "../state/work-queue.ts";
import { createLogWatch } from "../store/write-ahead-log.ts";
import type { WriterLock } from "../store/writer-lock.ts";
import { startEventWorker } from "../sync/event-worker/event-worker.ts";
import { releaseMemory } from "../store/database.ts";
import { CompanyIngest } from "../webhook/ingest/ingest.ts";
import { askAboutRefusals, type RefusalWatch } from "../webhook/delivery-gap/refusal-watch.ts";
import { createSubscriptions } from "../webhook/subscriptions/subscription-client.ts";
import { createKeyring, type ConfiguredKeyring } from "../webhook/keys/keyring.ts";
import { serveCommands } from "./commands.ts";
import type { OpenCompany } from "./host-context.ts";
import type { CompanyCounters } from "./counters.ts";
import { ChangePusher } from "./change-pusher.ts";
import { followRuns } from "./company-after-run.ts";
import { createBeat, createReceiverNote, createNote, runHeartbeat } from "./heartbeat.ts";
import { createCompanyRun, type CompanyRun } from "../runs/company-run.ts";
import { ordersKey, serviceKey, serviceNote } from "../status/event-status.ts";
import { stopDeadlines } from "../runs/process-context.ts";
import { RunQueue, type RunEnd } from "../runs/run-queue.ts";
import { connectService, type ServiceConnection } from "../runs/service-connection.ts";
import { createPruner } from "./pruner.ts";
import { RunScheduler } from "./run-scheduler.ts";

const graceMs = stopDeadlines.requests;

/** `closed` ends the runtime: what is in flight may finish within `graceMs`. */
interface RuntimeOptions extends Pick<OpenCompany, "context" | "settings" | "hooks" | "closed"> {
  readonly counters: CompanyCounters;
  readonly refusals: RefusalWatch;
  readonly lock: WriterLock;
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
  readonly eventWorker: ReturnType<typeof startEventWorker>;
  readonly runQueue: RunQueue;
  readonly logWatch: ReturnType<typeof createLogWatch>;
  readonly scheduler: RunScheduler;
  /** Why the mirror cannot be written; null: it can. */
  writeProblem: string | null = null;
  private readonly options: RuntimeOptions;
  private readonly company: OpenCompany;
  private readonly closing = new AbortController();
  private readonly uptime: UptimeLog;
  readonly afterRun: ReturnType<typeof followRuns>;
  readonly pushers: readonly ChangePusher[];
  private readonly tasks: Promise<void>[] = [];
  /** Rejects with the first task that fails. */
  private readonly failure = Promise.withResolvers<never>();

  private constructor(options: RuntimeOptions, mirror: Mirror) {
    const { context, settings, hooks, signal } = options;
    const { clock, random, log, onSecrets } = context;
    const { config, resources, company, files } = settings;
    const closed = AbortSignal.any([options.closed, this.closing.signal]);
    const queue = new WorkQueue(mirror.db);
    this.options = options;
    this.mirror = mirror;
    this.queue = queue;
    this.keyring = createKeyring({ ...company.webhook, file: files.secrets, clock, onSecrets });
    this.uptime = new UptimeLog(mirror.db);
    this.logWatch = createLogWatch(mirror.db.name, log, () => clock.monotonicMs());
    const selected = new Set(resources.map(({ name }) => name));
    this.ingest = new CompanyIngest({ mirror, queue, selected, keyring: this.keyring });
    this.service = connectService(
      context,
      { ...settings, guard: hooks?.requests },
      { events: this.receives, forEventWorker: true },
    );
    const token = company.token.known ? company.token.reveal() : "";
    this.eventWorker = startEventWorker(
      { mirror, queue, transport: this.service.transport, clock, random, log, token },
      { resources, concurrency: config.http.concurrency, signal, closed, graceMs },
    );
    this.runQueue = new RunQueue({
      context,
      places: context.runPlaces,
      closed,
      begin: (request) => {
        const { limited, rateLimiter } = this.service;
        return createCompanyRun(context, settings, mirror, limited(request), rateLimiter, request);
      },
      perform: (run, scrubbing) => run.perform(signal, scrubbing, { queue, graceMs }),
      onEnd: (run, ended) => this.countRun(run, ended),
      afterRun: () => context.afterRuns.add(company.name, "all"),
    });
    this.company = { context, settings, mirror, runQueue: this.runQueue, hooks, closed };
    this.afterRun = followRuns(this.company);
    this.pushers = config.notify.map((receiver) => new ChangePusher(this.company, receiver, signal));
    const isServiceThere = () => this.eventWorker.state().state === "working";
    this.scheduler = new RunScheduler(this.company, isServiceThere);
  }

  /** Opens the mirror. The caller holds the writer lock. Throws what opening a database throws. */
  static async open(options: RuntimeOptions): Promise<CompanyRuntime> {
    const { context, settings, lock, hooks } = options;
    const { turns } = context;
    const mirror = await openMirror(settings.files.mirror, settings.declaration, { ...context, lock });
    releaseMemory(mirror.db);
    try {
      await turns.next();
      hooks?.onOpen(mirror);
      return new CompanyRuntime(options, mirror);
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

  get receives(): boolean {
    return this.keyring.accepted().length > 0;
  }

  private startTasks(): void {
    const { mirror, uptime, scheduler, service, afterRun } = this;
    const pruner = createPruner(this.company);
    const { closed } = this.company;
    const { context, settings, lock, hooks, refusals } = this.options;
    const { company, declaration } = settings;
    const { clock, random } = context;
    this.ingest.requeueLost(clock.nowMs());
    // Receivers of a fleet go on; the span of `serve` before this one is over.
    const reason = scheduler.reasonNow(this.receives, uptime.spans(hooks ? clock.nowMs() : 0));
    refusals.acceptedAt(new InboxView(mirror.db).lastReceived());
    const skewMs = () => service.skew.skewMs();
    // Nobody asks a worker of a fleet.
    const orders = hooks
      ? null
      : serveCommands(this.company, {
          replay: (ids, into) => this.ingest.replay(ids, clock.nowMs(), into),
          prune: pruner.prune,
        });
    // Nobody waits for its end: the other process may hang. It leaves the mirror alone once this is closed.
    hooks?.followInbox(this, closed).catch(this.failure.reject);
    this.track(pruner.follow());
    this.track(this.eventWorker.ended);
    this.track(scheduler.follow(reason));
    this.track(scheduler.followQuick());
    this.track(scheduler.followPublish(() => afterRun.publish()));
    this.track(scheduler.followBackup(() => afterRun.backUp()));
    this.track(afterRun.follow());
    for (const pusher of this.pushers) this.track(pusher.follow());
    // A run fetches them at its end.
    if (reason === null) afterRun.fetchFiles();
    const keys = () => this.keyring.accepted();
    const onGap = (why: string | null) => this.track(this.recoverFromGap(why));
    const steps = [
      createNote(mirror, serviceKey, () => serviceNote(this.eventWorker.state())),
      createNote(mirror, ordersKey, () => [...(orders ?? [])]),
      () => this.logWatch.look(),
      () => refusals.observe(skewMs(), keys()),
      createReceiverNote(context, mirror, refusals, skewMs),
      createBeat(context, uptime, refusals, keys, onGap, hooks && (() => hooks.mergeReceived(uptime))),
    ];
    const onWriteProblem = (problem: string | null) => (this.writeProblem = problem);
    this.track(runHeartbeat(context, mirror, lock, steps, onWriteProblem, closed));
    const operations = declaration.webhooks?.subscriptions;
    const list = operations
      ? (ended: AbortSignal) =>
          createSubscriptions(service.transport, operations, random, ended, "webhook").list()
      : null;
    this.track(askAboutRefusals(context, refusals, company, list, skewMs, closed));
  }

  private countRun(run: CompanyRun, ended: RunEnd): void {
    this.options.counters.countRun(run, ended, run.request.quick);
    releaseMemory(this.mirror.db);
    // Where a run failed, fetching would fail for the same reason.
    if (!run.request.quick && ended.message === null) this.afterRun.fetchFiles();
  }

  private track(task: Promise<void>): void {
    this.tasks.push(task);
    task.catch(this.failure.reject);
  }

  private async recoverFromGap(why: string | null): Promise<void> {
    const { log, clock } = this.options.context;
    const reason = this.scheduler.reasonNow(this.receives, this.uptime.spans(clock.nowMs()));
    if (why !== null) log.warn(why);
    if (reason !== null) await this.scheduler.runUntilWhole(clock.nowMs(), reason);
  }

  private async close(): Promise<void> {
    const { context, counters } = this.options;
    const { turns, clock } = context;
    try {
      await turns.next();
      this.uptime.end(clock.nowMs());
    } finally {
      await this.service[Symbol.asyncDispose]();
      await turns.next();
      // Without a pause in between, so that a reader of the status counts nothing twice.
      counters.add({ tally: this.eventWorker.tally, transport: this.service.transport });
      this.mirror.close();
    }
  }
}
