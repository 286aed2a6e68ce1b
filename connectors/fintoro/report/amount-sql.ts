/**
 * SQL for amounts. They are summed as whole cents (numbers that are exact), and told in units again at the
 * end, so that no sum is off by what floats are off. `round` gives a REAL in every SQLite: nothing here is
 * ever divided as integers.
 */
export function cents(amount: string): string {
  return `round(${amount} * 100)`;
}

/**
 * In euro, rounded once; null where no rate is known. The rate is units of the currency per euro. A double
 * divides to the cent what documents hold; from a billion on, one in thousands may be a cent off.
 */
export function euroCents(amount: string, rate: string): string {
  return `round(${cents(amount)} / ${rate})`;
}

/** A sum of cents, in units. */
export function summed(column: string): string {
  return `sum(${column}) / 100.0`;
}

/** The same, null where one of the summed is unknown: a part of a sum is no sum. */
export function summedIfKnown(column: string): string {
  return `CASE WHEN count(*) = count(${column}) THEN sum(${column}) / 100.0 END`;
}

/** The ISO code of a document's currency; `c` is the joined row of `currencies`. */
export function currencyOf(document: string): string {
  return `coalesce(c.symbol, CAST(${document}.currency_id AS TEXT))`;
}

/** Of documents that carry no rate: one for euro, unknown for others. */
export const plainRate = "CASE WHEN c.symbol = 'EUR' THEN 1 END";

/** The report's date. */
export const today = "(SELECT value FROM _about WHERE subject = 'report' AND fact = 'report_date')";

/** Whole days from a date to the report's date. */
export function daysSince(date: string): string {
  return `CAST(round(julianday(${today}) - julianday(${date})) AS INTEGER)`;
}

/** How long a payment has been due. */
export function ageOf(days: string): string {
  return `CASE WHEN ${days} > 90 THEN 'over_90' WHEN ${days} > 60 THEN '61-90'
      WHEN ${days} > 30 THEN '31-60' WHEN ${days} > 0 THEN '1-30' ELSE 'not_due' END`;
}

/**
 * A document's amount spread over its parts in proportion to what each adds to `all`, in whole cents: each
 * part gets what is reached with it less what was reached before it, so that together they are the amount.
 * Where that is what the parts are anyway, nothing is counted. Where the parts come to nothing, they stand as they are and the last one takes the difference.
 */
export function share(amount: string, reached: string, part: string, all: string, isLast: string): string {
  const upTo = (sum: string) => `round(${amount} * (${sum}) / ${all})`;
  return `CASE WHEN ${all} = ${amount} THEN ${part}
      WHEN coalesce(${all}, 0) = 0 THEN coalesce(${part}, 0) + CASE WHEN ${isLast} THEN ${amount} ELSE 0 END
      ELSE ${upTo(reached)} - ${upTo(`${reached} - ${part}`)} END`;
}
