import type { Postgres } from "../connection.ts";
import { noOwner, ownerCondition, valuesOf, type Owner } from "./owners-table.ts";
import { intervalOf } from "../sql-time.ts";

/** What an owner asks for. */
export interface PermitRequest {
  readonly count: number;
  /**
   * For how long after another owner's last permits none are given, ms: those permits may still be used (5 s), and then
   * count for a whole window of the service.
   */
  readonly spentMs: number;
  /** Does this node's rate limiter know what it sent for this company before, because its state stayed here? */
  readonly continues: boolean;
}

/** Permits taken; `granted` is 0 where `waitMs` have to pass first, by Postgres' clock. */
export interface PermitBlock {
  readonly granted: number;
  readonly waitMs: number;
}

/**
 * Who may spend an account's budget. It does not count a window: the owner's rate limiter does.
 *
 * Guarantee: only a company's owner gets permits, and none while those of another owner, or of another company of the
 * account, can count in the service's window (I8).
 * Source of truth: table `budgets`; its key is the account, or the company while that is not known.
 * Worst outcome of a crash: permits that were taken are not used.
 */
export class BudgetsTable {
  private readonly postgres: Postgres;

  constructor(postgres: Postgres) {
    this.postgres = postgres;
  }

  /** @throws MirrorError `locked` where the company has another owner */
  async take(owner: Owner, { count, spentMs, continues }: PermitRequest): Promise<PermitBlock> {
    const [row] = await this.postgres.query<{ taken: boolean; waitMs: number | null }>(takePermits, [
      ...valuesOf(owner),
      count,
      spentMs,
      continues,
    ]);
    if (!row) throw noOwner(owner);
    return row.taken ? { granted: count, waitMs: 0 } : { granted: 0, waitMs: Math.max(1, row.waitMs ?? 1) };
  }
}

/** One row: taken or not; none: the company has another owner. */
const takePermits = `WITH owner AS (${ownerCondition}),
  key AS (
    SELECT owner.*, coalesce('account ' || c.account, 'company ' || c.name) AS account
    FROM owner JOIN fintoro_mirror.companies c ON c.name = owner.company),
  taken AS (
    INSERT INTO fintoro_mirror.budgets AS b (account, company, epoch, node, permits, last_at)
    SELECT account, company, epoch, node, $4::bigint, clock_timestamp() FROM key
    ON CONFLICT (account) DO UPDATE SET company = excluded.company, epoch = excluded.epoch, node = excluded.node,
      permits = b.permits + excluded.permits, last_at = excluded.last_at
    WHERE b.company = excluded.company AND (b.epoch = excluded.epoch OR $6 AND b.node = excluded.node)
      OR b.last_at < clock_timestamp() - ${intervalOf("$5")}
    RETURNING account)
  SELECT EXISTS (SELECT FROM taken) AS taken,
    (SELECT ceil(extract(epoch FROM b.last_at + ${intervalOf("$5")} - clock_timestamp()) * 1000)::bigint
     FROM fintoro_mirror.budgets b WHERE b.account = key.account) AS "waitMs"
  FROM key`;
