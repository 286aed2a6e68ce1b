import { sql, type ExpressionBuilder } from "kysely";
import { hash } from "node:crypto";
import { FleetTable } from "../connection.ts";
import { epochMs, isFound, jsonb, now } from "../fleet-database.ts";
import type { FleetDatabase, RowOf } from "../fleet-database.ts";
import { assertOwner, lockAccount, writeAsOwner, type AccountUse, type Owner } from "./owners-table.ts";

export type CompanyRow = Readonly<NonNullable<Awaited<ReturnType<CompaniesTable["find"]>>>>;

type CompanyNotes = RowOf<"alerts", "state" | "steps">;

/** Two tokens of one company of the service are one account: they share a budget. */
export function accountOf(baseUrl: string, name: string): string {
  return hash("sha256", JSON.stringify([baseUrl, name]));
}

/** Longer than a transaction that changes companies lasts: a change may become visible so long after its time. */
const commitDelayMs = 60_000;

function columns(eb: ExpressionBuilder<FleetDatabase, "companies">) {
  return [
    ...(["name", "config", "account", "removed", "tags", "last_seq as lastSeq"] as const),
    epochMs(eb.ref("added_at")).as("addedAtMs"),
    epochMs(eb.ref("changed_at")).as("changedAtMs"),
  ];
}

function isSame(config: unknown, schedule: string | null, timezone: string) {
  return sql<boolean>`(config, schedule, timezone)
    IS NOT DISTINCT FROM (${config}::jsonb, ${schedule}::text, ${timezone}::text)`;
}

/**
 * The companies of the fleet, their configs and tags, and what their owners note of each (table `alerts`).
 *
 * Guarantee: a row never disappears, so that every node notices a removal. Two companies of one account are never owned
 * at the same time.
 * Source of truth: table `companies`.
 * Worst outcome of a crash: a command that changes several companies has changed some of them; repeating it is safe.
 */
export class CompaniesTable extends FleetTable {
  /**
   * Adds a company, or changes its config. One that was set aside, because its nodes died or failed, may be taken again.
   *
   * @param schedule null: it has none
   * @param tags null: those that it has stay
   */
  async put(
    name: string,
    config: unknown,
    schedule: string | null = null,
    timezone = "UTC",
    tags: readonly string[] | null = null,
  ): Promise<"added" | "changed" | "tagged" | "unchanged"> {
    const put = sql<{ outcome: "added" | "changed" | "tagged" | "unchanged" }>`WITH before AS (
        SELECT removed, ${isSame(config, schedule, timezone)} AS same FROM fintoro_mirror.companies WHERE name = ${name}),
      put AS (
        INSERT INTO fintoro_mirror.companies AS c (name, config, schedule, timezone, tags)
        VALUES (${name}, ${config}::jsonb, ${schedule}, ${timezone}, coalesce(${tags}::text[], '{}'))
        ON CONFLICT (name) DO UPDATE SET config = excluded.config, schedule = excluded.schedule,
          timezone = excluded.timezone, tags = coalesce(${tags}::text[], c.tags), removed = false, changed_at = clock_timestamp(),
          added_at = CASE WHEN c.removed THEN clock_timestamp() ELSE c.added_at END
        WHERE (c.config, c.schedule, c.timezone) IS DISTINCT FROM (excluded.config, excluded.schedule, excluded.timezone)
          OR c.tags IS DISTINCT FROM coalesce(${tags}::text[], c.tags) OR c.removed
        RETURNING 1),
      forgiven AS (
        UPDATE fintoro_mirror.owners SET losses = 0, claimable_at = NULL
        WHERE company = ${name} AND (losses > 0 OR failures > 0))
      SELECT CASE WHEN NOT EXISTS (SELECT FROM put) THEN 'unchanged'
        WHEN EXISTS (SELECT FROM before WHERE NOT removed AND same) THEN 'tagged'
        WHEN EXISTS (SELECT FROM before WHERE NOT removed) THEN 'changed' ELSE 'added' END AS outcome`;
    return (await put.execute(this.db)).rows[0]?.outcome ?? "unchanged";
  }

  has(name: string, config: unknown, schedule: string | null, timezone: string): Promise<boolean> {
    const present = this.db.selectFrom("companies").where("name", "=", name).where("removed", "=", false);
    return isFound(present.where(isSame(config, schedule, timezone)));
  }

  /** Takes a company out of the fleet. False: it is not there. Everything stays until `forgetRemoved`. */
  remove(name: string): Promise<boolean> {
    const removed = this.db.updateTable("companies").set({ removed: true, changed_at: now });
    const present = removed.where("name", "=", name).where("removed", "=", false);
    return isFound(present.returning("name"));
  }

  /** Null: the fleet never had it. */
  async find(name: string) {
    const found = this.db.selectFrom("companies").select(columns).where("name", "=", name);
    return (await found.executeTakeFirst()) ?? null;
  }

  /** Those of the fleet whose runs are scheduled by this pattern of cron. */
  async scheduledBy(schedule: string, timezone: string): Promise<string[]> {
    const present = this.db.selectFrom("companies").select("name").where("removed", "=", false);
    const scheduled = present.where("schedule", "=", schedule).where("timezone", "=", timezone);
    return (await scheduled.execute()).map(({ name }) => name);
  }

  /**
   * All companies, removed ones too; with the `asOfMs` of an earlier list only those that changed since. A change can be
   * listed more than once, and is never left out.
   */
  async list(changedSinceMs: number | null = null) {
    const { asOfMs } = await this.db.selectNoFrom(epochMs(now).as("asOfMs")).executeTakeFirstOrThrow();
    const fromMs = changedSinceMs === null ? 0 : changedSinceMs - commitDelayMs;
    const from = sql<Date>`to_timestamp(${fromMs}::float8 / 1000)`;
    const listed = this.db.selectFrom("companies").select(columns).where("changed_at", ">=", from);
    const companies: CompanyRow[] = await listed.orderBy("name").execute();
    return { companies, asOfMs };
  }

  /**
   * Notes which company of the service this is, as its owner learned it.
   *
   * @returns with a rival, another company of the same account that is owned now, the caller must release its own
   * @throws MirrorError `locked` where the company has another owner
   */
  setAccount(owner: Owner, account: string): Promise<AccountUse> {
    const name = owner.company;
    return this.postgres.transaction(async ({ db }) => {
      await db.selectFrom("companies").where("name", "=", name).forNoKeyUpdate().execute();
      const use = await lockAccount(db, account, name);
      await assertOwner(db, owner);
      await db.updateTable("companies").set({ account }).where("name", "=", name).execute();
      return use;
    });
  }

  /** What its owners noted last; null each where none did. */
  async notesOf(company: string): Promise<CompanyNotes> {
    const noted = this.db.selectFrom("alerts").select(["state", "steps"]).where("company", "=", company);
    return (await noted.executeTakeFirst()) ?? { state: null, steps: null };
  }

  /** @throws MirrorError `locked` where the company has another owner */
  note<K extends keyof CompanyNotes>(owner: Owner, key: K, value: CompanyNotes[K]): Promise<void> {
    return writeAsOwner(this.db, owner, (db) =>
      db
        .insertInto("alerts")
        .columns(["company", key])
        .expression((eb) => eb.selectFrom("owner").select(["company", jsonb(value).as("value")]))
        .onConflict((on) => on.column("company").doUpdateSet({ [key]: jsonb(value) }))
        .returning("alerts.company"),
    );
  }
}
