import { hash } from "node:crypto";
import type { Db, PgBoss } from "pg-boss";
import { waitAtMost } from "../../base/cancellation.ts";
import { systemClock } from "../../base/clock.ts";
import { codeOf, messageOf, MirrorError } from "../../base/errors.ts";
import { createSeldomLog, type Log } from "../../base/logger.ts";
import { loadPackage, type Postgres, type Sql } from "../postgres/connection.ts";
import { CompaniesTable } from "../postgres/tables/companies-table.ts";

/**
 * What a job says: look at this company. `run`: its schedule has come. `events`: there are deliveries. `later`: what it
 * left when it was released is due. `package`: the package of a month was asked for.
 */
export const jobKinds = ["run", "events", "later", "package"] as const;
export type JobKind = (typeof jobKinds)[number];

export interface FleetJob {
  readonly kind: JobKind;
  readonly id: string;
  readonly company: string;
  /** How often it was taken before, by processes that lost it. */
  readonly retryCount: number;
}

export type WaitingJobs = Awaited<ReturnType<typeof readWaitingJobs>>[number];

export type JobEngine = Awaited<ReturnType<typeof startJobEngine>>;

interface Pattern {
  readonly pattern: string;
  readonly timezone: string;
}

/** Its jobs: a pattern of cron has come. */
const schedulesQueue = "schedules";

/** Seconds, as pg-boss counts. */
const times = {
  /** A job that was taken and not completed for so long was lost. */
  heartbeatSeconds: 10,
  /** Between two passes that bring back lost jobs, and between two that look at the schedules. */
  passSeconds: 10,
  /** Completed jobs say nothing that is not known elsewhere, and pg-boss counts all that are kept in each pass. */
  deleteAfterSeconds: 60,
  maintenanceSeconds: 60,
  /** Parts of pg-boss that nothing here uses. */
  unusedSeconds: 3_600,
};

/** A job is lost by processes that end before they have claimed its company, or come while it is being released. */
const retryLimit = 1_000;
const sentAtOnce = 1_000;
const stopTimeoutMs = 2_000;
const sameErrorMs = 60_000;

/**
 * The jobs of a fleet, in pg-boss.
 *
 * Guarantee: one job of each kind per company is queued or taken at a time. A job that is taken and not completed is taken
 * again within half a minute, as long as a worker runs. A moment of a schedule sends one job to each of its companies;
 * all moments in which no worker ran send one. Errors of pg-boss' own work are logged.
 * Source of truth: none needed: what is to be done follows from the data, so a lost, doubled or late job does no harm.
 * Worst outcome of a crash: taken jobs are taken again by another process.
 *
 * Installs or migrates pg-boss' schema, and starts its loops.
 *
 * @throws MirrorError `config` where pg-boss is not installed, `database`
 */
export async function startJobEngine(postgres: Postgres, log: Log, isWorker: boolean) {
  const boss = await openBoss(postgres, isWorker);
  // Its loops fail every second while Postgres is away.
  const logSeldom = createSeldomLog(log, systemClock, sameErrorMs);
  boss.on("error", (thrown) => {
    const error = messageOf(thrown);
    logSeldom(error, "the job engine failed; it goes on", { error });
  });
  boss.on("warning", ({ message }) => log.warn("the job engine warns", { warning: message }));
  /**
   * Ends the loops, and waits a bounded time for their statements: Postgres may be away. What is taken is taken by others
   * after a while. Never rejects.
   */
  const stop = async (): Promise<void> => {
    const stopped = boss.stop({ graceful: false, close: false }).catch(() => undefined);
    await waitAtMost(stopTimeoutMs, stopped);
  };
  /** Sends a job to each of these companies that has none of this kind. `sql`: within a transaction. */
  const send = async (kind: JobKind, companies: readonly string[], sql?: Sql): Promise<void> => {
    for (let from = 0; from < companies.length; from += sentAtOnce) {
      const some = companies.slice(from, from + sentAtOnce);
      const jobs = some.map((company) => ({ data: { company }, singletonKey: company }));
      await boss.insert(kind, jobs, sql && { db: databaseOf(sql) });
    }
  };
  const looking = { pollingIntervalSeconds: times.passSeconds };
  const followSchedules = async () => {
    const companies = new CompaniesTable(postgres);
    await boss.work<Pattern>(schedulesQueue, looking, async (jobs) => {
      for (const { data } of jobs)
        await send("run", await companies.scheduledBy(data.pattern, data.timezone));
    });
  };
  try {
    await boss.start();
    await createQueues(boss);
    if (isWorker) await followSchedules();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    send,
    stop,
    [Symbol.asyncDispose]: stop,
    /** Has a company looked at in so many milliseconds, instead of what was asked for before; not beside a taken one. */
    sendLater: async (company: string, delayMs: number): Promise<void> => {
      const startAfter = Math.max(0, Math.ceil(delayMs / 1_000));
      await boss.upsert("later", { company }, { singletonKey: company, startAfter });
    },
    /** Takes up to so many jobs. Whoever claims their companies completes them at once. */
    fetch: async (kind: JobKind, count: number): Promise<FleetJob[]> => {
      const jobs = await boss.fetch<{ readonly company: string }>(kind, { batchSize: count });
      return jobs.map(({ id, data: { company }, retryCount }) => ({ kind, id, company, retryCount }));
    },
    /** One that was lost meanwhile is left alone. */
    complete: async ({ kind, id, retryCount }: FleetJob): Promise<void> => {
      await boss.complete(kind, { id, retryCount });
    },
    /**
     * Has a `run` job sent by a cron pattern in a time zone, to the companies that have it when it comes. A pattern that
     * no company has any more sends none.
     *
     * @throws MirrorError `config` for a pattern that pg-boss cannot read
     */
    schedule: async (pattern: string, timezone: string): Promise<void> => {
      const key = hash("sha256", `${timezone} ${pattern}`);
      const data: Pattern = { pattern, timezone };
      try {
        await boss.schedule(schedulesQueue, pattern, data, { tz: timezone, key, missed: "once" });
      } catch (error) {
        if (error instanceof MirrorError) throw error;
        throw unreadablePattern(pattern, error);
      }
    },
    /** Has one of all workers do this every minute, until its process ends. What fails is tried again a minute later. */
    everyMinute: async (name: string, step: () => Promise<void>): Promise<void> => {
      const { heartbeatSeconds, deleteAfterSeconds } = times;
      if (!(await boss.getQueue(name)))
        await boss.createQueue(name, { heartbeatSeconds, deleteAfterSeconds, policy: "exclusive" });
      await boss.schedule(name, "* * * * *");
      await boss.work(name, looking, step);
    },
  };
}

function unreadablePattern(pattern: string, cause: unknown): MirrorError {
  return new MirrorError("config", `"${pattern}" cannot be scheduled in Postgres: ${messageOf(cause)}`, {
    hint: "Use the five usual fields of cron: minute, hour, day of month, month, day of week.",
    cause,
  });
}

/** Jobs that are due and taken by no node, for each kind, as pg-boss counted them in its last pass. */
export async function readWaitingJobs(postgres: Postgres) {
  const boss = await openBoss(postgres, false);
  const queues = new Map((await boss.getQueues([...jobKinds])).map((queue) => [queue.name, queue]));
  return jobKinds.map((kind) => {
    const { readyCount = 0, readyOldestSeconds = 0 } = queues.get(kind) ?? {};
    /** `oldestMs`: how long the oldest of them waits; 0: there is none. */
    return { kind, count: readyCount, oldestMs: Number(readyOldestSeconds) * 1_000 };
  });
}

async function openBoss(postgres: Postgres, isWorker: boolean): Promise<PgBoss> {
  const missing = "companies are shared through pg-boss, which is not installed";
  const { PgBoss: Boss } = await loadPackage(() => import("pg-boss"), missing);
  return new Boss({
    db: databaseOf(postgres),
    schema: "pgboss",
    supervise: isWorker,
    schedule: isWorker,
    registerInstance: false,
    openTelemetry: { enabled: false },
    superviseIntervalSeconds: times.passSeconds,
    monitorIntervalSeconds: times.passSeconds,
    cronMonitorIntervalSeconds: times.passSeconds,
    cronWorkerIntervalSeconds: times.passSeconds,
    maintenanceIntervalSeconds: times.maintenanceSeconds,
    flowIntervalSeconds: times.unusedSeconds,
    // How long the oldest job waits is counted with it.
    persistQueueStats: true,
    queueStatRetentionDays: 1,
  });
}

async function createQueues(boss: PgBoss): Promise<void> {
  const known = new Set((await boss.getQueues()).map(({ name }) => name));
  const { heartbeatSeconds, deleteAfterSeconds } = times;
  const options = { heartbeatSeconds, deleteAfterSeconds, retryLimit };
  if (!known.has(schedulesQueue)) await boss.createQueue(schedulesQueue, { deleteAfterSeconds, retryLimit });
  for (const kind of jobKinds)
    if (known.has(kind)) await boss.updateQueue(kind, options);
    else await boss.createQueue(kind, { ...options, policy: "exclusive" });
}

/** Our connections, as pg-boss asks for them. It knows errors by their SQLSTATE. */
function databaseOf(sql: Sql): Db {
  const executeSql = async (text: string, values?: unknown[]) => {
    try {
      return { rows: await sql.query(text, values) };
    } catch (error) {
      throw Object.assign(error as MirrorError, { code: codeOf((error as MirrorError).cause) });
    }
  };
  return { executeSql };
}
