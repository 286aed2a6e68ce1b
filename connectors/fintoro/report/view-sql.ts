/**
 * SQL of an amount in whole cents. Sums are made of cents, which are exact numbers, and divided at the end.
 * `round` gives a REAL in every SQLite, so nothing is divided as integers.
 */
export const cents = (amount: string) => `round(${amount} * 100)`;

/** The rate of documents that carry none: 1 for EUR, unknown for others. `c` is the joined row of `currencies`. */
export const euroRate = "(CASE WHEN c.symbol = 'EUR' THEN 1 END)";

/** The rate of a document `d`. Where its detail was not read yet, it carries none. */
export const rateOf = `coalesce(d.currency_rate, ${euroRate})`;

/**
 * SQL of an amount in EUR cents, rounded once; null where no rate is known. The rate is units of the currency
 * per euro, that of the document `d` unless given. Exact for usual amounts; above a billion, one in a thousand may be a cent off.
 */
export const euroCents = (amount: string, rate = rateOf) => `round(${cents(amount)} / ${rate})`;

export const summed = (column: string) => `sum(${column}) / 100.0`;

/** SQL of two columns: cents in units, and cents of EUR in units as `NAME_eur`. */
export function inUnits(name: string, amount = name, inEuro = `${amount}_eur`): string {
  return `${amount} / 100.0 AS ${name}, ${inEuro} / 100.0 AS ${name}_eur`;
}

/** SQL of two columns: an amount of a document `d`, and the same in EUR. */
export function amountOf(column: string, name = column, rate = rateOf): string {
  return inUnits(name, cents(`d.${column}`), euroCents(`d.${column}`, rate));
}

/** SQL of a sum that is null, never a partial sum, where a value of the column is unknown. */
export const ifKnown = (column: string, sum: string) =>
  `CASE WHEN count(*) = count(${column}) THEN ${sum} END`;

/** SQL of two columns: a sum of cents, and one of cents of EUR; null if one of its values, or of those in `known`, is null. */
export function sums(name: string, column = name, inEuro = `${column}_eur`, known = inEuro): string {
  return `${summed(column)} AS ${name}, ${ifKnown(known, summed(inEuro))} AS ${name}_eur`;
}

/** SQL of a sum's term that counts only where the condition holds. */
export const countedIf = (condition: string, term: string) =>
  `CASE WHEN ${condition} THEN ${term} ELSE 0 END`;

/** As `sums`, of the rows for which the condition holds. */
export function sumsIf(condition: string, name: string, column: string, known?: string): string {
  return sums(name, countedIf(condition, column), countedIf(condition, `${column}_eur`), known);
}

/** As `sums`, of outer joined rows, which have the column `key`: 0.0 where there are none. */
export function joinedSums(name: string, column: string, inEuro: string, key: string): string {
  return `coalesce(${summed(column)}, 0.0) AS ${name},
  CASE WHEN count(${key}) = count(CASE WHEN ${key} IS NOT NULL THEN ${inEuro} END)
    THEN coalesce(${summed(inEuro)}, 0.0) END AS ${name}_eur`;
}

/** SQL of the rows of invoices, then of credit notes. */
export function ofBills(rows: (type: "invoice" | "credit_note") => string): string {
  return `${rows("invoice")}\nUNION ALL\n${rows("credit_note")}`;
}

/** SQL of the client as on a document `d`, in the columns of `parties`; `s` is the joined row of `countries`. */
export const partiesSql = `d.client_name AS client_name, d.client_subject_id AS client_subject_id,
  d.client_tax_id AS client_tax_id, d.client_vat_id AS client_vat_id, s.code AS client_country`;

/** SQL of the condition that a document is to be paid; `d` is its alias. */
export const isOpen = (d = "d") => `${d}.to_be_paid > 0 AND ${d}.status IS NOT 'will_not_be_paid'`;

/** SQL of the condition that a credit note is neither paid out nor set off; `d` is its alias. */
export const isOpenCredit = (d = "d") => `${d}.to_be_paid < 0 AND ${d}.status IS NOT 'will_not_be_paid'`;

/**
 * SQL of whether an invoice or credit note `d` belongs to an advance: a payment receipt, which is the tax document of an
 * advance, or a credit note of one. Such documents owe VAT and are no revenue. 0 or 1.
 */
export function isOfAdvance(table: "invoices" | "credit_notes"): string {
  if (table === "invoices") return "(d.type IS 'payment_receipt')";
  return "EXISTS (SELECT 1 FROM invoices o WHERE o.id = d.invoice_id AND o.type = 'payment_receipt')";
}

/** SQL of the ISO code of the currency of `d`; `c` is the joined row of `currencies`. */
export const currencyOf = "coalesce(c.symbol, CAST(d.currency_id AS TEXT))";

export const withCurrency = (table: string) => `${table} d LEFT JOIN currencies c ON c.id = d.currency_id`;

export function withClient(table: string): string {
  return `${withCurrency(table)} LEFT JOIN clients k ON k.id = d.client_id`;
}

/**
 * SQL of who the client or supplier of a document `d` is: its id; without one what identifies it as printed, a number
 * in its country or else name and address; null where nothing does.
 */
export function partyOf(party: "client" | "supplier", d = "d"): string {
  const own = (column: string) => `${d}.${party}_${column}`;
  const inCountry = (column: string) =>
    `'${column} ' || coalesce(${own("country_id")}, '') || ' ' || nullif(trim(${own(column)}), '')`;
  const address = ["street", "city", "zip", "country_id"].map((column) => `coalesce(${own(column)}, '')`);
  const named = ["'name'", `nullif(trim(${own("name")}), '')`, ...address].join(" || '|' || ");
  const numbers = ["subject_id", "tax_id", "vat_id"].map(inCountry);
  return `coalesce(${[own("id"), ...numbers, named].join(",\n      ")})`;
}

type ClientTable = "invoices" | "credit_notes" | "proformas";

/** SQL of the key of a document's buyer, one for all views: where nothing identifies it, no other document has it. */
export function buyerOf(table: ClientTable, d = "d"): string {
  const corrected = table === "credit_notes" ? `'invoices ' || ${d}.invoice_id, ` : "";
  return `coalesce(${partyOf("client", d)}, ${corrected}'${table} ' || ${d}.id)`;
}

/** SQL of the columns that name the client of a document. */
export const client = "d.client_id AS client_id, coalesce(k.name, d.client_name) AS client_name";

export function totals(rate = rateOf): string {
  return `${cents("d.total")} AS net, ${euroCents("d.total", rate)} AS net_eur,
    ${cents("d.total_with_vat")} AS gross, ${euroCents("d.total_with_vat", rate)} AS gross_eur`;
}

/** SQL of one row for each invoice and credit note, with its totals in cents; `columns` are those before. */
export function bills(columns: (table: "invoices" | "credit_notes") => string): string {
  const rows = (["invoices", "credit_notes"] as const).map(
    (table) => `SELECT ${columns(table)}, ${currencyOf} AS currency,
    ${table === "invoices" ? 1 : 0} AS is_invoice, ${isOfAdvance(table)} AS of_advance, ${totals()}
  FROM ${withCurrency(table)}`,
  );
  return rows.join("\n  UNION ALL\n  ");
}

/** SQL of the report's date; `_about` is part of every report. */
export const reportDate = `(SELECT value FROM _about WHERE subject = 'report' AND fact = 'report_date')`;

export function daysBetween(from: string, to: string): string {
  return `CAST(round(julianday(${to}) - julianday(${from})) AS INTEGER)`;
}

export const daysSince = (date: string) => daysBetween(date, reportDate);

export const outcome = `CASE WHEN d.status = 'waiting' AND d.validity_date < ${reportDate} THEN 'expired' ELSE d.status END`;

/** SQL of the age of a receivable, by its days past due; in words, because spreadsheets take `1-30` for a date. */
export function ageOf(days: string): string {
  return `CASE WHEN ${days} > 90 THEN 'over 90' WHEN ${days} > 60 THEN '61 to 90'
      WHEN ${days} > 30 THEN '31 to 60' WHEN ${days} > 0 THEN '1 to 30' ELSE 'not due' END`;
}

/** How rows are the parts of documents; both are SQL. */
interface Parts {
  /** Columns that are the same in all parts of a document, its key first: a filter on one of them reaches the tables. */
  readonly document: string;
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
    FROM (SELECT *, row_number() OVER reached = count(*) OVER whole AS is_last,
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

/** Where the document's amount in EUR is rounded in the other direction, as VAT may be, so are the shares; nothing stays nothing. */
function shareOf(amount: string): string {
  const shift = `(${amount}_eur - round(${amount} / rate)) / 2`;
  const upTo = (sum: string) => `round(${sum} / rate + (${sum} <> 0) * ${shift})`;
  return `${amount}_reached - ${amount}_before AS ${amount}_share,
    CASE WHEN is_last THEN ${amount}_eur ELSE ${upTo(`${amount}_reached`)} END
      - ${upTo(`${amount}_before`)} AS ${amount}_share_eur`;
}
