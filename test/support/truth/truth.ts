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
  /** No list shows it in full: it had to be read by itself. */
  readonly alone?: boolean;
}

/** By table name, by id. */
export type Truth = ReadonlyMap<string, ReadonlyMap<string, TrueRecord>>;

interface Place {
  readonly path: string;
  /** Full records are only to be had one by one. */
  readonly single?: boolean;
  readonly perPage?: number;
}

const wholeLists: Readonly<Record<string, string>> = {
  banks: "/banks",
  countries: "/countries",
  languages: "/languages",
  currencies: "/currencies",
  delivery_methods: "/delivery-methods",
  payment_methods: "/payment-methods",
  qr_types: "/qr-types",
  units: "/units",
  clients: "/clients",
  suppliers: "/suppliers",
  bank_accounts: "/bank-accounts",
  business_case_statuses: "/business-case-statuses",
  warehouses: "/warehouses",
  webhook_subscriptions: "/webhook-subscriptions",
};

const pagedLists: Readonly<Record<string, Place>> = {
  business_cases: { path: "/business-cases", perPage: 200 },
  price_list_items: { path: "/price-list-items", perPage: 200 },
  warehouse_inbound_receipts: { path: "/warehouse-inbound-receipts", perPage: 200 },
  warehouse_outbound_receipts: { path: "/warehouse-outbound-receipts", perPage: 200 },
  invoices: { path: "/invoices", perPage: 500, single: true },
  credit_notes: { path: "/credit-notes", perPage: 500, single: true },
  proformas: { path: "/proformas", perPage: 500, single: true },
  orders: { path: "/orders", perPage: 500, single: true },
  quotations: { path: "/quotations", perPage: 500, single: true },
};

const seriesTypes = ["invoice", "proforma", "credit-note", "order", "quotation"] as const;
const parentParams = {
  clients: "clientId",
  suppliers: "supplierId",
  business_cases: "businessCaseId",
} as const;
export const documentTables = ["invoices", "credit_notes", "proformas", "orders", "quotations"] as const;

/** Everything the sandbox holds for a company, read from the sandbox itself without a request. */
export function truthOf({ control }: Sandbox, company = 0): Truth {
  const tables = [...control.snapshot(company)].map(([table, records]) => {
    const alone = (documentTables as readonly string[]).includes(table);
    return [
      table,
      new Map(
        [...records].map(([id, json]) => [
          String(id),
          { json: json as Dict, text: JSON.stringify(json), alone },
        ]),
      ),
    ] as const;
  });
  return new Map(tables);
}

export interface Access {
  readonly url: string;
  readonly token: string;
}

/** Reads everything the service has, as a careful person with curl would. */
export async function readTruth(access: Access): Promise<Truth> {
  const truth = new Map<string, Map<string, TrueRecord>>();
  truth.set("company", new Map([["1", await readOne(access, "/whoami")]]));
  for (const [table, path] of Object.entries(wholeLists))
    truth.set(table, byId(await readPage(access, path)));
  truth.set("numerical_series", new Map());
  for (const type of seriesTypes)
    addAll(truth, "numerical_series", await readPage(access, `/numerical-series?documentType=${type}`));
  for (const [table, place] of Object.entries(pagedLists)) truth.set(table, await readPaged(access, place));
  truth.set("contact_activity_logs", new Map());
  for (const [parent, param] of Object.entries(parentParams)) {
    for (const id of truth.get(parent)?.keys() ?? []) {
      const place = { path: `/contact-activity-logs?${param}=${id}`, perPage: 200 };
      for (const [logId, record] of await readPaged(access, place))
        truth.get("contact_activity_logs")?.set(logId, record);
    }
  }
  truth.set("document_payments", paymentsIn(truth));
  return truth;
}

async function readPaged(access: Access, { path, perPage, single }: Place): Promise<Map<string, TrueRecord>> {
  const records = new Map<string, TrueRecord>();
  for (let page = 1; page <= 1_000; page++) {
    const glue = path.includes("?") ? "&" : "?";
    const listed = await readPage(access, `${path}${glue}perPage=${perPage}&page=${page}`);
    for (const record of listed) {
      const id = idOf(record.json);
      records.set(id, single || isPartial(path, record) ? await readOne(access, `${path}/${id}`) : record);
    }
    if (listed.length < (perPage ?? 0)) return records;
  }
  throw new Error(`${path} has more than 1,000 pages`);
}

function isPartial(path: string, { json }: TrueRecord): boolean {
  return path === "/price-list-items" && !("stocks" in json);
}

async function readPage(access: Access, path: string): Promise<TrueRecord[]> {
  const { data } = JSON.parse(await read(access, path)) as { data: Dict[] };
  return data.map((json) => ({ json, text: JSON.stringify(json) }));
}

async function readOne(access: Access, path: string): Promise<TrueRecord> {
  const text = await read(access, path);
  return { json: JSON.parse(text) as Dict, text, alone: true };
}

async function read({ url, token }: Access, path: string): Promise<string> {
  const response = await fetch(url + path, {
    headers: { authorization: `Bearer ${token}`, "accept-language": "en" },
  });
  if (!response.ok) throw new Error(`the service answers ${path} with ${response.status}`);
  return response.text();
}

export function idOf(record: Dict): string {
  const id = record["id"];
  return typeof id === "number" ? String(id) : "";
}

function byId(records: readonly TrueRecord[]): Map<string, TrueRecord> {
  return new Map(records.map((record) => [idOf(record.json), record]));
}

function addAll(
  truth: Map<string, Map<string, TrueRecord>>,
  table: string,
  records: readonly TrueRecord[],
): void {
  for (const [id, record] of byId(records)) truth.get(table)?.set(id, record);
}

function paymentsIn(truth: Truth): Map<string, TrueRecord> {
  const documents = documentTables.flatMap((table) => [...(truth.get(table)?.values() ?? [])]);
  const payments = documents.flatMap(({ json }) => (json["payments"] ?? []) as Dict[]);
  return byId(payments.map((json) => ({ json, text: JSON.stringify(json) })));
}

/** Arrays that are tables of their own; `payments` are records, other arrays are kept as JSON text. */
const childTables: Readonly<Record<string, string>> = {
  "invoices.items": "invoice_items",
  "credit_notes.items": "credit_note_items",
  "proformas.items": "proforma_items",
  "orders.items": "order_items",
  "quotations.items": "quotation_items",
  "warehouse_inbound_receipts.items": "warehouse_inbound_receipt_items",
  "warehouse_outbound_receipts.items": "warehouse_outbound_receipt_items",
  "price_list_items.stocks": "price_list_item_stocks",
  "contact_activity_logs.attachments": "contact_activity_log_attachments",
};

const singulars: Readonly<Record<string, string>> = {
  invoices: "invoice",
  credit_notes: "credit_note",
  proformas: "proforma",
  orders: "order",
  quotations: "quotation",
  warehouse_inbound_receipts: "warehouse_inbound_receipt",
  warehouse_outbound_receipts: "warehouse_outbound_receipt",
  price_list_items: "price_list_item",
  contact_activity_logs: "contact_activity_log",
};

/** Objects that belong to their record; any other object is a record of another table. */
const ownObjects = new Set([
  ...documentTables.flatMap((table) => [`${table}.client`, `${table}.company`]),
  "warehouse_inbound_receipts.supplier",
  "warehouse_inbound_receipts.company",
  "warehouse_outbound_receipts.client",
  "warehouse_outbound_receipts.company",
  "contact_activity_logs.metadata",
  "contact_activity_logs.metadata.relatedDocument",
]);

export type Cells = Record<string, string | number | null>;

export interface ExpectedRow {
  readonly cells: Cells;
  /** Child table -> its rows of this record. */
  readonly children: ReadonlyMap<string, readonly Cells[]>;
}

/** The row that a record must have become. */
export function expectedRow(table: string, record: Dict): ExpectedRow {
  const children = new Map<string, Cells[]>();
  const cells: Cells = table === "company" ? { id: 1 } : {};
  for (const [key, value] of Object.entries(record)) {
    const child = childTables[`${table}.${key}`];
    if (child) children.set(child, childRows(table, child, record, value as Dict[]));
    else if (key !== "payments") addCells(cells, table, [key], value);
  }
  return { cells, children };
}

function childRows(table: string, child: string, record: Dict, parts: readonly Dict[]): Cells[] {
  const parentKey = `${singulars[table]}_id`;
  return parts.map((part, position) => {
    const cells: Cells = { [parentKey]: Number(record["id"]), position };
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
  else if (ownObjects.has(`${table}.${path.join(".")}`)) {
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

/** The last of a table: `/orders/17` for `lastOf(truth, "orders")`. */
export function lastPathOf(truth: Truth, table: string): string {
  return `${pagedLists[table]?.path ?? wholeLists[table]}/${[...(truth.get(table)?.keys() ?? [])].at(-1)}`;
}

/** The fewest requests that show everything, by kind: what a first run may cost, and not one more. */
export function floorOf(truth: Truth): { lists: string[]; details: string[]; children: string[] } {
  const ids = (table: string) => [...(truth.get(table)?.keys() ?? [])];
  const alone = (table: string) => ids(table).filter((id) => truth.get(table)?.get(id)?.alone);
  const pages = Object.entries(pagedLists).flatMap(([table, { path, perPage = 1 }]) =>
    Array.from({ length: Math.max(1, Math.ceil(ids(table).length / perPage)) }, (_, i) => `${path}#${i + 1}`),
  );
  return {
    lists: [
      "/whoami",
      ...Object.values(wholeLists),
      ...seriesTypes.map((type) => `/numerical-series#${type}`),
      ...pages,
    ].toSorted(),
    details: Object.entries(pagedLists)
      .flatMap(([table, { path }]) => alone(table).map((id) => `${path}/${id}`))
      .toSorted(),
    children: Object.entries(parentParams)
      .flatMap(([parent, param]) => ids(parent).map((id) => `${param}=${id}`))
      .toSorted(),
  };
}

/** The requests that were made, in the same words. */
export function spentOn(
  asked: readonly { path: string; query: URLSearchParams }[],
): ReturnType<typeof floorOf> {
  const spent = { lists: [] as string[], details: [] as string[], children: [] as string[] };
  for (const { path, query } of asked) {
    const parent = Object.values(parentParams).find((param) => query.has(param));
    const part = query.get("page") ?? query.get("documentType");
    if (parent) spent.children.push(`${parent}=${query.get(parent)}`);
    else if (/\/\d+$/.test(path)) spent.details.push(path);
    else spent.lists.push(part === null ? path : `${path}#${part}`);
  }
  return {
    lists: spent.lists.toSorted(),
    details: spent.details.toSorted(),
    children: spent.children.toSorted(),
  };
}
