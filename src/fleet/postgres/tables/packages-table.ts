import { FleetTable, isoText } from "../connection.ts";
import { writeAsOwner, type Owner } from "./owners-table.ts";

export interface StoredPackage {
  readonly key: string;
  /** The mirror that it shows. */
  readonly log: string;
  readonly position: number;
  readonly proved: boolean;
  readonly bytes: number;
  readonly sha256: string;
  /** Documents whose PDF the service did not give. */
  readonly without_pdf: readonly string[];
}

export interface AskedPackage {
  readonly month: string;
  readonly proved: boolean;
  /** Since when, as Postgres writes it. */
  readonly due: string;
  /** What was made before; null: nothing was. */
  readonly made: StoredPackage | null;
}

export interface AskedMonth {
  /** Null: it was not asked for. */
  readonly asked_at: string | null;
  /** When it is tried next; null: nothing is to be done. */
  readonly due_at: string | null;
  readonly made_at: string | null;
  readonly made: StoredPackage | null;
  /** Why the last attempt failed; null: none did since it was asked for. */
  readonly reason: PackageFailure | null;
  readonly error: string | null;
}

interface CompanyMonth extends AskedMonth {
  readonly company: string;
  /** Who has the company; null: no node. */
  readonly node: string | null;
  readonly live: boolean;
  /** Why no node can hold it; null: no reason is known. */
  readonly failure: string | null;
}

export type PackageFailure = "token_refused" | "not_proved" | "failed";

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
    await this.postgres.query(
      `INSERT INTO fintoro_mirror.packages AS p (company, month, proved, due_at)
       SELECT name, $2, $3, clock_timestamp() FROM unnest($1::text[]) name
       ON CONFLICT (company, month) DO UPDATE SET proved = excluded.proved, asked_at = excluded.asked_at,
         due_at = excluded.due_at, failures = 0, reason = NULL, error = NULL`,
      [companies, month, proved],
    );
  }

  /** Companies with a package that is due: those of this node, then those that no node has, the oldest first. */
  due(node: string): Promise<{ readonly company: string; readonly isOwned: boolean }[]> {
    return this.postgres.query(
      `SELECT p.company, o.node IS NOT NULL AS "isOwned" FROM fintoro_mirror.packages p
       JOIN fintoro_mirror.companies c ON c.name = p.company AND NOT c.removed
       LEFT JOIN fintoro_mirror.owners o ON o.company = p.company
       WHERE p.due_at <= now() AND (o.node = $1 OR
         (o.node IS NULL AND (o.claimable_at IS NULL OR o.claimable_at <= now())))
       GROUP BY p.company, o.node ORDER BY o.node IS NULL, min(p.due_at) LIMIT $2`,
      [node, mostAtOnce],
    );
  }

  /** Of each company in the fleet, or of some. */
  ofMonth(month: string, only: readonly string[] | null): Promise<CompanyMonth[]> {
    return this.postgres.query(
      `SELECT c.name AS company, ${isoText("p.asked_at")} AS asked_at, ${isoText("p.due_at")} AS due_at,
         ${isoText("p.made_at")} AS made_at, p.made, p.reason, p.error, o.node, o.failure,
         o.expires_at > clock_timestamp() AS live
       FROM fintoro_mirror.companies c
       LEFT JOIN fintoro_mirror.packages p ON p.company = c.name AND p.month = $1
       LEFT JOIN fintoro_mirror.owners o ON o.company = c.name
       WHERE NOT c.removed AND ($2::text[] IS NULL OR c.name = ANY($2)) ORDER BY c.name`,
      [month, only],
    );
  }

  /** Null: none is due. */
  next(company: string): Promise<AskedPackage | null> {
    const sql = `SELECT month, proved, due_at::text AS due, made FROM fintoro_mirror.packages
      WHERE company = $1 AND due_at <= now() ORDER BY due_at LIMIT 1`;
    return this.findRow(sql, [company]);
  }

  /**
   * @param made null: what was made before is still right
   * @throws MirrorError `locked` where the company has another owner
   */
  finish(owner: Owner, asked: AskedPackage, made: StoredPackage | null): Promise<void> {
    const set = `due_at = nullif(p.due_at, $5::timestamptz), failures = 0, reason = NULL, error = NULL,
      made = coalesce($6::jsonb, p.made), made_at = CASE WHEN $6::jsonb IS NULL THEN p.made_at ELSE clock_timestamp() END`;
    return this.change(owner, asked, set, [asked.due, made]);
  }

  /**
   * It is due again after a minute, then after two, at last once an hour; of what was asked for meanwhile this says nothing.
   * Throws as `finish`.
   */
  fail(owner: Owner, asked: AskedPackage, reason: PackageFailure, error: string): Promise<void> {
    const pause = "least(60 * 2 ^ least(p.failures, 6), 3600) * interval '1 second'";
    const set = `(failures, reason, error, due_at) = (
      SELECT p.failures + 1, $6, $7, clock_timestamp() + ${pause} WHERE p.due_at = $5::timestamptz
      UNION ALL SELECT p.failures, p.reason, p.error, p.due_at WHERE p.due_at <> $5::timestamptz)`;
    return this.change(owner, asked, set, [asked.due, reason, error]);
  }

  private change(owner: Owner, { month }: AskedPackage, set: string, values: readonly unknown[]) {
    const update = `UPDATE fintoro_mirror.packages p SET ${set} FROM owner
      WHERE p.company = owner.company AND p.month = $4`;
    return writeAsOwner(this.postgres, owner, update, [month, ...values]);
  }
}
