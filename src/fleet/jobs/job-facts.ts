import type { Postgres } from "../postgres/connection.ts";
import { epochMs } from "../postgres/sql-time.ts";
import { failedQueue, jobKinds, schema, type JobKind } from "./job-engine.ts";

/** Jobs of a kind that wait. */
export interface WaitingJobs {
  readonly kind: JobKind;
  readonly count: number;
  /** How long the oldest of them waits; 0: there is none. */
  readonly oldestMs: number;
}

/** The last job of a company that failed. */
export interface FailedJob {
  readonly company: string;
  readonly atMs: number;
  readonly reason: string;
  /** When it is tried again, in ms; null: it was set aside. */
  readonly againInMs: number | null;
}

/** When runs of a company are made. */
export interface CompanySchedule {
  readonly company: string;
  /** Of cron. */
  readonly pattern: string;
  readonly timezone: string;
}

/** Jobs that are due and taken by no node, for each kind. */
export function readWaitingJobs(postgres: Postgres): Promise<WaitingJobs[]> {
  return postgres.query(
    `SELECT k.kind, count(j.id)::int AS count,
       coalesce(max(extract(epoch FROM now() - j.start_after)) * 1000, 0)::float8 AS "oldestMs"
     FROM unnest($1::text[]) AS k (kind)
     LEFT JOIN ${schema}.job j ON j.name = k.kind AND j.state < 'active' AND j.start_after <= now()
     GROUP BY k.kind`,
    [[...jobKinds]],
  );
}

/** The last job that failed of each company that has one: it was set aside, or waits to be tried again. */
export function readFailedJobs(postgres: Postgres): Promise<FailedJob[]> {
  return postgres.query(
    `SELECT DISTINCT ON (company) company, reason, "againInMs", ${epochMs("at")} AS "atMs"
     FROM (
       SELECT singleton_key AS company, created_on AS at, NULL::float8 AS "againInMs",
         coalesce(source_output ->> 'message', source_output -> 'value' ->> 'message', 'no reason was given') AS reason
       FROM ${schema}.job WHERE name = $1 AND state < 'active'
       UNION ALL
       -- A job whose node died has its reason elsewhere, and is taken within seconds.
       SELECT singleton_key, started_on, greatest(extract(epoch FROM start_after - now()), 0)::float8 * 1000,
         output ->> 'message'
       FROM ${schema}.job WHERE name = ANY($2::text[]) AND state = 'retry' AND output ? 'message'
     ) AS failed
     ORDER BY company, at DESC`,
    [failedQueue, [...jobKinds]],
  );
}

/** By which pattern runs of each company are scheduled; a company without one is left out. */
export function readSchedules(postgres: Postgres): Promise<CompanySchedule[]> {
  return postgres.query(
    `SELECT key AS company, cron AS pattern, timezone FROM ${schema}.schedule WHERE name = 'run'`,
  );
}
