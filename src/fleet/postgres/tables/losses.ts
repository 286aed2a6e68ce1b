import { sql } from "kysely";
import { hourMs } from "../../../base/clock.ts";
import { backoffMs, retries } from "../../../retry/retry-limits.ts";
import type { Postgres } from "../connection.ts";
import { intervalOf, jsonb } from "../fleet-database.ts";

/** How an ownership ended that nobody released. */
export interface Loss {
  /** Losses of the company in a row before this one. */
  readonly before: number;
  readonly heldMs: number;
  /** Its node's process was seen afterwards: it could not renew in time, as while Postgres is away, and did not die. */
  readonly survived: boolean;
}

/** After so many deaths in a row of nodes that held it, a company may be what they died of. */
export const suspectLosses = 3;
/** A company that was held for longer than that is worth the node that it may end. */
const harmlessMs = 6 * hourMs;
/** Where more companies of a node are equally suspect, its host died, or nobody can say which of them it was. */
const mostSuspects = 10;
const spreadMs = 120_000;

/** Pure: losses in a row, this one included. */
export function lossesInARow({ before, heldMs, survived }: Loss): number {
  if (survived) return before;
  return heldMs > harmlessMs ? 1 : before + 1;
}

/**
 * Pure: for how long nobody takes a company over after its node died, ms. From the third death in a row on it grows, and
 * is spread, so that companies which died together are taken apart: the next death is that of fewer of them. Many at once
 * are only spread.
 *
 * @param peers companies that were lost with the same node after at least as many losses, this one included
 * @param random 0 to 1
 */
export function takeoverDelayMs(losses: number, peers: number, random: number): number {
  if (losses < suspectLosses) return 0;
  if (peers > mostSuspects) return spreadMs * random;
  return backoffMs(losses - suspectLosses + 1, retries.takeover) * (0.5 + random);
}

/** The columns of a `Loss`, of the row of `owners`. */
export const lossColumns = [
  sql<number>`losses`.as("before"),
  sql<number>`(extract(epoch FROM expires_at - claimed_at) * 1000)::float8`.as("heldMs"),
  sql<boolean>`EXISTS (SELECT FROM fintoro_mirror.nodes n WHERE n.node = owners.node
    AND n.started_at <= owners.claimed_at AND n.seen_at > owners.expires_at)`.as("survived"),
] as const;

/** Losses before the present ownership, of the row `o` of `owners`, as far as they still say something. */
export const relevantLosses = sql<
  number | null
>`CASE WHEN o.expires_at - o.claimed_at > ${intervalOf(harmlessMs)} THEN 0 ELSE o.losses END`;

/** Nobody has decided yet when the company of this row of `owners`, which was lost, may be taken over. */
export const isUnjudged = sql<boolean>`(claimable_at IS NULL AND losses >= ${sql.lit(suspectLosses - 1)})`;

/** Decides when suspect companies of lost nodes may be taken over; until then nobody can. Gives those that must wait. */
export async function judgeLosses({ db }: Postgres, random: () => number) {
  const lost = await db
    .selectFrom("owners")
    .select(["company", "node", "epoch", ...lossColumns])
    .where("node", "is not", null)
    .where(sql<boolean>`expires_at <= now()`)
    .where(isUnjudged)
    .execute();
  const counted = lost.map((one) => ({ ...one, losses: lossesInARow(one) }));
  const judged = counted.map((one) => {
    const peers = counted.filter(({ node, losses }) => node === one.node && losses >= one.losses).length;
    return { ...one, delayMs: takeoverDelayMs(one.losses, peers, random()) };
  });
  // Where two nodes judge at the same time the first one counts.
  const decided = await sql<{ company: string; node: string; losses: number; delayMs: number }>`
    UPDATE fintoro_mirror.owners o SET claimable_at = clock_timestamp() + ${intervalOf(sql.ref("delayMs"))}
    FROM jsonb_to_recordset(${jsonb(judged)})
      AS judged (company text, node text, epoch bigint, losses integer, "delayMs" float8)
    WHERE o.company = judged.company AND o.epoch = judged.epoch AND o.node IS NOT NULL AND o.claimable_at IS NULL
    RETURNING o.company, o.node, judged.losses, "delayMs"`.execute(db);
  return decided.rows.filter(({ delayMs }) => delayMs > 0);
}
