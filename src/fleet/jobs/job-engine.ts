import type { PgBoss } from "pg-boss";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { Postgres, Sql } from "../postgres/connection.ts";
import { intervalOf } from "../postgres/sql-time.ts";
import { databaseOf, importPgBoss, seldom } from "./pg-boss.ts";

/**
 * What a job says: look at this company. `run`: its schedule has come. `events`: there are deliveries. `later`: what it
 * left when it was released is due.
 */
export const jobKinds = ["run", "events", "later"] as const;
export type JobKind = (typeof jobKinds)[number];

/** A job that this process has taken. */
export interface Job {
  readonly kind: JobKind;
  readonly id: string;
  readonly company: string;
  /** How often it was taken before, by processes that lost it or failed. */
  readonly retryCount: number;
}

export interface JobEngineParts {
  readonly postgres: Postgres;
  readonly log: Log;
}

/** Where pg-boss has its tables. */
export const schema = "pgboss";
/** Jobs that failed too often; nobody fetches from it. */
export const failedQueue = "failed";

/** Seconds, as pg-boss counts. */
const times = {
  /** A job that is not touched for so long was lost. */
  heartbeatSeconds: 14,
  /** Between two passes that bring back lost jobs, of all processes together. */
  passSeconds: 3,
  expireInSeconds: 23 * 3_600,
  /** Completed jobs say nothing that is not known elsewhere, and pg-boss counts all that are kept every few seconds. */
  deleteAfterSeconds: 60,
  maintenanceSeconds: 60,
  keepFailedSeconds: 14 * 86_400,
  /** Parts of pg-boss that nothing here uses. */
  unusedSeconds: 3_600,
};

/** Pause of each process that takes jobs after `maintain`. */
export const maintainEveryMs = times.passSeconds * 1_000;

/** So often a job is tried again: a company whose work kills process after process stops doing so. */
const retryLimit = 10;

const stopTimeoutMs = 2_000;

/**
 * The jobs of a fleet, in pg-boss' tables beside our own.
 *
 * Guarantee: one job of each kind per company is queued or taken at a time. A job whose process died is taken again within
 * about `heartbeatSeconds` and `passSeconds`, as long as a process calls `maintain`. Errors of pg-boss' own work are
 * logged.
 * Source of truth: none needed: what is to be done follows from the data, so a lost, doubled or late job does no harm.
 * Worst outcome of a crash: taken jobs are taken again by another process.
 */
export class JobEngine {
  private readonly boss: PgBoss;
  private readonly postgres: Postgres;
  private readonly logFailure: (error: unknown) => void;

  private constructor(boss: PgBoss, { postgres, log }: JobEngineParts) {
    const logSeldom = seldom((error: string) => log.warn("the job engine failed; it goes on", { error }));
    this.boss = boss;
    this.postgres = postgres;
    this.logFailure = (error) => logSeldom(messageOf(error));
  }

  /**
   * Installs or migrates pg-boss' schema, and starts its loops.
   *
   * @throws MirrorError `config` where pg-boss is not installed, `database`
   */
  static async start(parts: JobEngineParts): Promise<JobEngine> {
    const { postgres, log } = parts;
    const { PgBoss: Boss } = await importPgBoss();
    const boss = new Boss({
      db: databaseOf(postgres),
      schema,
      // `maintain` does, in one process at a time.
      supervise: false,
      // `ScheduledRuns` sends what is scheduled.
      schedule: false,
      registerInstance: false,
      openTelemetry: { enabled: false },
      monitorIntervalSeconds: times.passSeconds,
      maintenanceIntervalSeconds: times.maintenanceSeconds,
      flowIntervalSeconds: times.unusedSeconds,
    });
    const engine = new JobEngine(boss, parts);
    boss.on("error", engine.logFailure);
    boss.on("warning", ({ message }) => log.warn("the job engine warns", { warning: message }));
    try {
      await boss.start();
      await createQueues(boss);
    } catch (error) {
      await engine.stop();
      throw error;
    }
    return engine;
  }

  /**
   * Brings back lost jobs and deletes old ones, unless another process has done so in the last seconds: pg-boss' own loop
   * needs several statements in each process to find that out. A pass that fails is logged. Throws MirrorError `database`
   * where Postgres is away.
   */
  async maintain(): Promise<void> {
    const due = await this.postgres.query(passDue, [maintainEveryMs]);
    if (due.length > 0) await this.boss.supervise().catch(this.logFailure);
  }

  /** Sends a job unless one of this kind and company is there. False: it is there. */
  async send(kind: JobKind, company: string): Promise<boolean> {
    return (await this.boss.send(kind, { company }, { singletonKey: company })) !== null;
  }

  /** As `send`, for many companies in one statement. `sql`: within a transaction. */
  async sendAll(kind: JobKind, companies: readonly string[], sql?: Sql): Promise<void> {
    if (companies.length === 0) return;
    const jobs = companies.map((company) => ({ data: { company }, singletonKey: company }));
    await this.boss.insert(kind, jobs, sql && { db: databaseOf(sql) });
  }

  /** As `send`, within a transaction: the job is there when the transaction is committed, and not otherwise. */
  async sendWithin(sql: Sql, kind: JobKind, company: string): Promise<boolean> {
    const db = databaseOf(sql);
    return (await this.boss.send(kind, { company }, { singletonKey: company, db })) !== null;
  }

  /** Has a company looked at in so many milliseconds; what was asked for before is forgotten. */
  async sendLater(company: string, delayMs: number): Promise<void> {
    const startAfter = Math.max(0, Math.ceil(delayMs / 1_000));
    await this.boss.upsert("later", { company }, { singletonKey: company, startAfter });
  }

  /** The kinds of which a job is due: one statement where most of the time there is none of any. */
  async dueKinds(): Promise<JobKind[]> {
    const rows = await this.postgres.query<{ kind: JobKind }>(dueKinds, [[...jobKinds]]);
    return jobKinds.filter((kind) => rows.some((row) => row.kind === kind));
  }

  /** Takes up to so many jobs. They are this process's as long as they are touched. */
  async fetch(kind: JobKind, count: number): Promise<Job[]> {
    const jobs = await this.boss.fetch<{ readonly company: string }>(kind, { batchSize: count });
    return jobs.map(({ id, data: { company }, retryCount }) => ({ kind, id, company, retryCount }));
  }

  /** Keeps jobs taken. Those that are not this process's any more are left alone. */
  async touch(jobs: readonly Job[]): Promise<void> {
    for (const [kind, some] of byKind(jobs)) await this.boss.touch(kind, some);
  }

  async complete(jobs: readonly Job[]): Promise<void> {
    for (const [kind, some] of byKind(jobs)) await this.boss.complete(kind, some);
  }

  /** Gives a job back for `delayMs`. After `retryLimit` attempts it is set aside among the failed ones. */
  async fail({ kind, id, retryCount }: Job, why: string, delayMs: number): Promise<void> {
    await this.postgres.transaction(async (sql) => {
      const db = databaseOf(sql);
      await this.boss.fail(kind, [{ id, retryCount }], { message: why }, { db });
      await this.boss.update(kind, undefined, { id, startAfter: Math.ceil(delayMs / 1_000), db });
    });
  }

  /** Those of these companies of which a job was set aside within that time. */
  async setAside(companies: readonly string[], withinMs: number): Promise<ReadonlySet<string>> {
    const rows = await this.postgres.query<{ company: string }>(
      `SELECT DISTINCT singleton_key AS company FROM ${schema}.job
       WHERE name = $1 AND singleton_key = ANY($2::text[]) AND created_on > now() - ${intervalOf("$3")}`,
      [failedQueue, companies, withinMs],
    );
    return new Set(rows.map(({ company }) => company));
  }

  /**
   * Has `ScheduledRuns` send a `run` job by a cron pattern in a time zone. `sql`: within a transaction.
   *
   * @throws MirrorError `config` for a pattern that pg-boss cannot read
   */
  async schedule(company: string, pattern: string, timezone: string, sql?: Sql): Promise<void> {
    const db = sql && { db: databaseOf(sql) };
    try {
      await this.boss.schedule("run", pattern, { company }, { tz: timezone, key: company, ...db });
    } catch (error) {
      if (error instanceof MirrorError) throw error;
      throw new MirrorError("config", `"${pattern}" cannot be scheduled in Postgres: ${messageOf(error)}`, {
        hint: "Use the five usual fields of cron: minute, hour, day of month, month, day of week.",
        cause: error,
      });
    }
  }

  async unschedule(company: string, sql?: Sql): Promise<void> {
    await this.boss.unschedule("run", company, sql && { db: databaseOf(sql) });
  }

  /**
   * Ends the loops, and waits a bounded time for their statements: Postgres may be away. What is taken stays taken until
   * it is not touched any more. Never rejects.
   */
  async stop(): Promise<void> {
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, stopTimeoutMs);
    const stopped = this.boss.stop({ graceful: false, close: false }).catch(() => undefined);
    await Promise.race([stopped, timeout.promise]).finally(() => clearTimeout(timer));
  }
}

/** What can be fetched is among it. */
const dueKinds = `SELECT k.kind FROM unnest($1::text[]) AS k (kind) WHERE EXISTS (
  SELECT FROM ${schema}.job j
  WHERE j.name = k.kind AND j.state IN ('created', 'retry') AND NOT j.blocked AND j.start_after <= now())`;

/** A row where a queue waits for its pass. */
const passDue = `SELECT FROM ${schema}.queue
  WHERE coalesce(monitor_claim_on, monitor_on, '-infinity') <= now() - ${intervalOf("$1")} LIMIT 1`;

async function createQueues(boss: PgBoss): Promise<void> {
  const known = new Set((await boss.getQueues()).map(({ name }) => name));
  if (!known.has(failedQueue))
    await boss.createQueue(failedQueue, { retentionSeconds: times.keepFailedSeconds });
  const { heartbeatSeconds, expireInSeconds, deleteAfterSeconds } = times;
  const retries = { retryLimit, retryDelay: 0, retryBackoff: false };
  const options = {
    ...retries,
    heartbeatSeconds,
    expireInSeconds,
    deleteAfterSeconds,
    deadLetter: failedQueue,
  };
  for (const kind of jobKinds)
    if (known.has(kind)) await boss.updateQueue(kind, options);
    else await boss.createQueue(kind, { ...options, policy: "exclusive" });
}

function byKind(jobs: readonly Job[]): Map<JobKind, Job[]> {
  const sorted = new Map<JobKind, Job[]>();
  for (const job of jobs) sorted.set(job.kind, [...(sorted.get(job.kind) ?? []), job]);
  return sorted;
}
