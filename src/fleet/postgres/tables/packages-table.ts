import { sql, type UpdateObject } from "kysely";
import { FleetTable } from "../connection.ts";
import { isoText, now } from "../fleet-database.ts";
import type { FleetDatabase, PackageFailure, StoredPackage } from "../fleet-database.ts";
import { writeAsOwner, type Owner } from "./owners-table.ts";

export type AskedPackage = Readonly<NonNullable<Awaited<ReturnType<PackagesTable["next"]>>>>;

const mostAtOnce = 1_000;

/**
 * The packages of months that were asked for, and what became of them.
 *
 * Guarantee: moved by the company's owner only. What is asked for while it is made stays due.
 * Source of truth: table `packages`.
 * Worst outcome of a crash: a package stays due, and the next owner makes it.
 */
export class PackagesTable extends FleetTable {
  /** The last one who asks says whether it is to be proved. */
  async ask(companies: readonly string[], month: string, proved: boolean): Promise<void> {
    await sql`INSERT INTO fintoro_mirror.packages (company, month, proved, due_at)
      SELECT name, ${month}, ${proved}, clock_timestamp() FROM unnest(${companies}::text[]) name
      ON CONFLICT (company, month) DO UPDATE SET proved = excluded.proved, asked_at = excluded.asked_at,
        due_at = excluded.due_at, failures = 0, reason = NULL, error = NULL`.execute(this.db);
  }

  /** Companies with a package that is due: those of this node, then those that no node has, the oldest first. */
  due(node: string): Promise<{ readonly company: string; readonly isOwned: boolean }[]> {
    const isClaimable = sql`(o.claimable_at IS NULL OR o.claimable_at <= now())`;
    return this.db
      .selectFrom("packages as p")
      .innerJoin("companies as c", "c.name", "p.company")
      .leftJoin("owners as o", "o.company", "p.company")
      .select(["p.company", sql<boolean>`o.node IS NOT NULL`.as("isOwned")])
      .where("c.removed", "=", false)
      .where(sql<boolean>`p.due_at <= now() AND (o.node = ${node} OR (o.node IS NULL AND ${isClaimable}))`)
      .groupBy(["p.company", "o.node"])
      .orderBy(sql`o.node IS NULL, min(p.due_at)`)
      .limit(mostAtOnce)
      .execute();
  }

  /** Of each of these companies: who has it now, and why no node can hold it. */
  ofMonth(month: string, only: readonly string[]) {
    return this.db
      .selectFrom("companies as c")
      .leftJoin("packages as p", (on) => on.onRef("p.company", "=", "c.name").on("p.month", "=", month))
      .leftJoin("owners as o", "o.company", "c.name")
      .select((eb) => [
        "c.name as company",
        // Null: it was not asked for.
        isoText(eb.ref("p.asked_at")).as("asked_at"),
        isoText(eb.ref("p.due_at")).as("due_at"),
        isoText(eb.ref("p.made_at")).as("made_at"),
        ...(["p.made", "p.reason", "p.error", "o.node", "o.failure"] as const),
        sql<boolean>`o.expires_at > clock_timestamp()`.as("live"),
      ])
      .where("c.removed", "=", false)
      .where(sql<boolean>`c.name = ANY(${only})`)
      .orderBy("c.name")
      .execute();
  }

  /** Since when it is due is as Postgres writes it. Null: none is. */
  async next(company: string) {
    const due = this.db
      .selectFrom("packages")
      .select(["month", "proved", sql<string>`due_at::text`.as("due"), "made"])
      .where("company", "=", company)
      .where(sql<boolean>`due_at <= now()`)
      .orderBy("due_at")
      .limit(1);
    return (await due.executeTakeFirst()) ?? null;
  }

  /**
   * @param made null: what was made before is still right
   * @throws MirrorError `locked` where the company has another owner
   */
  finish(owner: Owner, asked: AskedPackage, made: StoredPackage | null): Promise<void> {
    const due_at = sql<Date | null>`nullif(packages.due_at, ${asked.due}::timestamptz)`;
    const done = { due_at, failures: 0, reason: null, error: null };
    return this.change(owner, asked, made === null ? done : { ...done, made, made_at: now });
  }

  /**
   * It is due again after a minute, then after two, at last once an hour; of what was asked for meanwhile this says nothing.
   * Throws as `finish`.
   */
  fail(owner: Owner, asked: AskedPackage, reason: PackageFailure, error: string): Promise<void> {
    const ifStillDue = (column: "failures" | "reason" | "error" | "due_at", value: unknown) =>
      sql<never>`CASE WHEN packages.due_at = ${asked.due}::timestamptz THEN ${value} ELSE packages.${sql.ref(column)} END`;
    const pause = sql`least(60 * 2 ^ least(packages.failures, 6), 3600) * interval '1 second'`;
    return this.change(owner, asked, {
      failures: ifStillDue("failures", sql`packages.failures + 1`),
      reason: ifStillDue("reason", reason),
      error: ifStillDue("error", error),
      due_at: ifStillDue("due_at", sql`clock_timestamp() + ${pause}`),
    });
  }

  private change(owner: Owner, { month }: AskedPackage, change: UpdateObject<FleetDatabase, "packages">) {
    return writeAsOwner(this.db, owner, (db) =>
      db
        .updateTable("packages")
        .from("owner")
        .set(change)
        .whereRef("packages.company", "=", "owner.company")
        .where("month", "=", month)
        .returning("month"),
    );
  }
}
