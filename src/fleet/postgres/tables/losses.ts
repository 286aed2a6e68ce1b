import { hourMs } from "../../../base/clock.ts";
import { backoffMs, retries } from "../../../retry/retry-limits.ts";
import { intervalOf, type Postgres } from "../connection.ts";

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

/** SQL: the columns of a `Loss`, of the row `o` of `owners`. */
export const lossColumns = `o.losses AS before,
  (extract(epoch FROM o.expires_at - o.claimed_at) * 1000)::float8 AS "heldMs",
  EXISTS (SELECT FROM fintoro_mirror.nodes n
    WHERE n.node = o.node AND n.started_at <= o.claimed_at AND n.seen_at > o.expires_at) AS survived`;

/** SQL: losses before the present ownership, of the row `o` of `owners`, as far as they still say something. */
export const relevantLosses = `CASE WHEN o.expires_at - o.claimed_at > ${intervalOf(String(harmlessMs))} THEN 0 ELSE o.losses END`;

/** SQL: nobody has decided yet when the company of this row of `owners`, which was lost, may be taken over. */
export const isUnjudged = `(claimable_at IS NULL AND losses >= ${suspectLosses - 1})`;

/** Decides when suspect companies of lost nodes may be taken over; until then nobody can. Gives those that must wait. */
export async function judgeLosses(postgres: Postgres, random: () => number) {
  const lost = await postgres.query<Loss & { company: string; node: string; epoch: number }>(
    `SELECT o.company, o.node, o.epoch, ${lossColumns} FROM fintoro_mirror.owners o
     WHERE o.node IS NOT NULL AND o.expires_at <= now() AND ${isUnjudged}`,
  );
  const counted = lost.map((one) => ({ ...one, losses: lossesInARow(one) }));
  const judged = counted.map((one) => {
    const peers = counted.filter(({ node, losses }) => node === one.node && losses >= one.losses).length;
    return { ...one, delayMs: takeoverDelayMs(one.losses, peers, random()) };
  });
  // Where two nodes judge at the same time the first one counts.
  const decided = await postgres.query<{ company: string; node: string; losses: number; delayMs: number }>(
    `UPDATE fintoro_mirror.owners o SET claimable_at = clock_timestamp() + ${intervalOf('"delayMs"')}
     FROM jsonb_to_recordset($1::jsonb) AS judged (company text, node text, epoch bigint, losses integer, "delayMs" float8)
     WHERE o.company = judged.company AND o.epoch = judged.epoch AND o.node IS NOT NULL AND o.claimable_at IS NULL
     RETURNING o.company, o.node, judged.losses, "delayMs"`,
    [JSON.stringify(judged)],
  );
  return decided.filter(({ delayMs }) => delayMs > 0);
}
