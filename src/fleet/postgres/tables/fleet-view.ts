import { assert } from "../../../base/errors.ts";
import type { Postgres } from "../connection.ts";
import { epochMs } from "../sql-time.ts";

/** What Postgres knows of one company, in one row. Times are epoch milliseconds by Postgres' clock. */
export interface CompanyView {
  readonly company: string;
  readonly addedAtMs: number;
  /** By which pattern of cron its runs are made; null: by none. */
  readonly schedule: string | null;
  readonly timezone: string | null;
  /** Its config names a secret for deliveries. */
  readonly receives: boolean;
  /** Null: it never had an owner. */
  readonly epoch: number | null;
  /** Null: it never had one, or was released. */
  readonly node: string | null;
  readonly expiresAtMs: number | null;
  /** Ownerships in a row, before that of `epoch`, that ended with the death of their node. */
  readonly losses: number | null;
  /** When it may be taken over; null: at once, or it is not lost. */
  readonly claimableAtMs: number | null;
  /** Why no node could hold it last, and when that was; null: one could. */
  readonly failure: string | null;
  readonly failedAtMs: number | null;
  /** Deliveries that are not in the published snapshot. */
  readonly waiting: number;
  /** When the oldest of them came. */
  readonly waitingSinceMs: number | null;
  /** By the clock of the node that took it; null: none was published. */
  readonly snapshotAtMs: number | null;
  readonly snapshotBytes: number | null;
  readonly seq: number | null;
  /** As the snapshot's pointer has them. */
  readonly lastRun: unknown;
  readonly failedStart: unknown;
  readonly summary: unknown;
  readonly reportAtMs: number | null;
}

/** Numbers of the server. */
export interface ServerView {
  readonly nowMs: number;
  readonly version: string;
  readonly databaseBytes: number;
  readonly inboxBytes: number;
  readonly changesBytes: number;
  readonly jobsBytes: number;
  readonly connections: number;
  readonly maxConnections: number;
  /** A transaction that stays open keeps Postgres from cleaning rows that change often. */
  readonly oldestTransactionMs: number;
  /** When workers noticed that the database was restored, and the last heartbeat in the backup; null: it never was. */
  readonly restoredMs: number | null;
  readonly setBackToMs: number | null;
}

/** Sums over all companies, from the indexes of those that are owned or wait. */
export interface FleetTotals {
  readonly companies: number;
  readonly held: number;
  /** Companies whose owner was lost. */
  readonly ended: number;
  /** Companies with deliveries that are not in a snapshot, and those of them without an owner. */
  readonly waiting: number;
  readonly unattended: number;
  /** How long the oldest delivery waits; 0: none does. */
  readonly oldestWaitingMs: number;
}

/** Every company of the fleet, by name, in one statement. */
export function readCompanyViews(postgres: Postgres): Promise<CompanyView[]> {
  return postgres.query(
    `SELECT c.name AS company, ${epochMs("c.added_at")} AS "addedAtMs", c.schedule, c.timezone,
       c.config #> ARRAY['companies', c.name, 'webhook', 'secrets', '0'] IS NOT NULL AS receives, o.epoch, o.node,
       ${epochMs("o.expires_at")} AS "expiresAtMs", o.losses, ${epochMs("o.claimable_at")} AS "claimableAtMs",
       o.failure, ${epochMs("o.failed_at")} AS "failedAtMs", greatest(h.seq - h.drained, 0) AS waiting,
       CASE WHEN h.waiting THEN ${epochMs(oldestOf("h"))} END AS "waitingSinceMs",
       ${epochMs("s.taken_at")} AS "snapshotAtMs", s.size_bytes AS "snapshotBytes", s.seq,
       s.facts -> 'last_run' AS "lastRun", s.facts -> 'failed_start' AS "failedStart", s.facts -> 'summary' AS summary,
       ${epochMs("r.published_at")} AS "reportAtMs"
     FROM fintoro_mirror.companies c
     LEFT JOIN fintoro_mirror.owners o ON o.company = c.name
     LEFT JOIN fintoro_mirror.inbox_heads h ON h.company = c.name
     LEFT JOIN fintoro_mirror.snapshots s ON s.company = c.name
     LEFT JOIN fintoro_mirror.reports r ON r.company = c.name
     WHERE NOT c.removed ORDER BY c.name`,
  );
}

/** SQL: when the oldest delivery of an inbox head came that is not in the snapshot. */
function oldestOf(head: string): string {
  return `(SELECT i.received_at FROM fintoro_mirror.inbox i
    WHERE i.company = ${head}.company AND i.seq > ${head}.drained ORDER BY i.seq LIMIT 1)`;
}

/** Cheap enough for metrics that are asked for all the time: it looks only at companies that are owned or wait. */
export async function readFleetTotals(postgres: Postgres): Promise<FleetTotals> {
  const [totals] = await postgres.query<FleetTotals>(
    `WITH owned AS (
       SELECT o.expires_at > clock_timestamp() AS live FROM fintoro_mirror.owners o
       JOIN fintoro_mirror.companies c ON c.name = o.company AND NOT c.removed WHERE o.node IS NOT NULL),
     behind AS (
       SELECT o.node IS NOT NULL AND o.expires_at > clock_timestamp() AS live, ${oldestOf("h")} AS since
       FROM fintoro_mirror.inbox_heads h LEFT JOIN fintoro_mirror.owners o ON o.company = h.company
       JOIN fintoro_mirror.companies c ON c.name = h.company AND NOT c.removed WHERE h.waiting)
     SELECT (SELECT count(*) FROM fintoro_mirror.companies WHERE NOT removed) AS companies,
       (SELECT count(*) FROM owned WHERE live) AS held, (SELECT count(*) FROM owned WHERE NOT live) AS ended,
       count(*) AS waiting, count(*) FILTER (WHERE live IS NOT TRUE) AS unattended,
       coalesce(extract(epoch FROM clock_timestamp() - min(since)) * 1000, 0)::bigint AS "oldestWaitingMs"
     FROM behind`,
  );
  assert(totals, "an aggregate gives a row");
  return totals;
}

/** SQL: bytes of all tables of a schema; 0 where there is none. */
function sizeOf(schema: string): string {
  return `(SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relnamespace = to_regnamespace('${schema}') AND relkind = 'r')`;
}

/** Reads the numbers of the server in one statement. */
export async function readServerView(postgres: Postgres): Promise<ServerView> {
  const [server] = await postgres.query<ServerView>(
    `SELECT ${epochMs("clock_timestamp()")} AS "nowMs", split_part(current_setting('server_version'), ' ', 1) AS version,
       pg_database_size(current_database()) AS "databaseBytes",
       pg_total_relation_size('fintoro_mirror.inbox') AS "inboxBytes",
       pg_total_relation_size('fintoro_mirror.changes') AS "changesBytes", ${sizeOf("pgboss")} AS "jobsBytes",
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
       current_setting('max_connections')::bigint AS "maxConnections",
       (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)) * 1000, 0)::bigint
        FROM pg_stat_activity WHERE backend_type = 'client backend') AS "oldestTransactionMs",
       CASE WHEN t.number > 1 THEN ${epochMs("t.started_at")} END AS "restoredMs",
       ${epochMs("t.set_back_to")} AS "setBackToMs"
     FROM fintoro_mirror.timeline t`,
  );
  assert(server, "the table timeline has one row");
  return server;
}
