import type { Sandbox } from "../sandbox/control.ts";

/**
 * What the service really holds, asked of it directly and in plain words: own paths, own mapping to
 * columns. Nothing of the engine is used, so that the mirror is not held against itself.
 */
type Json = null | boolean | number | string | Json[] | Dict;
export interface Dict {
  readonly [key: string]: Json;
}

/** One record: parsed, and the text it came as. */
export interface TrueRecord {
  readonly json: Dict;
  readonly text: string;
}

/** By table name, by id. */
export type Truth = ReadonlyMap<string, ReadonlyMap<string, TrueRecord>>;

/** Lists that one answer holds; the path of a table is its name. */
const wholeLists =
  "banks countries languages currencies delivery_methods payment_methods qr_types units clients suppliers bank_accounts business_case_statuses warehouses webhook_subscriptions".split(
    " ",
  );

/** Records of a page, by table. */
const pagedLists: Readonly<Record<string, number>> = {
  business_cases: 200,
  price_list_items: 200,
  warehouse_inbound_receipts: 200,
  warehouse_outbound_receipts: 200,
  invoices: 500,
  credit_notes: 500,
  proformas: 500,
  orders: 500,
  quotations: 500,
};

const pathOf = (table: string) => `/${table.replaceAll("_", "-")}`;

const seriesTypes = ["invoice", "proforma", "credit-note", "order", "quotation"] as const;
const parentParams = {
  clients: "clientId",
  suppliers: "supplierId",
  business_cases: "businessCaseId",
} as const;
export const documentTables = ["invoices", "credit_notes", "proformas", "orders", "quotations"] as const;

/** Everything the sandbox holds for a company, read from the sandbox itself without a request. */
export function truthOf({ control }: Sandbox, company = 0): Truth {
  return new Map(Array.from(control.snapshot(company), ([table, records]) => [table, trueRecords(records)]));
}

const trueRecord = (json: object): TrueRecord => ({ json: json as Dict, text: JSON.stringify(json) });

function trueRecords(records: ReadonlyMap<number, object>) {
  return new Map(Array.from(records, ([id, json]) => [String(id), trueRecord(json)]));
}

/** Arrays whose parts are rows; `payments` are records, other arrays are kept as JSON text. */
const partKeys = ["items", "stocks", "attachments"];

const singularOf = (table: string) => table.replace(/s$/, "");

export const partTables = (table: string) => partKeys.map((key) => `${singularOf(table)}_${key}`);

/** The column of these with the record's id. */
export const partOwner = (table: string) => `${singularOf(table)}_id`;

const withParties = new Set<string>([
  ...documentTables,
  "warehouse_inbound_receipts",
  "warehouse_outbound_receipts",
]);

/** Is the object a part of its record? Any other object is a record of another table. */
function isOwn(table: string, path: string): boolean {
  if (table === "contact_activity_logs") return path === "metadata" || path === "metadata.relatedDocument";
  return withParties.has(table) && ["client", "supplier", "company"].includes(path);
}

export type Cells = Record<string, string | number | null>;

/** The row that a record must have become, and its rows by child table. */
export function expectedRow(table: string, record: Dict) {
  const children = new Map<string, Cells[]>();
  const cells: Cells = table === "company" ? { id: 1 } : {};
  for (const [key, value] of Object.entries(record)) {
    const child = partKeys.includes(key) ? `${singularOf(table)}_${key}` : null;
    if (child) children.set(child, childRows(table, child, record, value as Dict[]));
    else if (key !== "payments") addCells(cells, table, [key], value);
  }
  return { cells, children };
}

function childRows(table: string, child: string, record: Dict, parts: readonly Dict[]): Cells[] {
  return parts.map((part, position) => {
    const cells: Cells = { [partOwner(table)]: Number(record["id"]), position };
    for (const [key, value] of Object.entries(part)) addCells(cells, child, [key], value);
    return cells;
  });
}

function addCells(cells: Cells, table: string, path: readonly string[], value: Json): void {
  const name = path.map(snake).join("_");
  if (value === null || typeof value !== "object") {
    if (value === null && cells[name] !== undefined) return;
    cells[name] = scalarCell(path.at(-1) ?? "", value);
  } else if (Array.isArray(value)) cells[name] = JSON.stringify(value);
  else if (isOwn(table, path.join("."))) {
    for (const [key, inner] of Object.entries(value)) addCells(cells, table, [...path, key], inner);
  } else cells[`${name}_id`] = value["id"] as number;
}

function scalarCell(key: string, value: string | number | boolean | null): string | number | null {
  if (typeof value === "boolean") return value ? 1 : 0;
  const isLocalStamp = typeof value === "string" && key.endsWith("At") && /^\d{4}-\d\d-\d\d \d/.test(value);
  return isLocalStamp ? value.replace(" ", "T") : value;
}

const snakes = new Map<string, string>();

function snake(name: string): string {
  const known = snakes.get(name) ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  snakes.set(name, known);
  return known;
}

/** The last of a table: `/orders/17` for `lastPathOf(truth, "orders")`. */
export function lastPathOf(truth: Truth, table: string): string {
  return `${pathOf(table)}/${[...(truth.get(table)?.keys() ?? [])].at(-1)}`;
}

/** The fewest requests that show everything, by kind: what a first run may cost, and not one more. */
export function floorOf(truth: Truth): { lists: string[]; details: string[]; children: string[] } {
  const ids = (table: string) => [...(truth.get(table)?.keys() ?? [])];
  const pages = Object.entries(pagedLists).flatMap(([table, perPage]) =>
    Array.from(
      { length: Math.max(1, Math.ceil(ids(table).length / perPage)) },
      (_, i) => `${pathOf(table)}#${i + 1}`,
    ),
  );
  const series = seriesTypes.map((type) => `/numerical-series#${type}`);
  return {
    lists: ["/whoami", ...wholeLists.map(pathOf), ...series, ...pages].toSorted(),
    details: documentTables.flatMap((table) => ids(table).map((id) => `${pathOf(table)}/${id}`)).toSorted(),
    children: Object.entries(parentParams)
      .flatMap(([parent, param]) => ids(parent).map((id) => `${param}=${id}`))
      .toSorted(),
  };
}

/** The requests that were made, in the same words. */
export function spentOn(asked: readonly { path: string; query: URLSearchParams }[]) {
  const [lists, details, children] = [[] as string[], [] as string[], [] as string[]];
  for (const { path, query } of asked) {
    const parent = Object.values(parentParams).find((param) => query.has(param));
    const part = query.get("page") ?? query.get("documentType");
    if (parent) children.push(`${parent}=${query.get(parent)}`);
    else if (/\/\d+$/.test(path)) details.push(path);
    else lists.push(part === null ? path : `${path}#${part}`);
  }
  return { lists: lists.toSorted(), details: details.toSorted(), children: children.toSorted() };
}
