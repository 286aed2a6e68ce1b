import { sql } from "kysely";
import { dayMs } from "../../../base/clock.ts";
import type { Postgres } from "../connection.ts";
import { intervalOf, isoText, now, type FleetDb } from "../fleet-database.ts";
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
  return postgres.transaction(async ({ db }) => {
    const [due] = (await dueCompany.execute(db)).rows;
    if (due) await forget(db, due.company);
    return due !== undefined;
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
    const done = await postgres.transaction(async ({ db }) => {
      const removed = db.selectFrom("companies as c").where("name", "=", company).where("removed", "=", true);
      const found = await removed.select(isOwned.as("isOwned")).forUpdate("c").executeTakeFirst();
      if (!found) return "present";
      if (found.isOwned) return "owned";
      return (await forget(db, company)) ? "forgotten" : null;
    });
    if (done !== null) return done;
  }
}

/** True: it is forgotten; otherwise there were more rows than one transaction deletes. */
async function forget(db: FleetDb, company: string): Promise<boolean> {
  for (const name of ["inbox", "changes"] as const) {
    const table = sql.id("fintoro_mirror", name);
    const { rows } = await sql`DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE company = ${company} LIMIT ${deletedAtOnce})) RETURNING 1`.execute(db);
    if (rows.length === deletedAtOnce) return false;
  }
  const published = db.selectFrom("snapshots").select("seq").where("company", "=", company);
  const last_seq = sql<number>`greatest(last_seq, ${published})`;
  const forgotten = { config: {}, tags: [], account: null, forgotten_at: now, last_seq };
  await db.updateTable("companies").set(forgotten).where("name", "=", company).execute();
  for (const table of ["inbox_heads", "snapshots", "reports", "packages", "alerts"] as const)
    await db.deleteFrom(table).where("company", "=", company).execute();
  // So that no node goes on from the file that it had in the last epoch.
  const ended = db.updateTable("owners").set((eb) => ({ epoch: eb("epoch", "+", 1), node: null }));
  await ended.where("company", "=", company).execute();
  return true;
}

const isOwned = sql<boolean>`EXISTS (SELECT FROM fintoro_mirror.owners WHERE company = c.name AND ${isLive})`;

/** Was the removed company of the row `c` forgotten since it was removed last? */
const isForgotten = sql<boolean>`coalesce(c.forgotten_at >= c.changed_at, false)`;

const kept = intervalOf(removedKeptMs);

/** Who adds the company again waits for this lock. A restored database may not know that a company came back. */
const dueCompany = sql<{ company: string }>`
  SELECT c.name AS company FROM fintoro_mirror.companies c, fintoro_mirror.timeline t
  WHERE c.removed AND NOT ${isForgotten} AND c.changed_at < now() - ${kept}
    AND (t.number = 1 OR t.started_at < now() - ${kept}) AND NOT ${isOwned}
  ORDER BY c.changed_at LIMIT 1 FOR UPDATE OF c SKIP LOCKED`;

/** Companies that left the fleet and can still come back as they were; those that are forgotten first, first. Times are ISO. */
export async function readRemovedCompanies({ db }: Postgres) {
  const keptUntil = sql`(greatest(c.changed_at, CASE WHEN t.number > 1 THEN t.started_at END) + ${kept})`;
  const removed = sql<{ company: string; removed_at: string; kept_until: string }>`
    SELECT c.name AS company, ${isoText(sql.ref("c.changed_at"))} AS removed_at, ${isoText(keptUntil)} AS kept_until
    FROM fintoro_mirror.companies c, fintoro_mirror.timeline t
    WHERE c.removed AND NOT ${isForgotten} ORDER BY 3, 1`;
  return (await removed.execute(db)).rows;
}
