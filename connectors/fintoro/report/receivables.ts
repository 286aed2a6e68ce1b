import type { ReportView } from "../../../src/connector/report-view.ts";
import { paymentStatuses } from "../resources/document-fields.ts";
import * as c from "./view-columns.ts";
import * as sql from "./view-sql.ts";

const ages = ["not due", "1 to 30", "31 to 60", "61 to 90", "over 90"];
const age = c.text("age", "By days past due on the report's date", ages);
const daysOverdue = (document: string) => `coalesce(max(${sql.daysSince(`${document}.due_date`)}, 0), 0)`;

/** Documents that are not paid, one row each; `more` are further columns. */
function openDocuments(table: "invoices" | "proformas", more = "", join = ""): string {
  const rate = table === "proformas" ? sql.euroRate : sql.rateOf;
  return `SELECT d.id AS id, d.number AS number, d.type AS type, ${sql.buyerOf(table)} AS buyer, ${sql.client}, d.issue_date AS issue_date, d.due_date AS due_date,
    ${daysOverdue("d")} AS days_overdue, ${sql.ageOf(daysOverdue("d"))} AS age, d.status AS status, d.variable_symbol AS variable_symbol,
    ${sql.currencyOf} AS currency, ${sql.cents("d.total_with_vat")} AS gross,
    ${sql.euroCents("d.total_with_vat", rate)} AS gross_eur, ${sql.cents("d.to_be_paid")} AS open,
    ${sql.euroCents("d.to_be_paid", rate)} AS open_eur${more}
  FROM ${sql.withClient(table)}${join}
  WHERE ${sql.isOpen()}`;
}

/** Open credit notes; with the age of the invoice they correct, if that is open, too, of the same buyer and currency. */
const openCredits = `SELECT ${sql.buyerOf("credit_notes")} AS buyer, ${sql.currencyOf} AS currency,
    -${sql.cents("d.to_be_paid")} AS credit, -${sql.euroCents("d.to_be_paid")} AS credit_eur,
    (SELECT ${sql.ageOf(daysOverdue("i"))} FROM invoices i WHERE i.id = d.invoice_id AND ${sql.buyerOf("invoices", "i")} = ${sql.buyerOf("credit_notes")}
      AND i.currency_id IS d.currency_id AND ${sql.isOpen("i")}) AS age
  FROM ${sql.withCurrency("credit_notes")} WHERE ${sql.isOpenCredit()}`;

const receivables: ReportView = {
  name: "v_receivables",
  title: "Receivables",
  question: "Who owes us, and since when?",
  doc:
    "Invoices that are not paid, by client and age; without those that will not be paid. Open credit notes stand " +
    "beside the invoice they correct; where that is paid, beside the client's oldest open invoices in the same " +
    "currency. Clients without an open invoice, and advances, are in v_client_balance",
  columns: [
    ...c.client,
    c.currency,
    age,
    c.count("invoices", "How many"),
    ...c.amounts("to_be_paid", "What is open"),
    ...c.amounts("credit_open", "Open credit notes, as a positive amount"),
    ...c.amounts("net", "to_be_paid less credit_open"),
    c.date("oldest_due_date", "Of these invoices"),
    c.count("most_days_overdue", "Of these invoices, days"),
    c.buyer,
  ],
  facets: ["age", "currency"],
  sort: { column: "to_be_paid_eur", descending: true },
  sql: `WITH open_invoices AS (
  ${openDocuments("invoices")}
), oldest AS (
  SELECT buyer, client_id, currency, age, max(days_overdue) FROM open_invoices GROUP BY buyer, currency
), credits AS (
  ${openCredits}
)
SELECT client_id, max(client_name) AS client_name, currency, age, sum(invoices) AS invoices,
  ${sql.sums("to_be_paid", "open")},
  ${sql.sums("credit_open", "credit")},
  ${sql.sums("net", "open - credit", "open_eur - credit_eur")},
  min(due_date) AS oldest_due_date, max(days_overdue) AS most_days_overdue,
  CAST(buyer AS TEXT) AS buyer
FROM (
  SELECT buyer, client_id, client_name, currency, age, 1 AS invoices, open, open_eur, 0 AS credit, 0 AS credit_eur, due_date, days_overdue
  FROM open_invoices
  UNION ALL
  SELECT o.buyer, o.client_id, NULL, o.currency, coalesce(n.age, o.age), 0, 0, 0, n.credit, n.credit_eur, NULL, NULL
  FROM credits n JOIN oldest o ON o.buyer = n.buyer AND o.currency = n.currency
)
GROUP BY buyer, client_id, currency, age`,
};

/** SQL of the sum of an invoice's open credit notes, as a positive amount; null where one is not known. */
const creditsOf = (amount: string) => sql.ifKnown(amount, `-sum(${amount})`);
const creditSums = `(SELECT d.invoice_id AS invoice_id, d.currency_id AS currency_id,
    ${creditsOf(sql.cents("d.to_be_paid"))} AS credit, ${creditsOf(sql.euroCents("d.to_be_paid"))} AS credit_eur
  FROM ${sql.withCurrency("credit_notes")} WHERE ${sql.isOpenCredit()} GROUP BY d.invoice_id, d.currency_id)`;
const credits = `,
    CASE WHEN n.invoice_id IS NULL THEN 0 ELSE n.credit END AS credit,
    CASE WHEN n.invoice_id IS NULL THEN 0 ELSE n.credit_eur END AS credit_eur`;
const joinCredits = `
  LEFT JOIN ${creditSums} n ON n.invoice_id = d.id AND n.currency_id IS d.currency_id`;

/** A view with one row for each open document of a table. */
function oneByOne(table: "invoices" | "proformas"): Omit<ReportView, "name" | "title" | "question" | "doc"> {
  const isInvoice = table === "invoices";
  const key = isInvoice ? "invoice_id" : "proforma_id";
  return {
    columns: [
      c.id(key, `Id in ${table}`),
      c.text("number", "As printed"),
      ...c.client,
      c.date("issue_date", "Of the document"),
      c.date("due_date", "Of the document"),
      c.count("days_overdue", "Days past due on the report's date; 0 while it is not due"),
      age,
      c.text("status", "As the service gives it", paymentStatuses),
      c.id("variable_symbol", "Identifies its payment"),
      c.currency,
      ...c.amounts("total_with_vat", "Of the document"),
      ...c.amounts("to_be_paid", "What is open"),
      ...(isInvoice
        ? [
            ...c.amounts("credit_open", "Open credit notes of this invoice, as a positive amount"),
            ...c.amounts("net", "to_be_paid less credit_open"),
          ]
        : []),
    ],
    facets: ["age", "status", "currency"],
    date: "issue_date",
    sort: { column: "due_date", descending: false },
    sql: `SELECT id AS ${key}, number, client_id, client_name, issue_date, due_date, days_overdue, age, status,
  variable_symbol, currency, ${sql.inUnits("total_with_vat", "gross")},
  ${sql.inUnits("to_be_paid", "open")}${
    isInvoice
      ? `,
  ${sql.inUnits("credit_open", "credit")},
  ${sql.inUnits("net", "(open - credit)", "(open_eur - credit_eur)")}`
      : ""
  }
FROM (${isInvoice ? openDocuments(table, credits, joinCredits) : openDocuments(table)})`,
  };
}

const openInvoices: ReportView = {
  name: "v_open_invoices",
  title: "Open invoices",
  question: "Which invoices are not paid?",
  doc: "The invoices behind v_receivables, one by one, each with its own open credit notes",
  ...oneByOne("invoices"),
};

const unpaidProformas: ReportView = {
  name: "v_unpaid_proformas",
  title: "Unpaid proformas",
  question: "Which proforma invoices are not paid?",
  doc: "Without those that will not be paid; they carry no rate, so EUR is known for EUR only, and estimated in v_proformas",
  ...oneByOne("proformas"),
};

const kinds = ["invoices", "credit_notes", "advances"] as const;

/** SQL of one row for each open amount of `d`, in the columns of its kind; `k` is the document that names the client. */
function openRows(kind: (typeof kinds)[number], amount: string, k: "d" | "k", from: string): string {
  const cells = kinds.map((each) =>
    each === kind ? `${sql.cents(amount)}, ${sql.euroCents(amount)}` : "0, 0",
  );
  return `SELECT ${sql.buyerOf(kind === "advances" ? "proformas" : kind, k)}, ${k}.client_id, ${k}.client_name, ${sql.currencyOf}, ${cells.join(", ")}
  FROM ${from} LEFT JOIN currencies c ON c.id = d.currency_id`;
}

/** What was paid on proformas and no invoice receipts; a receipt deleted since does not count. */
const unsettled = `NOT EXISTS (SELECT 1 FROM invoices r WHERE r.id = d.receipt_invoice_id)`;

const sums = kinds.map((kind) => sql.sums(kind, `p.open_${kind}`));
const net = (suffix: string) => kinds.map((kind) => `p.open_${kind}${suffix}`).join(" - ");

const clientBalance: ReportView = {
  name: "v_client_balance",
  title: "Balance by client",
  question: "Who owes us when everything open is netted, and whom do we owe?",
  doc:
    "Open invoices less open credit notes less unsettled advances, by client and currency; negative: we owe the client. " +
    "Without what will not be paid, and what was overpaid. An advance is a payment of a proforma that no invoice receipts; the service names " +
    "no other settlement. Payments whose document's detail is not read yet are missing: `_about` says of how many",
  columns: [
    ...c.client,
    c.currency,
    ...c.amounts("invoices", "What is open of invoices"),
    ...c.amounts("credit_notes", "What is open of credit notes, as a positive amount"),
    ...c.amounts("advances", "Paid on proformas, in the payment's currency, and settled by no invoice"),
    ...c.amounts("net", "invoices less credit_notes less advances"),
    c.buyer,
  ],
  facets: ["currency"],
  sort: { column: "net_eur", descending: true },
  sql: `WITH parts (buyer, client_id, client_name, currency, ${kinds.map((kind) => `open_${kind}, open_${kind}_eur`).join(", ")}) AS (
  ${openRows("invoices", "d.to_be_paid", "d", "invoices d")} WHERE ${sql.isOpen()}
  UNION ALL
  ${openRows("credit_notes", "-d.to_be_paid", "d", "credit_notes d")} WHERE ${sql.isOpenCredit()}
  UNION ALL
  ${openRows("advances", "d.amount", "k", "document_payments d JOIN proformas k ON k.id = d.document_id")}
  WHERE d.document_type = 'proforma' AND ${unsettled}
)
SELECT p.client_id AS client_id, coalesce(max(k.name), max(p.client_name)) AS client_name, p.currency AS currency,
  ${sums.join(",\n  ")},
  ${sql.sums("net", net(""), net("_eur"))}, CAST(p.buyer AS TEXT) AS buyer
FROM parts p LEFT JOIN clients k ON k.id = p.client_id GROUP BY p.buyer, p.client_id, p.currency`,
};

export const receivableViews = [clientBalance, receivables, openInvoices, unpaidProformas];
