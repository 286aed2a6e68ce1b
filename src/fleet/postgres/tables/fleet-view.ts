import type { NamedCondition } from "../../../status/conditions.ts";
import { isoText, onlyRow, type Postgres } from "../connection.ts";
import { relevantLosses } from "./losses.ts";

/** One company as `fleet status --json` prints it. Times are ISO, by Postgres' clock unless another one is named. */
export interface FleetCompany {
  /** Who owns it, or did when the ownership ended without a release; null: nobody. */
  readonly node: string | null;
  /** Null: it never had an owner. */
  readonly epoch: number | null;
  /** When the ownership ends, or ended, unless it is renewed. */
  readonly expires_at: string | null;
  readonly held: boolean;
  /** Deliveries that are not in the published snapshot. */
  readonly waiting_deliveries: number;
  readonly waiting_since: string | null;
  /** By the clock of the node that took it; null: none was published. */
  readonly snapshot_at: string | null;
  readonly snapshot_bytes: number | null;
  readonly seq: number | null;
  /** When the last run began that read everything the config asks for. */
  readonly whole_at: string | null;
  readonly last_run: { readonly outcome: string; readonly finished_at: string } | null;
  readonly report_at: string | null;
  /** Reads that were to be made when the snapshot was. */
  readonly reads_waiting: number;
  /** Requests in the day before the snapshot. */
  readonly day_requests: number;
}

export interface CompanyView extends FleetCompany {
  readonly company: string;
  readonly judged: {
    readonly added_at: string;
    /** Its config names a secret for deliveries. */
    readonly receives: boolean;
    /** Ownerships in a row, before that of `epoch`, that ended with the death of their node; 0 where that lasts long. */
    readonly losses: number | null;
    /** When it may be taken over; null: at once, or it is not lost. */
    readonly claimable_at: string | null;
    /** Why no node could hold it last, and when that was; null: one could. */
    readonly failure: string | null;
    readonly failed_at: string | null;
    /** By which pattern of cron its runs are made; null: by none. */
    readonly schedule: string | null;
    readonly timezone: string | null;
    /** What was wrong with the mirror in the snapshot; null: there is none. */
    readonly conditions: readonly NamedCondition[] | null;
  };
}

/** Numbers of the server, as `fleet status --json` prints them. */
interface PostgresNumbers {
  readonly version: string;
  readonly database_bytes: number;
  readonly inbox_bytes: number;
  readonly changes_bytes: number;
  readonly jobs_bytes: number;
  readonly connections: number;
  readonly max_connections: number;
  /** A transaction that stays open keeps Postgres from cleaning rows that change often. */
  readonly oldest_transaction_ms: number;
}

interface ServerView extends PostgresNumbers {
  readonly at: string;
  /** When workers noticed that the database was restored, and the last heartbeat in the backup; null: it never was. */
  readonly restored_at: string | null;
  readonly set_back_to: string | null;
}

interface FleetTotals {
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

/** SQL: when the oldest delivery of the inbox head `h` came that is not in the snapshot. */
const oldestWaiting = `(SELECT i.received_at FROM fintoro_mirror.inbox i
  WHERE i.company = h.company AND i.seq > h.drained ORDER BY i.seq LIMIT 1)`;

/** Every company of the fleet, by name, in one statement. */
export function readCompanyViews(postgres: Postgres): Promise<CompanyView[]> {
  return postgres.query(
    `SELECT c.name AS company, o.node, o.epoch, CASE WHEN o.node IS NOT NULL THEN ${isoText("o.expires_at")} END AS expires_at,
       coalesce(o.node IS NOT NULL AND o.expires_at > clock_timestamp(), false) AS held,
       greatest(h.seq - h.drained, 0) AS waiting_deliveries,
       CASE WHEN h.waiting THEN ${isoText(oldestWaiting)} END AS waiting_since,
       ${isoText("s.taken_at")} AS snapshot_at, s.size_bytes AS snapshot_bytes, s.seq,
       s.facts -> 'summary' ->> 'whole_at' AS whole_at, (s.facts -> 'last_run') - 'id' AS last_run,
       ${isoText("r.published_at")} AS report_at,
       coalesce((s.facts -> 'summary' -> 'reads_waiting')::bigint, 0) AS reads_waiting,
       coalesce((s.facts -> 'summary' -> 'day_requests')::bigint, 0) AS day_requests,
       jsonb_build_object(
         'added_at', ${isoText("c.added_at")}, 'losses', ${relevantLosses}, 'claimable_at', ${isoText("o.claimable_at")},
         'failure', o.failure, 'failed_at', ${isoText("o.failed_at")}, 'schedule', c.schedule, 'timezone', c.timezone,
         'receives', c.config #> ARRAY['companies', c.name, 'webhook', 'secrets', '0'] IS NOT NULL,
         'conditions', s.facts -> 'summary' -> 'conditions') AS judged
     FROM fintoro_mirror.companies c
     LEFT JOIN fintoro_mirror.owners o ON o.company = c.name
     LEFT JOIN fintoro_mirror.inbox_heads h ON h.company = c.name
     LEFT JOIN fintoro_mirror.snapshots s ON s.company = c.name
     LEFT JOIN fintoro_mirror.reports r ON r.company = c.name
     WHERE NOT c.removed ORDER BY c.name`,
  );
}

/** Cheap enough for metrics that are asked for all the time: it looks only at companies that are owned or wait. */
export function readFleetTotals(postgres: Postgres): Promise<FleetTotals> {
  return onlyRow(
    postgres,
    `WITH owned AS (
       SELECT o.expires_at > clock_timestamp() AS live FROM fintoro_mirror.owners o
       JOIN fintoro_mirror.companies c ON c.name = o.company AND NOT c.removed WHERE o.node IS NOT NULL),
     behind AS (
       SELECT o.node IS NOT NULL AND o.expires_at > clock_timestamp() AS live, ${oldestWaiting} AS since
       FROM fintoro_mirror.inbox_heads h LEFT JOIN fintoro_mirror.owners o ON o.company = h.company
       JOIN fintoro_mirror.companies c ON c.name = h.company AND NOT c.removed WHERE h.waiting)
     SELECT (SELECT count(*) FROM fintoro_mirror.companies WHERE NOT removed) AS companies,
       (SELECT count(*) FROM owned WHERE live) AS held, (SELECT count(*) FROM owned WHERE NOT live) AS ended,
       count(*) AS waiting, count(*) FILTER (WHERE live IS NOT TRUE) AS unattended,
       coalesce(extract(epoch FROM clock_timestamp() - min(since)) * 1000, 0)::bigint AS "oldestWaitingMs"
     FROM behind`,
  );
}

/** SQL: bytes of all tables of a schema. */
function sizeOf(schema: string): string {
  return `(SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relnamespace = to_regnamespace('${schema}') AND relkind = 'r')`;
}

/** Reads the numbers of the server in one statement. */
export function readServerView(postgres: Postgres): Promise<ServerView> {
  return onlyRow(
    postgres,
    `SELECT ${isoText("clock_timestamp()")} AS at, split_part(current_setting('server_version'), ' ', 1) AS version,
       pg_database_size(current_database()) AS database_bytes,
       pg_total_relation_size('fintoro_mirror.inbox') AS inbox_bytes,
       pg_total_relation_size('fintoro_mirror.changes') AS changes_bytes, ${sizeOf("pgboss")} AS jobs_bytes,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
       current_setting('max_connections')::bigint AS max_connections,
       (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)) * 1000, 0)::bigint
        FROM pg_stat_activity WHERE backend_type = 'client backend') AS oldest_transaction_ms,
       CASE WHEN t.number > 1 THEN ${isoText("t.started_at")} END AS restored_at,
       ${isoText("t.set_back_to")} AS set_back_to
     FROM fintoro_mirror.timeline t`,
  );
}
