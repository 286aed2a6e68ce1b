import { dayMs } from "../../../base/clock.ts";
import { epochMs, intervalOf, type Postgres, type Sql } from "../connection.ts";
import { isLive } from "./owners-table.ts";

/** For so long a company that left the fleet can come back as it was. */
const removedKeptMs = 30 * dayMs;

const deletedAtOnce = 5_000;

/**
 * Deletes what Postgres knows of a company that left the fleet 30 days ago, besides its name and the numbers of its
 * last epoch and change: added again it begins with an empty mirror, with a higher epoch and higher numbers of changes. What was published stays where it is.
 *
 * Guarantee: a company that is added again meanwhile keeps everything, or begins anew. Nodes that do it at the same time
 * take different companies.
 *
 * @returns false: no company is due; call it until then
 */
export function forgetRemoved(postgres: Postgres): Promise<boolean> {
  return postgres.transaction(async (sql) => {
    const [due] = await sql.query<{ company: string }>(dueCompany, [removedKeptMs]);
    if (!due) return false;
    await forget(sql, due.company);
    return true;
  });
}

/**
 * Deletes at once, of a removed company, what `forgetRemoved` deletes after 30 days: the way out where its published
 * snapshot is lost.
 *
 * @returns `owned`: a node has not released it yet; `present`: it is in the fleet
 */
export async function forgetCompany(
  postgres: Postgres,
  company: string,
): Promise<"forgotten" | "owned" | "present"> {
  for (;;) {
    const done = await postgres.transaction(async (sql) => {
      const [found] = await sql.query<{ isOwned: boolean }>(removedCompany, [company]);
      if (!found) return "present";
      if (found.isOwned) return "owned";
      return (await forget(sql, company)) ? "forgotten" : null;
    });
    if (done !== null) return done;
  }
}

const removedCompany = `SELECT EXISTS (
    SELECT FROM fintoro_mirror.owners WHERE company = c.name AND ${isLive}) AS "isOwned"
  FROM fintoro_mirror.companies c WHERE c.name = $1 AND c.removed FOR UPDATE OF c`;

/** True: it is forgotten; otherwise there were more rows than one transaction deletes. */
async function forget(sql: Sql, company: string): Promise<boolean> {
  for (const table of ["inbox", "changes"]) {
    const rows = await sql.query(
      `DELETE FROM fintoro_mirror.${table} WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM fintoro_mirror.${table} WHERE company = $1 LIMIT $2)) RETURNING 1`,
      [company, deletedAtOnce],
    );
    if (rows.length === deletedAtOnce) return false;
  }
  await sql.query(
    `UPDATE fintoro_mirror.companies SET config = '{}', tags = '{}', account = NULL, forgotten_at = clock_timestamp(),
       last_seq = greatest(last_seq, (SELECT seq FROM fintoro_mirror.snapshots WHERE company = $1)) WHERE name = $1`,
    [company],
  );
  for (const table of ["inbox_heads", "snapshots", "reports", "packages", "alerts"])
    await sql.query(`DELETE FROM fintoro_mirror.${table} WHERE company = $1`, [company]);
  // So that no node goes on from the file that it had in the last epoch.
  const endEpoch = "UPDATE fintoro_mirror.owners SET epoch = epoch + 1, node = NULL WHERE company = $1";
  await sql.query(endEpoch, [company]);
  return true;
}

/** SQL: was the removed company of the row `c` forgotten since it was removed last? */
const isForgotten = "coalesce(c.forgotten_at >= c.changed_at, false)";

/** Who adds the company again waits for this lock. A restored database may not know that a company came back. */
const dueCompany = `SELECT c.name AS company FROM fintoro_mirror.companies c, fintoro_mirror.timeline t
  WHERE c.removed AND NOT ${isForgotten} AND c.changed_at < now() - ${intervalOf("$1")}
    AND (t.number = 1 OR t.started_at < now() - ${intervalOf("$1")})
    AND NOT EXISTS (SELECT FROM fintoro_mirror.owners WHERE company = c.name AND ${isLive})
  ORDER BY c.changed_at LIMIT 1 FOR UPDATE OF c SKIP LOCKED`;

/** Companies that left the fleet and can still come back as they were; those that are forgotten first, first. */
export function readRemovedCompanies(postgres: Postgres) {
  const keptUntil = `greatest(c.changed_at, CASE WHEN t.number > 1 THEN t.started_at END) + ${intervalOf("$1")}`;
  return postgres.query<{ company: string; removedAtMs: number; keptUntilMs: number }>(
    `SELECT c.name AS company, ${epochMs("c.changed_at")} AS "removedAtMs", ${epochMs(`(${keptUntil})`)} AS "keptUntilMs"
     FROM fintoro_mirror.companies c, fintoro_mirror.timeline t
     WHERE c.removed AND NOT ${isForgotten} ORDER BY 3, 1`,
    [removedKeptMs],
  );
}
