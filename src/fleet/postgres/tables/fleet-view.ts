import { sql } from "kysely";
import { jsonBuildObject } from "kysely/helpers/postgres";
import type { FileCounts } from "../../../state/files/pending-files.ts";
import type { NamedCondition } from "../../../status/conditions.ts";
import type { Postgres } from "../connection.ts";
import { isoText, now } from "../fleet-database.ts";
import { relevantLosses } from "./losses.ts";
import { isLive } from "./owners-table.ts";

/** Another company of the account of the row `c` that has an owner now. */
const liveRival = sql<string | null>`(SELECT min(r.name) FROM fintoro_mirror.companies r
  JOIN fintoro_mirror.owners ON company = r.name WHERE r.account = c.account AND r.name <> c.name AND ${isLive})`;

export type CompanyView = Readonly<Awaited<ReturnType<typeof readCompanyViews>>[number]>;

/** When the oldest delivery of the inbox head `h` came that is not in the snapshot. */
const oldestWaiting = sql<Date | null>`(SELECT i.received_at FROM fintoro_mirror.inbox i
  WHERE i.company = h.company AND i.seq > h.drained ORDER BY i.seq LIMIT 1)`;

/**
 * Every company of the fleet, by name, in one statement; besides `judged`, as `fleet status --json` prints it. Times are
 * ISO, by Postgres' clock unless another one is named.
 */
export function readCompanyViews({ db }: Postgres) {
  return db
    .selectFrom("companies as c")
    .leftJoin("owners as o", "o.company", "c.name")
    .leftJoin("inbox_heads as h", "h.company", "c.name")
    .leftJoin("snapshots as s", "s.company", "c.name")
    .leftJoin("reports as r", "r.company", "c.name")
    .select((eb) => [
      "c.name as company",
      // Who owns it, or did when the ownership ended without a release; null: nobody.
      "o.node",
      // Null: it never had an owner.
      "o.epoch",
      // When the ownership ends, or ended, unless it is renewed.
      isoText(sql<Date | null>`CASE WHEN o.node IS NOT NULL THEN o.expires_at END`).as("expires_at"),
      sql<boolean>`coalesce(o.node IS NOT NULL AND o.expires_at > clock_timestamp(), false)`.as("held"),
      // Who is held and has a token of the same company of the service: so long this one is not taken. Null: nobody.
      liveRival.as("rival"),
      // Deliveries that are not in the published snapshot.
      sql<number>`greatest(h.seq - h.drained, 0)`.as("waiting_deliveries"),
      isoText(sql<Date | null>`CASE WHEN h.waiting THEN ${oldestWaiting} END`).as("waiting_since"),
      // By the clock of the node that took it; null: none was published.
      isoText(eb.ref("s.taken_at")).as("snapshot_at"),
      "s.size_bytes as snapshot_bytes",
      "s.seq",
      // When the last run began that read everything the config asks for.
      sql<string | null>`s.facts -> 'summary' ->> 'whole_at'`.as("whole_at"),
      sql<{ outcome: string; finished_at: string } | null>`nullif(s.facts -> 'last_run', 'null') - 'id'`.as(
        "last_run",
      ),
      isoText(eb.ref("r.published_at")).as("report_at"),
      // Reads that were to be made when the snapshot was, and requests in the day before it.
      sql<number>`coalesce((s.facts -> 'summary' -> 'reads_waiting')::bigint, 0)`.as("reads_waiting"),
      sql<number>`coalesce((s.facts -> 'summary' -> 'day_requests')::bigint, 0)`.as("day_requests"),
      // How the files that its config asks for stood then; null: there is no snapshot.
      sql<FileCounts | null>`s.facts -> 'summary' -> 'files'`.as("files"),
      jsonBuildObject({
        added_at: isoText(eb.ref("c.added_at")),
        losses: relevantLosses,
        claimable_at: isoText(eb.ref("o.claimable_at")),
        failure: eb.ref("o.failure"),
        failed_at: isoText(eb.ref("o.failed_at")),
        schedule: eb.ref("c.schedule"),
        timezone: eb.ref("c.timezone"),
        // Its config names a secret for deliveries.
        receives: sql<boolean>`c.config #> ARRAY['companies', c.name, 'webhook', 'secrets', '0'] IS NOT NULL`,
        // What was wrong with the mirror in the snapshot; null: there is none.
        conditions: sql<readonly NamedCondition[] | null>`s.facts -> 'summary' -> 'conditions'`,
      }).as("judged"),
    ])
    .where("c.removed", "=", false)
    .orderBy("c.name")
    .execute();
}

/** Cheap enough for metrics that are asked for all the time: it looks only at companies that are owned or wait. */
export function readFleetTotals({ db }: Postgres) {
  const waitedMs = sql<number>`coalesce(extract(epoch FROM ${now} - min(since)) * 1000, 0)::bigint`;
  const present = db.selectFrom("companies as c").where("c.removed", "=", false);
  const owned = present.innerJoin("owners", "company", "name").where("node", "is not", null);
  const behind = present
    .innerJoin("inbox_heads as h", "h.company", "name")
    .leftJoin("owners as o", "o.company", "h.company")
    .where(sql<boolean>`h.waiting`);
  return db
    .with("owned", () => owned.select(isLive.as("live")))
    .with("behind", () => behind.select([isLive.as("live"), oldestWaiting.as("since")]))
    .selectFrom("behind")
    .select([
      sql<number>`(SELECT count(*) FROM fintoro_mirror.companies WHERE NOT removed)`.as("companies"),
      sql<number>`(SELECT count(*) FROM owned WHERE live)`.as("held"),
      // Companies whose owner was lost.
      sql<number>`(SELECT count(*) FROM owned WHERE NOT live)`.as("ended"),
      // Companies with deliveries that are not in a snapshot, and those of them without an owner.
      sql<number>`count(*)`.as("waiting"),
      sql<number>`count(*) FILTER (WHERE live IS NOT TRUE)`.as("unattended"),
      // How long the oldest delivery waits; 0: none does.
      waitedMs.as("oldestWaitingMs"),
    ])
    .executeTakeFirstOrThrow();
}

const sessions = sql`pg_stat_activity WHERE backend_type = 'client backend'`;

/** Reads the numbers of the server in one statement, as `fleet status --json` prints them. */
export function readServerView({ db }: Postgres) {
  return db
    .selectFrom("timeline")
    .select((eb) => [
      isoText(now).as("at"),
      sql<string>`split_part(current_setting('server_version'), ' ', 1)`.as("version"),
      sql<number>`pg_database_size(current_database())`.as("database_bytes"),
      sql<number>`pg_total_relation_size('fintoro_mirror.inbox')`.as("inbox_bytes"),
      sql<number>`pg_total_relation_size('fintoro_mirror.changes')`.as("changes_bytes"),
      sql<number>`(SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
        WHERE relnamespace = to_regnamespace('pgboss') AND relkind = 'r')`.as("jobs_bytes"),
      sql<number>`(SELECT count(*) FROM ${sessions})`.as("connections"),
      sql<number>`current_setting('max_connections')::bigint`.as("max_connections"),
      // A transaction that stays open keeps Postgres from cleaning rows that change often.
      sql<number>`(SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)) * 1000, 0)::bigint
        FROM ${sessions})`.as("oldest_transaction_ms"),
      // When workers noticed that the database was restored, and the last heartbeat in the backup; null: it never was.
      isoText(sql<Date | null>`CASE WHEN number > 1 THEN started_at END`).as("restored_at"),
      isoText(eb.ref("set_back_to")).as("set_back_to"),
    ])
    .executeTakeFirstOrThrow();
}
