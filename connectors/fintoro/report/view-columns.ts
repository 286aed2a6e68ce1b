import type { ReportType, ReportViewColumn } from "../../../src/connector/report-view.ts";

export function column(name: string, type: ReportType, doc: string): ReportViewColumn {
  return { name, type, doc };
}

export function id(name: string, doc: string): ReportViewColumn {
  return column(name, "INTEGER", doc);
}

export function count(name: string, doc: string): ReportViewColumn {
  return column(name, "INTEGER", doc);
}

export function words(name: string, doc: string): ReportViewColumn {
  return column(name, "TEXT", doc);
}

export function day(name: string, doc: string): ReportViewColumn {
  return column(name, "DATE", doc);
}

export function amount(name: string, doc: string): ReportViewColumn {
  return column(name, "DECIMAL(18,6)", doc);
}

/** An amount in the row's currency, and the same in euro beside it. */
export function amounts(
  name: string,
  doc: string,
  euroDoc = "rounded to cents per document",
): ReportViewColumn[] {
  return [
    amount(name, doc),
    amount(`${name}_eur`, `The same in EUR, ${euroDoc}; null where a rate is not known`),
  ];
}

export const month = words("month", "YYYY-MM");
export const currency = words("currency", "ISO 4217 code; amounts of different currencies are never added");
export const clientId = id("client_id", "Id in clients, also of a client deleted since");
export const clientName = words(
  "client_name",
  "As the client is called today; one deleted since, as on one of its documents",
);
