import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./view-columns.ts";
import * as sql from "./view-sql.ts";

/** UN/ECE codes (Recommendation 20) of the service's units: their ids are stable, their names follow the language. */
const unitCodes = "H87 HUR DAY CMT MTR MTK MTQ KMT LTR GRM KGM TNE".split(" ");
const knownUnits = unitCodes.map((_, at) => at + 1).join(", ");

const tables = ["invoices", "credit_notes"] as const;
const given = (column: string) => `nullif(trim(${column}), '')`;

/** SQL of the documents of the last twelve months, with what their lines lack; a preview has no lines and no company. */
function recent(table: (typeof tables)[number]): string {
  const parent = table.slice(0, -1);
  const seller = ["name", "subject_id", "tax_id", "vat_id", "street", "city", "zip", "country", "email"];
  return `SELECT '${table}' AS document, d.id AS document_id, d.number AS number, d.issue_date AS issue_date,
    d.client_id AS client_id, d.client_name AS client_name, d.delivery_date AS delivery_date, d.has_vat AS has_vat, d.currency_rate IS NOT NULL AS has_detail,
    coalesce(d.transfer_tax_liability, 0) AS reverse_charge, coalesce(${given("d.client_vat_id")}, ${given("d.client_subject_id")}) AS client_number,
    ${given("coalesce(d.text_above_items, '') || ' ' || coalesce(d.note, '')")} AS texts,
    ${seller.map((name) => `${given(`d.company_${name}`)} AS company_${name}`).join(", ")},
    CASE WHEN ${sql.isOfAdvance(table)} THEN 0 ELSE ${sql.euroCents("d.total")} END AS net_eur,
    max(coalesce(i.unit_id, 0) NOT IN (${knownUnits}) AND i.${parent}_id IS NOT NULL) AS has_unknown_unit,
    max(i.vat_rate > 0) AS has_rate, max(coalesce(i.vat_rate, 0) <= 0 AND i.${parent}_id IS NOT NULL) AS has_no_rate,
    max(${given("i.name")} IS NULL AND i.${parent}_id IS NOT NULL) AS has_nameless_line
  FROM ${sql.withCurrency(table)} LEFT JOIN ${parent}_items i ON i.${parent}_id = d.id
  WHERE d.issue_date > date(${sql.reportDate}, '-1 year') AND d.issue_date <= ${sql.reportDate}
  GROUP BY d.id`;
}

const turnover = `${sql.ifKnown("net_eur", sql.summed("net_eur"))} AS turnover_eur`;

/** SQL of each client as it is today, and of the company as on its newest document, in the same columns. */
const parties = `SELECT 'client' AS party, k.id AS client_id, ${"name subject_id tax_id vat_id street city zip email"
  .split(" ")
  .map((name) => `${given(`k.${name}`)} AS ${name}`)
  .join(", ")}, ${given("s.code")} AS country,
    k.type IS 'company' OR coalesce(${["k.subject_id", "k.tax_id", "k.vat_id"].map(given).join(", ")}) IS NOT NULL AS is_business,
    k.is_vat_payer AS owes_vat, CASE WHEN b.client_id IS NULL THEN 0.0 ELSE b.turnover_eur END AS turnover_eur
  FROM clients k LEFT JOIN countries s ON s.id = k.country_id
    LEFT JOIN (SELECT client_id, ${turnover} FROM bills GROUP BY client_id) b ON b.client_id = k.id
  UNION ALL
  SELECT * FROM (SELECT 'company', NULL, company_name, company_subject_id, company_tax_id, company_vat_id, company_street,
      company_city, company_zip, company_email, CASE WHEN company_country IS NOT NULL THEN 'SK' END, 1, has_vat,
      (SELECT ${turnover} FROM bills)
    FROM bills WHERE company_name IS NOT NULL ORDER BY issue_date DESC, document DESC, document_id DESC LIMIT 1)`;

/**
 * One published rule. `fails` is SQL of the condition that breaks it, `hint` of one that may, or that Slovakia may ask for;
 * null: there is none. Of a party the rule is that of the client, then that of the company.
 */
type Check = readonly [
  term: string,
  rule: string | readonly [client: string, company: string],
  fails: string | null,
  hint: string | null,
];

const address = ["BR-10", "BR-08"] as const;
const endpoint = ["PEPPOL-EN16931-R010", "PEPPOL-EN16931-R020"] as const;
const digits = "[0-9]".repeat(10);
/** Slovak businesses are found by their tax id (scheme 0245), those of the Union by their VAT id. */
const isRouted = `((country IS 'SK' AND tax_id IS NOT NULL AND tax_id GLOB '${digits}')
      OR coalesce(substr(vat_id, 1, 2) IN (SELECT code FROM countries WHERE eu UNION ALL SELECT 'EL'), 0))`;
const isNoCountry =
  "substr(vat_id, 1, 2) NOT IN (SELECT code FROM countries UNION ALL SELECT 'EL' UNION ALL SELECT 'XI')";
const isNoSlovakNumber = `vat_id GLOB 'SK*' AND vat_id NOT GLOB 'SK${digits}'`;
const lacksNumber = "party = 'company' AND owes_vat AND vat_id IS NULL AND tax_id IS NULL";
const lacksRegistration = "party = 'company' AND subject_id IS NULL AND vat_id IS NULL";
const lacksTaxId = `is_business AND country IS 'SK' AND coalesce(tax_id, '') NOT GLOB '${digits}'`;

const ofParties: readonly Check[] = [
  ["name", ["BR-07", "BR-06"], "name IS NULL", null],
  ["street", address, "coalesce(street, city, zip, country) IS NULL", "street IS NULL"],
  ["city", address, null, "city IS NULL"],
  ["zip", address, null, "zip IS NULL"],
  ["country", ["BR-11", "BR-09"], "country IS NULL", null],
  ["vat_id", "BR-CO-09", isNoCountry, isNoSlovakNumber],
  ["vat_id", ["BR-AE-02", "BR-S-02"], lacksNumber, "owes_vat AND vat_id IS NULL"],
  ["subject_id", ["BR-AE-02", "BR-CO-26"], lacksRegistration, "is_business AND subject_id IS NULL"],
  ["tax_id", endpoint, null, lacksTaxId],
  ["electronic_address", endpoint, `email IS NULL AND NOT ${isRouted}`, `is_business AND NOT ${isRouted}`],
  ["buyer_reference", "PEPPOL-EN16931-R003", null, "party = 'company'"],
];

const isUnrated = "has_no_rate AND NOT reverse_charge AND (company_vat_id IS NOT NULL OR has_rate)";
const hasNoReason = "reverse_charge AND texts NOT LIKE '%prenes%' AND texts NOT LIKE '%reverse charge%'";
const lacksNumbers = "(client_number IS NULL OR coalesce(company_vat_id, company_tax_id) IS NULL)";

const ofDocuments: readonly Check[] = [
  ["unit", "BR-23", "has_unknown_unit", null],
  ["line_name", "BR-25", "has_nameless_line", null],
  ["vat_category", "BR-CO-04", isUnrated, null],
  ["reverse_charge_reason", "BR-AE-10", "reverse_charge AND texts IS NULL", hasNoReason],
  ["reverse_charge_numbers", "BR-AE-02", `reverse_charge AND ${lacksNumbers}`, null],
  ["delivery_date", "BR-IC-11", null, "delivery_date IS NULL"],
];

/** Rows of the table `checks`: a join with it reads each party and document once, where one query a check would read all again. */
const checked = { client: ofParties, company: ofParties, document: ofDocuments };
const checks = Object.entries(checked).flatMap(([kind, all], which) =>
  all.map(([term, rule], at) => {
    const number = typeof rule === "string" ? rule : (rule[which] ?? "");
    return `('${kind}', ${at}, '${term}', '${number}')`;
  }),
);

function rowsOf(all: readonly Check[], columns: string, kind: string, from: string): string {
  const cases = all.map(
    ([, , fails, hint], at) =>
      `WHEN ${at} THEN CASE WHEN ${fails ?? "0"} THEN 'fails' WHEN ${hint ?? "0"} THEN 'hint' END`,
  );
  return `SELECT ${columns}, t.term AS term, t.rule AS rule,
    CASE t.at ${cases.join("\n      ")} END AS severity, turnover_eur
  FROM ${from} p JOIN checks t ON t.kind = ${kind}`;
}

const terms = [...new Set([...ofParties, ...ofDocuments].map(([term]) => term))];

/** What stands between the data and an electronic invoice, by the published rules that the data can break. */
export const einvoiceGaps: ReportView = {
  name: "v_einvoice_gaps",
  title: "Not ready for electronic invoices",
  question: "What is missing for electronic invoices (EN 16931, Peppol BIS Billing 3.0)?",
  doc:
    "A row for each term that a client or the company lacks, and for each one that an invoice or credit note of the last " +
    "twelve months lacks. fails: a draft made of this data breaks the rule; hint: the rule allows it or leaves it open, and " +
    "Slovak law or the network may ask for it. Clients are as they are today, the company as on its newest document, " +
    "documents as issued. Documents whose detail is not read yet are not judged. accountant.md lists the rules",
  columns: [
    c.text("party", "Whose data it is; a document is the company's", ["client", "company"]),
    c.id("client_id", "Id in clients; null for the company"),
    c.text("name", "Of the client or company; of a document its client"),
    c.text("document", "Table of the document; null for a party", tables),
    c.id("document_id", "Id in invoices or credit_notes"),
    c.text("number", "As printed"),
    c.text("term", "What is missing or malformed", terms),
    c.text("rule", "Its number in EN 16931, or in Peppol BIS Billing 3.0"),
    c.text("severity", "Whether the rule is broken for certain", ["fails", "hint"]),
    c.amount(
      "turnover_eur",
      "Without VAT, in EUR, of the document, or of the party in the last twelve months; payment receipts are no turnover; null where a rate is not known",
    ),
  ],
  facets: ["party", "term", "severity"],
  sort: { column: "turnover_eur", descending: true },
  sql: `WITH checks (kind, at, term, rule) AS (
  VALUES ${checks.join(",\n    ")}
), bills AS (
  ${tables.map(recent).join("\n  UNION ALL\n  ")}
), parties AS (
  ${parties}
), documents AS (
  SELECT *, net_eur / 100.0 AS turnover_eur FROM bills WHERE has_detail
)
SELECT * FROM (
  ${rowsOf(ofParties, "party, client_id, name, NULL AS document, NULL AS document_id, NULL AS number", "p.party", "parties")}
  UNION ALL
  ${rowsOf(ofDocuments, "'company', client_id, client_name, document, document_id, number", "'document'", "documents")}
) WHERE severity IS NOT NULL`,
};
