import type { AnsweredRecord } from "../../../connectors/fintoro/sandbox/base/values.ts";
import { english } from "../../../connectors/fintoro/sandbox/lookups/lookup-lists.ts";
import { activityTargets, targetFields } from "../../../connectors/fintoro/sandbox/model/catalogue.ts";
import type { Company, BookRow } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { writable } from "../../../connectors/fintoro/sandbox/resources/all-routes.ts";
import type { Shown, TableName } from "./service-types.ts";

export interface Writing {
  readonly amountsAsText: boolean;
  readonly reordersKeys: boolean;
  /** Do invoices and clients show fields that no connector knows, one with a number of 19 digits? */
  readonly hasUnknownField: boolean;
}

/** A company at a moment: its books, the names of its units, and how the service writes them. */
export interface CompanyVersion {
  readonly company: Company;
  readonly units: ReadonlyMap<number, string>;
  readonly writing: Writing;
}

/** What the service shows of a record; null where it is not there. */
export function shownOf(version: CompanyVersion, table: TableName, id: number): Shown | null {
  const { company, units, writing } = version;
  if (table === "company") return full(JSON.stringify({ name: company.name }));
  if (table === "units") return units.has(id) ? full(JSON.stringify(unitOf(version, id))) : null;
  const row = company.tables[table].get(id);
  if (!row) return null;
  const { view, preview } = writable[table];
  const detail = textOf(version, table, view(company, row, english), "detail");
  const inList = textOf(version, table, preview(company, row, english), "list");
  const listed = table !== "contact_activity_logs" || hasParent(company, row) ? inList : null;
  return { detail, listed, ...(writing.reordersKeys && isReordered(table) && { reordered: inList }) };
}

function full(text: string): Shown {
  return { detail: text, listed: text };
}

/** Without its parent only its own route shows a CRM event. */
export function hasParent({ tables }: Company, row: BookRow): boolean {
  return targetFields.some((field) => tables[activityTargets[field]].get(row[field]));
}

export function unitOf({ units }: CompanyVersion, id: number): AnsweredRecord {
  return { id, name: units.get(id) };
}

/** Their lists show all of a record. */
const isReordered = (table: TableName) => /^(?:clients|business_cases|contact_activity_logs)$/.test(table);

export const amounts = new Set(
  "total totalWithVat itemsTotal itemsTotalWithVat toBePaid amount unitPrice stock stockQuantity".split(" "),
);

/** More digits than a number of JavaScript holds. */
const longNumber = "1234567890123456789#";

const unknownFields: Readonly<Partial<Record<TableName, (id: number, place: "detail" | "list") => object>>> =
  {
    clients: (id) => ({ loyalty: [id % 3], registry: longNumber }),
    invoices: (id, place) => (place === "detail" ? { campaign: `c${id % 2}` } : {}),
  };

/** The text of a record. PHP may give a number as text, writes an empty map as a list, and long numbers as they are. */
export function textOf(
  version: CompanyVersion,
  table: TableName,
  record: AnsweredRecord,
  place: "detail" | "list",
): string {
  const { amountsAsText, reordersKeys, hasUnknownField } = version.writing;
  const { metadata, unitId } = record as { metadata?: { content?: string }; unitId?: number };
  const whole = {
    ...record,
    ...(metadata?.content === "" && { metadata: [] }),
    ...(unitId !== undefined && { unit: unitOf(version, unitId) }),
    ...(hasUnknownField && unknownFields[table]?.(Number(record["id"]), place)),
  };
  const isTurned = place === "list" && reordersKeys && isReordered(table);
  const ordered = isTurned ? Object.fromEntries(Object.entries(whole).toReversed()) : whole;
  const valueOf = (key: string, value: unknown) =>
    amountsAsText && typeof value === "number" && amounts.has(key) ? value.toFixed(2) : value;
  return JSON.stringify(ordered, valueOf).replace(/"(\d+)#"/, "$1");
}
