import { sql, type QueryCreator } from "kysely";
import { MirrorError } from "../../../base/errors.ts";
import { FleetTable, type Postgres } from "../connection.ts";
import { fromNow, intervalOf, isFound, now } from "../fleet-database.ts";
import type { FleetDatabase, FleetDb } from "../fleet-database.ts";
import { isUnjudged, lossColumns, lossesInARow, suspectLosses } from "./losses.ts";
import { firstEpoch } from "./timeline-table.ts";

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
type Claim =
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

/** Has the company of this row of `owners` an owner now? */
export const isLive = sql<boolean>`(node IS NOT NULL AND expires_at > clock_timestamp())`;

/** The owner's row, locked, while it has not ended. */
function lockedOwner(db: QueryCreator<FleetDatabase>, { company, epoch, node }: Owner) {
  return db
    .selectFrom("owners")
    .select(["company", "epoch", "node"])
    .where((eb) => eb.and({ company, epoch, node }))
    .where("expires_at", ">", now)
    .forKeyShare();
}

/**
 * Checks in a transaction that this is still the owner. Until the transaction ends nobody else can claim the company,
 * not even after the ownership has expired; renewals go on.
 *
 * @throws MirrorError `locked` where the company has another owner or none
 */
export async function assertOwner(db: FleetDb, owner: Owner): Promise<void> {
  if (!(await isFound(lockedOwner(db, owner)))) throw noOwner(owner);
}

/**
 * Makes a statement on what the company's owner alone writes; `owner` is its row, and the statement returns something of
 * what it wrote.
 *
 * @throws MirrorError `locked` where the company has another owner or none: then nothing was written
 */
export async function writeAsOwner(
  db: FleetDb,
  owner: Owner,
  write: (db: QueryCreator<FleetDatabase & { owner: Owner }>) => Parameters<typeof isFound>[0],
): Promise<void> {
  const statement = write(db.with("owner", (before) => lockedOwner(before, owner)));
  if (!(await isFound(statement))) throw noOwner(owner);
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
    return this.postgres.transaction(async ({ db }) => {
      const present = db.selectFrom("companies").select("account").where("name", "=", company);
      const found = await present.where("removed", "=", false).forShare().executeTakeFirst();
      if (!found) return { refused: "removed" };
      const rival = found.account === null ? null : (await lockAccount(db, found.account, company)).rival;
      if (rival !== null) return { refused: "account" };
      return takeOver(db, company, node, ttlMs);
    });
  }

  /**
   * Makes what this node owns last `ttlMs` from now, in one statement.
   *
   * @returns the companies that it still owns; an ownership that has expired is not renewed
   */
  async renew(node: string, held: readonly Omit<Owner, "node">[], ttlMs: number): Promise<string[]> {
    const [companies, epochs] = [held.map(({ company }) => company), held.map(({ epoch }) => epoch)];
    const renewed = sql<{ company: string }>`
      UPDATE fintoro_mirror.owners o SET expires_at = ${fromNow(ttlMs)}
      FROM unnest(${companies}::text[], ${epochs}::bigint[]) AS held (company, epoch)
      WHERE o.company = held.company AND o.epoch = held.epoch AND o.node = ${node}
        AND o.expires_at > clock_timestamp()
      RETURNING o.company`;
    return (await renewed.execute(this.db)).rows.map(({ company }) => company);
  }

  /**
   * Gives a company back. False: it was not this owner's any more.
   *
   * @param quietMs how long ago its last request was sent, by it or, where it sent none, by the owner before
   * @param failure why this node could not hold it; then nobody takes it for `pauseMs`, for twice that after the second
   *   failure in a row, and so on. Null: it could
   */
  release({ company, epoch, node }: Owner, quietMs = 0, failure: Failure | null = null): Promise<boolean> {
    const released = this.db
      .updateTable("owners")
      .set({ node: null, expires_at: fromNow(-quietMs), losses: 0 })
      .set(failure ? failed(failure) : { failures: 0, failure: null, failed_at: null })
      .where((eb) => eb.and({ company, epoch, node }));
    return isFound(released.returning("company"));
  }

  /** The last ownership of each of these companies, by `node` if it was not released; one never owned is left out. */
  ownersOf(companies: readonly string[]) {
    return this.db
      .selectFrom("owners")
      .select(["company", "epoch", "node", isLive.as("live")])
      .where("company", "=", sql<string>`ANY(${companies})`)
      .orderBy("company")
      .execute();
  }
}

function failed({ why, pauseMs }: Failure) {
  const pause = sql`${intervalOf(pauseMs)} * power(2, least(failures, 16))`;
  return {
    failures: sql<number>`failures + 1`,
    failure: why,
    failed_at: now,
    claimable_at: sql<Date>`clock_timestamp() + least(${pause}, ${intervalOf(longestPauseMs)})`,
  };
}

/** The other companies of an account, as its next owner finds them. `rival`: one that has a live owner; null: none has. */
export type AccountUse = Readonly<Awaited<ReturnType<typeof lockAccount>>>;

/**
 * Holds off every other claim of a company of this account until the end of the transaction, and finds who has one.
 * Order of locks everywhere: company, account, owner.
 */
export async function lockAccount(db: FleetDb, account: string, company: string) {
  const lock = sql`SELECT pg_advisory_xact_lock(hashtextextended('fintoro_mirror account ' || ${account}, 0))`;
  await lock.execute(db);
  return db
    .selectFrom("companies")
    .innerJoin("owners", "owners.company", "companies.name")
    .select((eb) => eb.fn.min<string | null>("owners.company").filterWhere(isLive).as("rival"))
    .select(sql<QuietMs>`(extract(epoch FROM ${now} - max(expires_at)) * 1000)::float8`.as("quietMs"))
    .where("account", "=", account)
    .where("name", "<>", company)
    .executeTakeFirstOrThrow();
}

/**
 * Judges the last ownership under a lock on its row, so that of several claims at once only the first is made. The
 * lock of the new epoch then waits for what the last owner is publishing.
 */
async function takeOver(db: FleetDb, company: string, node: string, ttlMs: number): Promise<Claim> {
  const last = await db
    .selectFrom("owners")
    .select(["node", isLive.as("live"), ...lossColumns])
    .select(sql<boolean | null>`claimable_at <= clock_timestamp()`.as("isClaimable"))
    .where("company", "=", company)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (last?.live) return { refused: "owned" };
  const losses = !last || last.node === null ? 0 : lossesInARow(last);
  const isUnjudgedLoss = losses >= suspectLosses && last?.isClaimable !== true;
  if (isUnjudgedLoss || last?.isClaimable === false) return { refused: "set_aside" };
  const given = { node, expires_at: fromNow(ttlMs), claimed_at: now };
  const returned = ["epoch", quietBefore(company).as("quietMs")] as const;
  const next = db
    .updateTable("owners")
    .set((eb) => ({ epoch: eb("epoch", "+", 1), ...given, losses, claimable_at: null }))
    .where("company", "=", company)
    .returning(returned);
  const first = db
    .insertInto("owners")
    .values({ company, epoch: db.selectFrom("timeline").select(firstEpoch.as("epoch")), ...given })
    .onConflict((on) => on.doNothing())
    .returning(returned);
  const claimed = await (last ? next : first).executeTakeFirst();
  // Another first claim was faster.
  return claimed ?? takeOver(db, company, node, ttlMs);
}

/** The `QuietMs` as it was before this statement. An ownership that was not released may have sent until it expired. */
function quietBefore(company: string) {
  return sql<QuietMs>`(SELECT extract(epoch FROM clock_timestamp() - max(o.expires_at)) * 1000
    FROM fintoro_mirror.companies own JOIN fintoro_mirror.companies c ON c.name = own.name OR c.account = own.account
    JOIN fintoro_mirror.owners o ON o.company = c.name WHERE own.name = ${company})::float8`;
}

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
export async function findWaitingCompanies({ db }: Postgres, limit: number): Promise<WaitingCompany[]> {
  return (await waitingCompanies(limit).execute(db)).rows;
}

/** For the test that asks Postgres how it reads it. */
export function waitingCompanies(limit: number) {
  return sql<WaitingCompany>`SELECT company, min(reason) AS reason FROM (
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
    GROUP BY company LIMIT ${limit}`;
}
