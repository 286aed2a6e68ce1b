import type { ReportType, ReportViewColumn } from "../../../src/connector/report-view.ts";

const columnOf =
  (type: ReportType) =>
  (name: string, doc: string): ReportViewColumn => ({ name, type, doc });

export const count = columnOf("INTEGER");
/** A record's id, or another number that identifies something. */
export const id = (name: string, doc: string): ReportViewColumn => ({ ...count(name, doc), format: "id" });
export const text = (name: string, doc: string, values?: readonly string[]): ReportViewColumn => ({
  name,
  type: "TEXT",
  doc,
  ...(values && { values }),
});
export const date = columnOf("DATE");
/** An amount, a price, a quantity or a percentage. */
export const amount = columnOf("DECIMAL(18,6)");

/** An amount in the row's currency, and the same in EUR as `NAME_eur`. */
export function amounts(name: string, doc: string, euroDoc = "rounded to cents per document") {
  const inEuro = `The same in EUR, ${euroDoc}; null where a rate is not known, as while only the preview of a document in another currency was read`;
  return [
    { ...amount(name, doc), total: { per: "currency" } },
    { ...amount(`${name}_eur`, inEuro), total: { per: null } },
  ] satisfies ReportViewColumn[];
}

export const newest = (day: string) => ({ date: day, sort: { column: day, descending: true } });

/** Amounts of payment receipts, wherever invoices are summed. */
export const receiptedAdvances = [
  ...amounts("receipted_advances", "Without VAT, of payment receipts and their credit notes: not in revenue"),
  ...amounts("receipted_advances_with_vat", "The same with VAT"),
];

export const flag = columnOf("BOOLEAN");

export const reverseCharge = flag("reverse_charge", "1: the client owes the VAT");

export const parties = [
  text("client_name", "As on the document"),
  text("client_subject_id", "Business registration number, as on the document"),
  text("client_tax_id", "As on the document"),
  text("client_vat_id", "As on the document"),
  text("client_country", "ISO 3166-1 code of two letters, as on the document"),
];

export const month: ReportViewColumn = { ...text("month", "YYYY-MM"), format: "month" };
export const issueMonth: ReportViewColumn = { ...month, name: "issue_month", doc: "YYYY-MM of issue_date" };
export const currency = text("currency", "ISO 4217 code; amounts of different currencies are never added");
export const clientId = id("client_id", "Id in clients, also of a client deleted since");
export const client = [
  clientId,
  text("client_name", "As the client is called today; one deleted since, as on one of its documents"),
];
/** Differs where several rows without a client are of different buyers. */
export const buyer = text("buyer", "One key in all views: the client's id, or made of what documents print");

export const bill = [
  text("document_type", "Which of the two", ["invoice", "credit_note"]),
  id("document_id", "Id in invoices or credit_notes"),
];
