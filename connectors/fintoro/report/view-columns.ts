import type { ReportType, ReportViewColumn } from "../../../src/connector/report-view.ts";

/** A view's column. */
export function column(name: string, type: ReportType, doc: string): ReportViewColumn {
  return { name, type, doc };
}

/** A record's id. */
export function id(name: string, doc: string): ReportViewColumn {
  return column(name, "INTEGER", doc);
}

/** A number of things. */
export function count(name: string, doc: string): ReportViewColumn {
  return column(name, "INTEGER", doc);
}

/** A text. */
export function textColumn(name: string, doc: string): ReportViewColumn {
  return column(name, "TEXT", doc);
}

/** A date. */
export function day(name: string, doc: string): ReportViewColumn {
  return column(name, "DATE", doc);
}

/** An amount, a price or a quantity. */
export function amountColumn(name: string, doc: string): ReportViewColumn {
  return column(name, "DECIMAL(18,6)", doc);
}

/** An amount in the row's currency, and the same in EUR as `NAME_eur`. */
export function amountPair(
  name: string,
  doc: string,
  euroDoc = "rounded to cents per document",
): ReportViewColumn[] {
  const inEuro = `The same in EUR, ${euroDoc}; null where a rate is not known`;
  return [amountColumn(name, doc), amountColumn(`${name}_eur`, inEuro)];
}

export const month = textColumn("month", "YYYY-MM");
export const currency = textColumn(
  "currency",
  "ISO 4217 code; amounts of different currencies are never added",
);
export const clientId = id("client_id", "Id in clients, also of a client deleted since");
export const clientName = textColumn(
  "client_name",
  "As the client is called today; one deleted since, as on one of its documents",
);
