import { mirrorFiles } from "../config/mirror-files.ts";
import type { ProgressView } from "../log/progress-view.ts";
import { parseCronSchedule, type CronSchedule } from "./scheduler/cron-schedule.ts";
import { openMirror, type Mirror } from "../state/mirror.ts";
import { isAlive, DaemonCommands } from "../state/daemon-commands.ts";
import type { CompanyReport } from "../sync/context/run-report.ts";
import { startEventWorker, type EventWorker } from "../sync/event-worker/event-worker.ts";
import { createIngest, type CompanyIngest } from "../webhook/ingest/ingest.ts";
import { createKeyring, type Keyring } from "../webhook/keys/keyring.ts";
import { WorkQueue } from "../state/work-queue.ts";
import { RunScheduler } from "./scheduler/run-scheduler.ts";
import { createNotices, type Notices } from "./runs/store-notices.ts";
import { processCommands } from "./commands/command-loop.ts";
import { performRun, type RunRequest } from "./runs/company-run.ts";
import type { RuntimeParts } from "./company-settings.ts";
import { UptimeLog } from "../state/uptime-log.ts";
import { followPublishing } from "./scheduler/publish-schedule.ts";
import { runHeartbeat } from "./heartbeat.ts";
import { RunQueue, type RunUnderWay } from "./runs/run-queue.ts";
import { progressView } from "./runs/run-progress.ts";
import { connectService, type Service } from "./runs/service-connection.ts";

/** A request in flight may take this long when the station ends. */
export const graceMs = 20_000;

/**
 * A mirror in the daemon's hands, from its opening to its closing: one connection, one queue and one way to the
 * service for deliveries, the reads they ask for, and runs.
 *
 * Guarantee: everything that shares the mirror has ended before it is closed. Source of truth: the mirror.
 * Worst outcome of a crash: the reads in flight are made once more, and orders are begun again.
 */
export class CompanyRuntime {
  readonly mirror: Mirror;
  readonly queue: WorkQueue;
  readonly mailbox: CompanyIngest;
  readonly service: Service;
  readonly tender: EventWorker;
  readonly desk: RunQueue;
  readonly slots: CronSchedule | null;
  private readonly parts: RuntimeParts;
  private readonly closing = new AbortController();
  /** Rejects when work that began later fails. */
  private readonly broken = Promise.withResolvers<never>();
  private readonly presence: UptimeLog;
  private readonly ring: Keyring;
  private readonly duties: RunScheduler;
  private readonly notices: Notices;

  private constructor(given: RuntimeParts, mirror: Mirror, notices: Notices) {
    const parts = { ...given, closed: AbortSignal.any([given.closed, this.closing.signal]) };
    const { settings, clock } = parts;
    const { config, company, resources } = settings;
    this.parts = parts;
    this.mirror = mirror;
    this.notices = notices;
    this.queue = new WorkQueue(mirror.db);
    this.presence = new UptimeLog(mirror.db);
    this.slots =
      config.schedule.sync === null
        ? null
        : parseCronSchedule(config.schedule.sync, config.schedule.timezone);
    this.ring = createKeyring({
      ...company.webhook,
      file: mirrorFiles(config, company.name).secrets,
      clock,
      onSecrets: parts.onSecrets,
    });
    this.mailbox = createIngest({
      mirror,
      queue: this.queue,
      selected: new Set(resources.map(({ name }) => name)),
      secrets: () => this.ring.accepted(),
      refresh: () => this.ring.refresh(),
      clock,
    });
    this.service = connectService(parts, config, company, { events: this.receives });
    this.tender = this.startTender();
    this.desk = this.newDesk();
    const asked = {
      resources,
      full: false,
      allowMassDelete: false,
      acceptIdentity: false,
      mostRequests: undefined,
    };
    this.duties = new RunScheduler({
      ...parts,
      mirror,
      desk: this.desk,
      asked: { ...asked, closed: parts.closed },
      slots: this.slots,
      isServiceThere: () => this.tender.state().state === "working",
    });
  }

  /** The caller holds the writer lock. */
  static async open(parts: RuntimeParts): Promise<CompanyRuntime> {
    const { settings, manifest, clock, log } = parts;
    const notices = createNotices(log);
    const file = mirrorFiles(settings.config, settings.company.name).mirror;
    const mirror = await openMirror(file, manifest, notices.store, clock);
    try {
      mirror.db.pragma(`busy_timeout = ${busyTimeoutMs}`);
      return new CompanyRuntime(parts, mirror, notices);
    } catch (error) {
      mirror.close();
      throw error;
    }
  }

  /** Does its work until `closed`; rejects when the mirror cannot be used any more. Either way it is closed then. */
  async live(): Promise<void> {
    const works: Promise<unknown>[] = [];
    try {
      works.push(...this.begin(works));
      await Promise.race([Promise.all(works), this.broken.promise]);
    } finally {
      this.closing.abort();
      await Promise.allSettled([...works, this.tender.ended]);
      await this.desk.idle();
      await this.end();
    }
  }

  /** Deliveries of this company can be verified. */
  get receives(): boolean {
    return this.ring.accepted().length > 0;
  }

  private begin(works: Promise<unknown>[]): Promise<void>[] {
    const { mirror, desk, presence, duties, tender, parts } = this;
    const orders = new DaemonCommands(mirror.db);
    const dropped = orders.dropStale(isAlive, parts.clock.nowMs());
    if (dropped > 0) parts.log.info("orders of processes that are gone are dropped", { count: dropped });
    this.mailbox.requeueLost();
    const reason = duties.reasonNow(this.receives, presence.spans());
    return [
      tender.ended,
      duties.follow(reason),
      followPublishing({ ...parts, mirror }),
      processCommands({
        ...parts,
        orders,
        desk,
        replay: (options) => this.replay(options),
        view: (asked) => this.progressOf(asked),
      }),
      runHeartbeat({
        ...parts,
        mirror,
        presence,
        receives: () => this.receives,
        service: () => tender.state(),
        onAbsence: () => void works.push(this.afterAbsence().catch(this.broken.reject)),
      }),
    ];
  }

  private async afterAbsence(): Promise<void> {
    const { log, clock } = this.parts;
    const reason = this.duties.reasonNow(this.receives, this.presence.spans());
    log.warn("nobody was here to receive for a while: the machine slept, or its clock was set");
    if (reason !== null) await this.duties.makeWhole(clock.nowMs(), reason);
  }

  private replay(options: unknown): unknown {
    const ids = (options as { readonly ids?: readonly string[] } | null)?.ids ?? [];
    const replayed = this.mailbox.replay(ids);
    this.tender.wake();
    return replayed;
  }

  private startTender(): EventWorker {
    const { mirror, queue, service, parts } = this;
    const { settings, clock, random, log, signal, closed } = parts;
    return startEventWorker(
      {
        mirror,
        queue,
        transport: service.transport,
        clock,
        random,
        log,
        token: settings.company.token.reveal(),
      },
      {
        resources: settings.resources,
        concurrency: settings.config.http.concurrency,
        signal,
        closed,
        graceMs,
      },
    );
  }

  private newDesk(): RunQueue {
    const { parts } = this;
    const { settings, totals, onRunEnd, afterRun, closed } = parts;
    return new RunQueue({
      ...parts,
      connect: ({ mostRequests, closed: over }) =>
        this.service.limited({
          closed: AbortSignal.any([over, closed]),
          ...(mostRequests === undefined ? {} : { mostRequests }),
        }),
      perform: (run) => this.perform(run),
      onEnd: ({ tally, transport }, ended) => {
        totals.add(tally, transport.stats());
        onRunEnd(ended);
      },
      afterRun: async (report) => {
        for (const step of afterRun) await step({ ...settings, report });
      },
    });
  }

  private perform(run: RunUnderWay): Promise<CompanyReport> {
    const { mirror, queue, parts } = this;
    const notices = this.notices.begin();
    const shared = { queue, lanes: "others" } as const;
    const closed = AbortSignal.any([run.asked.closed, parts.closed]);
    return performRun(
      { ...parts, ...parts.settings, ...run, mirror, notices, graceMs, shared },
      { ...run.asked, closed },
    );
  }

  /** How the run of an order stands; null: it has not begun. */
  private progressOf(asked: RunRequest): ProgressView | null {
    const { clock, settings } = this.parts;
    const run = this.desk.current;
    if (run?.asked !== asked) return null;
    return progressView({
      ...run,
      company: settings.company.name,
      mirror: this.mirror,
      rateLimiter: this.service.rateLimiter,
      clock,
      startedMs: clock.monotonicMs() - (clock.nowMs() - run.startedMs),
      windowMs: settings.config.rateLimit.windowMs,
    });
  }

  private async end(): Promise<void> {
    try {
      this.presence.end(this.parts.clock.nowMs());
    } finally {
      await this.service.close();
      // in one breath, so that whoever looks counts nothing twice
      this.parts.totals.add(this.tender.tally, this.service.transport.stats());
      this.mirror.close();
    }
  }
}

/** Everything in the process waits meanwhile. */
const busyTimeoutMs = 1_000;
