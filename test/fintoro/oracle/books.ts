/**
 * The books that views are checked against: live records as JSON, added up in whole cents without SQL and without
 * floating point. Shares no code with the views.
 */
import * as re from "../../support/export/recount.ts";
import type { Dict, Records, Row } from "../../support/export/recount.ts";

export interface Books {
  readonly records: Records;
  readonly today: string;
}

/** What a view must show: all its rows, each with some of its columns. */
export type Oracle = (books: Books) => Row[];

/** An amount with the rate of its document; null: none is known. */
export interface Money {
  readonly cents: bigint;
  readonly rate: Dict[string] | undefined;
}

export const invoicesOf = ({ records }: Books) => re.of(records, "invoices");
export const creditNotesOf = ({ records }: Books) => re.of(records, "credit_notes");
export const isInvoice = (json: Dict) => json["invoiceId"] === undefined;

export function billsOf(books: Books): readonly Dict[] {
  return [...invoicesOf(books), ...creditNotesOf(books)];
}

export function byId(books: Books, table: string): ReadonlyMap<unknown, Dict> {
  return new Map(re.of(books.records, table).map((json) => [json["id"], json]));
}

export function currencyOf({ records }: Books, json: Dict): string {
  return re.symbolOf(records, json["currencyId"] ?? re.part(json, "currency")["id"]);
}

/** The name of a record of another table; null where there is none. */
export function nameIn(books: Books, table: string, id: unknown): string | null {
  return (byId(books, table).get(id)?.["name"] ?? null) as string | null;
}

/** The columns of a client, by the documents that name it. */
export function clientOf(books: Books, all: readonly Dict[]): Row {
  const [first] = all;
  return {
    client_id: first?.["clientId"] as number,
    client_name: re.most(all.map((json) => clientNameOf(books, json))),
  };
}

/** The client's name today; of one deleted since, as on the document. */
function clientNameOf(books: Books, json: Dict): string {
  const client = re.of(books.records, "clients").find(({ id }) => id === json["clientId"]);
  return String(client?.["name"] ?? re.part(json, "client")["name"]);
}

export function whose(books: Books, json: Dict): Row {
  const currency = currencyOf(books, json);
  return { client_id: json["clientId"] as number, client_name: clientNameOf(books, json), currency };
}

/** Whether the document is the tax document of an advance, or corrects one. */
export function ofAdvance(books: Books): (json: Dict) => boolean {
  const invoices = byId(books, "invoices");
  return (json) => (isInvoice(json) ? json : invoices.get(json["invoiceId"]))?.["type"] === "payment_receipt";
}

export const money = (json: Dict, field: string, sign = 1n): Money => ({
  cents: sign * re.cents(json[field]),
  rate: json["currencyRate"],
});

/** An amount of a document that carries no rate: known for EUR only. */
export const plain = (books: Books, json: Dict, field = "total"): Money => ({
  cents: re.cents(json[field]),
  rate: currencyOf(books, json) === "EUR" ? 1 : null,
});

/** Two columns: a sum, and the same in EUR, each amount at its own rate; null where one rate is not known. */
export function sums(name: string, amounts: readonly Money[]): Row {
  const inEuro = amounts.map(({ cents, rate }) => (rate === null ? null : re.euro(cents, rate)));
  return {
    [name]: re.units(re.sum(amounts.map(({ cents }) => cents))),
    [`${name}_eur`]: re.sumKnown(inEuro),
  };
}

const snake = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The columns of fields that a view shows as they are. */
export function shown(json: Dict, fields: string): Row {
  const cell = (field: string) => (typeof json[field] === "boolean" ? Number(json[field]) : json[field]);
  return Object.fromEntries(fields.split(" ").map((field) => [snake(field), cell(field) ?? null]));
}

/** The columns of amounts of one document, each in its currency and in EUR. */
export function amountsOf(json: Dict, fields: string): Row {
  const columns = fields.split(" ").map((field) => sums(snake(field), [money(json, field)]));
  return Object.assign({}, ...columns) as Row;
}

export const isOpen = (json: Dict) =>
  re.cents(json["toBePaid"]) > 0n && json["status"] !== "will_not_be_paid";
export const isOpenCredit = (json: Dict) =>
  re.cents(json["toBePaid"]) < 0n && json["status"] !== "will_not_be_paid";

/** Days past due; 0 while it is not due. */
export function overdueDays(json: Dict, { today }: Books): number {
  return Math.max(0, re.daysBetween(json["dueDate"], today));
}

/** Groups by several values; each group comes with these as texts. */
export function groups<T>(all: readonly T[], keyOf: (one: T) => readonly unknown[]): [string[], T[]][] {
  const grouped = Map.groupBy(all, (one) => JSON.stringify(keyOf(one).map(String)));
  return [...grouped].map(([key, members]) => [JSON.parse(key) as string[], members]);
}
