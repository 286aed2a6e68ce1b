import { hash } from "node:crypto";
import type { readSteps } from "../../../status/after-run-record.ts";
import type { AlertState } from "../../../status/alerts/incidents.ts";
import { epochMs, FleetTable } from "../connection.ts";
import { assertOwner, lockAccount, writeAsOwner, type AccountUse, type Owner } from "./owners-table.ts";

export interface CompanyRow {
  readonly name: string;
  /** The document that `fleet add` wrote, as JSON; secrets are references. */
  readonly config: unknown;
  /** Which company of the service it is; null until its first owner has asked the service. */
  readonly account: string | null;
  /** When it joined the fleet last: while it was out of it, nobody received its deliveries. */
  readonly addedAtMs: number;
  readonly changedAtMs: number;
  /** The last published change of when it was forgotten: numbers of its next log are higher. 0: it never was. */
  readonly lastSeq: number;
  readonly removed: boolean;
  readonly tags: readonly string[];
}

interface CompanyNotes {
  /** Incidents, and the alerts of them that wait. */
  readonly state: AlertState | null;
  /** How what follows runs went: what was made counts once it was published or sent. */
  readonly steps: ReturnType<typeof readSteps> | null;
}

/** Two tokens of one company of the service are one account: they share a budget. */
export function accountOf(baseUrl: string, name: string): string {
  return hash("sha256", JSON.stringify([baseUrl, name]));
}

/** Longer than a transaction that changes companies lasts: a change may become visible so long after its time. */
const commitDelayMs = 60_000;

const columns = `name, config, account, removed, tags, last_seq AS "lastSeq", ${epochMs("added_at")} AS "addedAtMs",
  ${epochMs("changed_at")} AS "changedAtMs"`;

/** SQL: has the company this config and schedule? */
const isSame = "(config, schedule, timezone) IS NOT DISTINCT FROM ($2::jsonb, $3::text, $4::text)";

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
    const [row] = await this.postgres.query<{ outcome: "added" | "changed" | "tagged" | "unchanged" }>(
      `WITH before AS (SELECT removed, ${isSame} AS same FROM fintoro_mirror.companies WHERE name = $1),
       put AS (
         INSERT INTO fintoro_mirror.companies AS c (name, config, schedule, timezone, tags)
         VALUES ($1, $2::jsonb, $3, $4, coalesce($5::text[], '{}'))
         ON CONFLICT (name) DO UPDATE SET config = excluded.config, schedule = excluded.schedule,
           timezone = excluded.timezone, tags = coalesce($5::text[], c.tags), removed = false,
           changed_at = clock_timestamp(),
           added_at = CASE WHEN c.removed THEN clock_timestamp() ELSE c.added_at END
         WHERE (c.config, c.schedule, c.timezone) IS DISTINCT FROM (excluded.config, excluded.schedule, excluded.timezone)
           OR c.tags IS DISTINCT FROM coalesce($5::text[], c.tags) OR c.removed
         RETURNING 1),
       forgiven AS (
         UPDATE fintoro_mirror.owners SET losses = 0, claimable_at = NULL
         WHERE company = $1 AND (losses > 0 OR failures > 0))
       SELECT CASE WHEN NOT EXISTS (SELECT FROM put) THEN 'unchanged'
         WHEN EXISTS (SELECT FROM before WHERE NOT removed AND same) THEN 'tagged'
         WHEN EXISTS (SELECT FROM before WHERE NOT removed) THEN 'changed' ELSE 'added' END AS outcome`,
      [name, config, schedule, timezone, tags],
    );
    return row?.outcome ?? "unchanged";
  }

  /** Is it in the fleet with this config and schedule? */
  has(name: string, config: unknown, schedule: string | null, timezone: string): Promise<boolean> {
    const sql = `SELECT FROM fintoro_mirror.companies WHERE name = $1 AND NOT removed AND ${isSame}`;
    return this.hasRow(sql, [name, config, schedule, timezone]);
  }

  /** Takes a company out of the fleet. False: it is not there. Everything stays until `forgetRemoved`. */
  remove(name: string): Promise<boolean> {
    const sql = `UPDATE fintoro_mirror.companies SET removed = true, changed_at = clock_timestamp()
      WHERE name = $1 AND NOT removed RETURNING name`;
    return this.hasRow(sql, [name]);
  }

  /** Null: the fleet never had it. */
  find(name: string): Promise<CompanyRow | null> {
    return this.findRow(`SELECT ${columns} FROM fintoro_mirror.companies WHERE name = $1`, [name]);
  }

  /** Those of the fleet whose runs are scheduled by this pattern of cron. */
  async scheduledBy(schedule: string, timezone: string): Promise<string[]> {
    const rows = await this.postgres.query<{ name: string }>(
      "SELECT name FROM fintoro_mirror.companies WHERE schedule = $1 AND timezone = $2 AND NOT removed",
      [schedule, timezone],
    );
    return rows.map(({ name }) => name);
  }

  /**
   * All companies, removed ones too; with the `asOfMs` of an earlier list only those that changed since. A change can be
   * listed more than once, and is never left out.
   */
  async list(changedSinceMs: number | null = null) {
    const now = await this.findRow<{ asOfMs: number }>(`SELECT ${epochMs("clock_timestamp()")} AS "asOfMs"`);
    const fromMs = changedSinceMs === null ? 0 : changedSinceMs - commitDelayMs;
    const companies = await this.postgres.query<CompanyRow>(
      `SELECT ${columns} FROM fintoro_mirror.companies
       WHERE changed_at >= to_timestamp($1::float8 / 1000) ORDER BY name`,
      [fromMs],
    );
    return { companies, asOfMs: now?.asOfMs ?? fromMs };
  }

  /**
   * Notes which company of the service this is, as its owner learned it.
   *
   * @returns with a rival, another company of the same account that is owned now, nothing was noted: the caller must
   *   release its own
   * @throws MirrorError `locked` where the company has another owner
   */
  setAccount(owner: Owner, account: string): Promise<AccountUse> {
    const lock = "SELECT FROM fintoro_mirror.companies WHERE name = $1 FOR NO KEY UPDATE";
    const note = "UPDATE fintoro_mirror.companies SET account = $2 WHERE name = $1";
    return this.postgres.transaction(async (sql) => {
      await sql.query(lock, [owner.company]);
      const use = await lockAccount(sql, account, owner.company);
      await assertOwner(sql, owner);
      if (use.rival === null) await sql.query(note, [owner.company, account]);
      return use;
    });
  }

  /** What its owners noted last; null each where none did. */
  async notesOf(company: string): Promise<CompanyNotes> {
    const sql = "SELECT state, steps FROM fintoro_mirror.alerts WHERE company = $1";
    return (await this.findRow<CompanyNotes>(sql, [company])) ?? { state: null, steps: null };
  }

  /** @throws MirrorError `locked` where the company has another owner */
  note<K extends keyof CompanyNotes>(owner: Owner, key: K, value: CompanyNotes[K]): Promise<void> {
    const write = `INSERT INTO fintoro_mirror.alerts (company, ${key}) SELECT company, $4::jsonb FROM owner
      ON CONFLICT (company) DO UPDATE SET ${key} = excluded.${key}`;
    return writeAsOwner(this.postgres, owner, write, [value]);
  }
}
