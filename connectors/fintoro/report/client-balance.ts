import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./parts/view-columns.ts";
import * as sql from "./parts/view-sql.ts";

const kinds = ["invoices", "credit_notes", "advances"] as const;
type Kind = (typeof kinds)[number];

/** SQL of one row for each open amount of `d`, in the columns of its kind; `k` is the document that names the client. */
function openRows(kind: Kind, amount: string, k: "d" | "k", from: string): string {
  const cells = kinds.map((each) =>
    each === kind ? `${sql.cents(amount)}, ${sql.euroCents(amount)}` : "0, 0",
  );
  return `SELECT ${sql.buyerOf(kind === "advances" ? "proformas" : kind, k)}, ${k}.client_id, ${k}.client_name, ${sql.currencyOf}, ${cells.join(", ")}
  FROM ${from} LEFT JOIN currencies c ON c.id = d.currency_id`;
}

/** What was paid on proformas and no invoice receipts; a receipt deleted since does not count. */
const unsettled = `NOT EXISTS (SELECT 1 FROM invoices r WHERE r.id = d.receipt_invoice_id)`;

const sums = kinds.map((kind) => sql.sums(kind, `open_${kind}`));
const net = (suffix: string) => kinds.map((kind) => `open_${kind}${suffix}`).join(" - ");

export const clientBalance: ReportView = {
  name: "v_client_balance",
  title: "Balance by client",
  question: "Who owes us when everything open is netted, and whom do we owe?",
  doc:
    "Open invoices less open credit notes less unsettled advances, by client and currency; negative: we owe the client. " +
    "Without what will not be paid. An advance is a payment of a proforma that no invoice receipts; the service names " +
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
SELECT p.client_id AS client_id, coalesce(max(k.name), max(p.client_name)) AS client_name, currency,
  ${sums.join(",\n  ")},
  ${sql.sums("net", net(""), net("_eur"))}, CAST(p.buyer AS TEXT) AS buyer
FROM parts p LEFT JOIN clients k ON k.id = p.client_id
GROUP BY p.buyer, p.client_id, currency`,
};
