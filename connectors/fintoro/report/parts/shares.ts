/** How rows are the parts of documents; both are SQL. */
interface Parts {
  /** Columns that are the same in all parts of a document, its key first: a filter on one of them reaches the tables. */
  readonly document: string;
  /** The order of a document's parts. */
  readonly order: string;
}

/**
 * SQL of the rows of `from`, each with its share of every amount of its document, in cents: `AMOUNT_share` and
 * `AMOUNT_share_eur`. For each amount `from` has the document's `AMOUNT` and `AMOUNT_eur`, and the row's own
 * `AMOUNT_part`; its `rate` is the document's.
 *
 * A share is the rounded amount up to and including the row, less that before it. So the shares of a document add up
 * to its amount. They are in proportion to the parts; where the parts add up to the amount, or to zero, each stands
 * as it is, and the last one takes the difference. Those in EUR are made of them by the document's rate: each is
 * within a cent of the share divided by the rate.
 */
export function withShares(amounts: readonly string[], from: string, { document, order }: Parts): string {
  return `SELECT *, ${amounts.map(shareOf).join(",\n    ")}
  FROM (SELECT *, ${amounts.map(reachedOf).join(",\n      ")}
    FROM (SELECT *, row_number() OVER reached = 1 AS is_first,
        row_number() OVER reached = count(*) OVER whole AS is_last,
        ${amounts.map(sumsOf).join(",\n        ")}
      FROM (${from})
      WINDOW whole AS (PARTITION BY ${document}), reached AS (PARTITION BY ${document} ORDER BY ${order})))`;
}

function sumsOf(amount: string): string {
  return `coalesce(sum(${amount}_part) OVER whole, 0) AS ${amount}_all, coalesce(sum(${amount}_part) OVER reached, 0) AS ${amount}_sum`;
}

function reachedOf(amount: string): string {
  const upTo = (sum: string, isEnd: string) => `CASE WHEN ${amount}_all <> 0 AND ${amount}_all <> ${amount}
        THEN round(${amount} * (${sum}) / ${amount}_all) WHEN ${isEnd} THEN ${amount} ELSE ${sum} END`;
  const before = `${amount}_sum - coalesce(${amount}_part, 0)`;
  return `${upTo(`${amount}_sum`, "is_last")} AS ${amount}_reached, ${upTo(before, "0")} AS ${amount}_before`;
}

/** Where the document's amount in EUR is rounded in the other direction, as VAT may be, so are the shares. */
function shareOf(amount: string): string {
  const upTo = (cents: string) => `round(${cents} / rate + (${amount}_eur - round(${amount} / rate)) / 2)`;
  return `${amount}_reached - ${amount}_before AS ${amount}_share,
    CASE WHEN is_last THEN ${amount}_eur ELSE ${upTo(`${amount}_reached`)} END
      - CASE WHEN is_first THEN 0 ELSE ${upTo(`${amount}_before`)} END AS ${amount}_share_eur`;
}
