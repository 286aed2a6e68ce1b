import { MirrorError } from "../../../base/errors.ts";
import { intervalOf, FleetTable, onlyRow, type Postgres, type Sql } from "../connection.ts";
import { isUnjudged, lossColumns, lossesInARow, suspectLosses, type Loss } from "./losses.ts";
import { epochBaseSql } from "./timeline-table.ts";

/** One node's right to write a company outside its process. */
export interface Owner {
  readonly company: string;
  /** One higher with each claim. */
  readonly epoch: number;
  readonly node: string;
}

/**
 * What a claim gave. `owned`: another node owns the company. `account`: another company of the same account is owned now.
 * `removed`: the fleet has no such company. `set_aside`: it is left alone for a while, because nodes that held it died one
 * after another, or could not hold it.
 */
export type Claim =
  | { readonly epoch: number; readonly quietMs: QuietMs }
  | { readonly refused: "owned" | "account" | "removed" | "set_aside" };

/** For how long no owner of the account can have sent a request, by Postgres' clock. Null: there was no other owner. */
export type QuietMs = number | null;

/** Why a node could not hold a company, and how long nobody takes it after the first failure. */
export interface Failure {
  readonly why: string;
  readonly pauseMs: number;
}

const longestPauseMs = 30 * 60_000;

export interface OwnerRow {
  readonly company: string;
  readonly epoch: number;
  /** Null: released. */
  readonly node: string | null;
  /** Is there an owner now, by Postgres' clock? */
  readonly live: boolean;
}

/** SQL: has the company of this row of `owners` an owner now? */
export const isLive = "(node IS NOT NULL AND expires_at > clock_timestamp())";

/** SQL: the owner's row, locked, while it is `$1`, `$2`, `$3` (company, epoch, node) and has not ended. */
const ownerCondition = `SELECT company, epoch, node FROM fintoro_mirror.owners
  WHERE company = $1 AND epoch = $2 AND node = $3 AND expires_at > clock_timestamp() FOR KEY SHARE`;

/**
 * Checks in a transaction that this is still the owner. Until the transaction ends nobody else can claim the company,
 * not even after the ownership has expired; renewals go on.
 *
 * @throws MirrorError `locked` where the company has another owner or none
 */
export async function assertOwner(sql: Sql, owner: Owner): Promise<void> {
  const rows = await sql.query(ownerCondition, valuesOf(owner));
  if (rows.length === 0) throw noOwner(owner);
}

/**
 * Makes a statement on what the company's owner alone writes; `owner` is its row, `$4` the first of `values`.
 *
 * @throws MirrorError `locked` where the company has another owner or none: then nothing was written
 */
export async function writeAsOwner(
  sql: Sql,
  owner: Owner,
  statement: string,
  values: readonly unknown[],
): Promise<void> {
  const text = `WITH owner AS (${ownerCondition}) ${statement} RETURNING 1`;
  const rows = await sql.query(text, [...valuesOf(owner), ...values]);
  if (rows.length === 0) throw noOwner(owner);
}

function valuesOf({ company, epoch, node }: Owner): [string, number, string] {
  return [company, epoch, node];
}

/** The error of a write whose ownership has ended. */
export function noOwner({ company, epoch, node }: Owner): MirrorError {
  const message = `the company has another owner: ${node} owned ${company} in epoch ${epoch}, which has ended`;
  const hint = "Nothing was written. The owner of now goes on with the company.";
  return new MirrorError("locked", message, { hint });
}

/**
 * Who may write a company outside its process.
 *
 * Guarantee: a company has at most one live owner, and so has an account; each claim gets a higher epoch. Only
 * Postgres' clock decides when an ownership ends. The right to send is the ownership: `expires_at` is the time until
 * which its owner may send, and a new one waits until that has left the service's window (I8).
 * Source of truth: table `owners`. A row stays when the company is released or removed, so that no epoch comes twice.
 * Worst outcome of a crash: the company waits until its ownership expires.
 */
export class OwnersTable extends FleetTable {
  /** Takes a company that has no live owner, for `ttlMs`. A live owner is never replaced, this node's own neither. */
  claim(company: string, node: string, ttlMs: number): Promise<Claim> {
    return this.postgres.transaction(async (sql) => {
      const locked = "SELECT account FROM fintoro_mirror.companies WHERE name = $1 AND NOT removed FOR SHARE";
      const [found] = await sql.query<{ account: string | null }>(locked, [company]);
      if (!found) return { refused: "removed" };
      const rival = found.account === null ? null : (await lockAccount(sql, found.account, company)).rival;
      if (rival !== null) return { refused: "account" };
      return takeOver(sql, company, node, ttlMs);
    });
  }

  /**
   * Makes what this node owns last `ttlMs` from now, in one statement.
   *
   * @returns the companies that it still owns; an ownership that has expired is not renewed
   */
  async renew(
    node: string,
    held: readonly Pick<Owner, "company" | "epoch">[],
    ttlMs: number,
  ): Promise<string[]> {
    const rows = await this.postgres.query<{ company: string }>(
      `UPDATE fintoro_mirror.owners o SET expires_at = clock_timestamp() + ${intervalOf("$4")}
       FROM unnest($2::text[], $3::bigint[]) AS held (company, epoch)
       WHERE o.company = held.company AND o.epoch = held.epoch AND o.node = $1
         AND o.expires_at > clock_timestamp()
       RETURNING o.company`,
      [node, held.map(({ company }) => company), held.map(({ epoch }) => epoch), ttlMs],
    );
    return rows.map(({ company }) => company);
  }

  /**
   * Gives a company back. False: it was not this owner's any more.
   *
   * @param quietMs how long ago its last request was sent, by it or, where it sent none, by the owner before
   * @param failure why this node could not hold it; then nobody takes it for `pauseMs`, for twice that after the second
   *   failure in a row, and so on. Null: it could
   */
  release(owner: Owner, quietMs = 0, failure: Failure | null = null): Promise<boolean> {
    const ofFailure = failure ? [failure.why, failure.pauseMs, longestPauseMs] : [];
    const values = [...valuesOf(owner), quietMs, ...ofFailure];
    return this.hasRow(failure ? releaseFailed : releaseDone, values);
  }

  /** The last ownership of each of these companies; one that was never owned is left out. */
  ownersOf(companies: readonly string[]): Promise<OwnerRow[]> {
    return this.postgres.query(
      `SELECT company, epoch, node, ${isLive} AS live FROM fintoro_mirror.owners
       WHERE company = ANY($1::text[]) ORDER BY company`,
      [companies],
    );
  }
}

/** The other companies of an account, as its next owner finds them. */
export interface AccountUse {
  /** One that has a live owner; null: none has. */
  readonly rival: string | null;
  readonly quietMs: QuietMs;
}

/**
 * Holds off every other claim of a company of this account until the end of the transaction, and finds who has one.
 * Order of locks everywhere: company, account, owner.
 */
export async function lockAccount(sql: Sql, account: string, company: string): Promise<AccountUse> {
  const lock = "SELECT pg_advisory_xact_lock(hashtextextended('fintoro_mirror account ' || $1, 0))";
  await sql.query(lock, [account]);
  return onlyRow(
    sql,
    `SELECT min(o.company) FILTER (WHERE ${isLive}) AS rival,
       (extract(epoch FROM clock_timestamp() - max(o.expires_at)) * 1000)::float8 AS "quietMs" FROM fintoro_mirror.companies c JOIN fintoro_mirror.owners o ON o.company = c.name
     WHERE c.account = $1 AND c.name <> $2`,
    [account, company],
  );
}

/**
 * Judges the last ownership under a lock on its row, so that of several claims at once only the first is made. The
 * lock of the new epoch then waits for what the last owner is publishing.
 */
async function takeOver(sql: Sql, company: string, node: string, ttlMs: number): Promise<Claim> {
  const [last] = await sql.query<Loss & { node: string | null; live: boolean; isClaimable: boolean | null }>(
    `SELECT o.node, ${isLive} AS live, ${lossColumns}, o.claimable_at <= clock_timestamp() AS "isClaimable"
     FROM fintoro_mirror.owners o WHERE o.company = $1 FOR NO KEY UPDATE OF o`,
    [company],
  );
  if (last?.live) return { refused: "owned" };
  const losses = !last || last.node === null ? 0 : lossesInARow(last);
  const isUnjudgedLoss = losses >= suspectLosses && last?.isClaimable !== true;
  if (isUnjudgedLoss || last?.isClaimable === false) return { refused: "set_aside" };
  const values = [company, node, ttlMs, ...(last ? [losses] : [])];
  const [claimed] = await sql.query<{ epoch: number; quietMs: QuietMs }>(
    last ? nextEpoch : firstEpoch,
    values,
  );
  // Another first claim was faster.
  return claimed ?? takeOver(sql, company, node, ttlMs);
}

/**
 * SQL: the `QuietMs` of company `$1` as it was before this statement. An ownership that was not released may have sent
 * until it expired.
 */
const quietMs = `(SELECT extract(epoch FROM clock_timestamp() - max(o.expires_at)) * 1000
    FROM fintoro_mirror.companies own JOIN fintoro_mirror.companies c ON c.name = own.name OR c.account = own.account
    JOIN fintoro_mirror.owners o ON o.company = c.name WHERE own.name = $1)::float8 AS "quietMs"`;

const firstEpoch = `INSERT INTO fintoro_mirror.owners (company, epoch, node, expires_at, claimed_at)
  SELECT $1, ${epochBaseSql} + 1, $2, clock_timestamp() + ${intervalOf("$3")}, clock_timestamp()
  FROM fintoro_mirror.timeline ON CONFLICT DO NOTHING RETURNING epoch, ${quietMs}`;

const nextEpoch = `UPDATE fintoro_mirror.owners
  SET epoch = epoch + 1, node = $2, expires_at = clock_timestamp() + ${intervalOf("$3")}, claimed_at = clock_timestamp(),
    losses = $4, claimable_at = NULL
  WHERE company = $1 RETURNING epoch, ${quietMs}`;

const released = `UPDATE fintoro_mirror.owners
  SET node = NULL, expires_at = clock_timestamp() - ${intervalOf("$4")}, losses = 0`;
const ofOwner = "WHERE company = $1 AND epoch = $2 AND node = $3 RETURNING company";
const releaseDone = `${released}, failures = 0, failure = NULL, failed_at = NULL ${ofOwner}`;
const releaseFailed = `${released}, failures = failures + 1, failure = $5, failed_at = clock_timestamp(),
  claimable_at = clock_timestamp() + least(${intervalOf("$6")} * power(2, least(failures, 16)), ${intervalOf("$7")}) ${ofOwner}`;

export interface WaitingCompany {
  readonly company: string;
  /**
   * `left`: its node was lost, or could not hold it. `suspect`: its node was lost, and nobody has decided yet when it may
   * be taken over. `inbox`: deliveries came that no snapshot has.
   */
  readonly reason: "left" | "suspect" | "inbox";
}

/**
 * Below all triggers, what was lost: companies whose owner was lost or has failed, and companies without an owner whose
 * inbox is ahead of their snapshot. Read from indexes that hold owned, failed and waiting companies only.
 */
export function findWaitingCompanies(postgres: Postgres, limit: number): Promise<WaitingCompany[]> {
  return postgres.query(waitingSql, [limit]);
}

/** For the test that asks Postgres how it reads it. */
export const waitingSql = `SELECT company, min(reason) AS reason FROM (
    SELECT company, CASE WHEN ${isUnjudged} THEN 'suspect' ELSE 'left' END AS reason FROM fintoro_mirror.owners
    WHERE node IS NOT NULL AND expires_at <= now() AND (claimable_at IS NULL OR claimable_at <= now())
    UNION ALL
    SELECT company, 'left' FROM fintoro_mirror.owners
    WHERE failures > 0 AND node IS NULL AND (claimable_at IS NULL OR claimable_at <= now())
    UNION ALL
    SELECT h.company, 'inbox' FROM fintoro_mirror.inbox_heads h
    LEFT JOIN fintoro_mirror.owners o ON o.company = h.company
    WHERE h.waiting AND o.node IS NULL AND (o.claimable_at IS NULL OR o.claimable_at <= now())
  ) AS waiting
  WHERE NOT EXISTS (SELECT FROM fintoro_mirror.companies c WHERE c.name = company AND c.removed)
  GROUP BY company LIMIT $1`;
