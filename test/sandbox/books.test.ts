import { expect, test } from "vitest";
import { documentCount } from "../../src/cli/program/option-specs.ts";
import { openSandbox, type Dict } from "../support/sandbox/sandbox.ts";

const documentTables = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
const partsOf = (record: Dict, key: string) => (record[key] ?? []) as Dict[];
const centsOf = (value: unknown) => Math.round(Number(value) * 100);
const sumOf = (parts: readonly Dict[], field: string) =>
  parts.reduce((total, part) => total + centsOf(part[field]), 0);

async function booksOf(seed: number, records = 60, today = "2026-11-20") {
  const { control } = await openSandbox({ records, seed, today });
  return (table: string) => [...(control.snapshot().get(table)?.values() ?? [])] as Dict[];
}

/** What receipts brought in less what they took out, by item, in millionths. */
function movedStock(table: (name: string) => Dict[]): Map<unknown, number> {
  const moved = new Map<unknown, number>();
  const sides = { warehouse_inbound_receipts: 1e6, warehouse_outbound_receipts: -1e6 };
  for (const [name, sign] of Object.entries(sides))
    for (const { priceListItemId: id, quantity } of table(name).flatMap((one) => partsOf(one, "items")))
      moved.set(id, (moved.get(id) ?? 0) + Math.round(sign * Number(quantity)));
  return moved;
}

test("documents, payments and stock add up, and every number is there once", async () => {
  const table = await booksOf(1, 600);
  for (const name of documentTables) {
    const documents = table(name);
    expect(new Set(documents.map(({ number }) => number)).size).toBe(documents.length);
    for (const document of documents) {
      const items = partsOf(document, "items");
      expect(
        [sumOf(items, "total"), sumOf(items, "totalWithVat")],
        `${name} ${String(document["id"])}`,
      ).toEqual([centsOf(document["itemsTotal"]), centsOf(document["itemsTotalWithVat"])]);
      const paid = sumOf(partsOf(document, "payments"), "amount");
      if ("toBePaid" in document)
        expect(centsOf(document["toBePaid"])).toBe(centsOf(document["totalWithVat"]) - paid);
    }
  }
  const moved = movedStock(table);
  for (const { id, stock } of table("price_list_items"))
    expect(Math.round(Number(stock) * 1e6)).toBe(moved.get(id) ?? 0);
});

async function textOf(...how: Parameters<typeof booksOf>): Promise<string> {
  const table = await booksOf(...how);
  return JSON.stringify([...documentTables, "clients", "contact_activity_logs"].map(table));
}

test("the seed and the day decide every record; small fills every table", async () => {
  const first = await textOf(3);
  expect(await textOf(3)).toBe(first);
  expect(await textOf(4)).not.toBe(first);
  expect(await textOf(3, 60, "2027-03-01")).not.toBe(first);
  const { control } = await openSandbox();
  for (const [name, records] of control.snapshot())
    if (name !== "company") expect(records.size, name).toBeGreaterThan(1);
});

test.each([0, 7, 333])("%i records are that many documents over all five kinds", async (records) => {
  const table = await booksOf(1, records);
  expect(documentTables.flatMap(table)).toHaveLength(records);
});

const parse = (text: string) => documentCount("--records <size>", "").parse?.(text, "--records");

test("a number of records is understood, anything else refused with the forms there are", () => {
  expect(["small", "1200", "100_000", "0"].map(parse)).toEqual([60, 1_200, 100_000, 0]);
  for (const text of ["", "many", "-1", "1.5", "2000000"])
    expect(() => parse(text)).toThrow(/--records must be small/);
});

test("names and notes hold what careless code breaks on", async () => {
  const table = await booksOf(1, 600);
  const texts = (name: string, field: string) =>
    table(name)
      .map((one) => String(one[field]))
      .join("\0");
  const odd = [/\0=/, /\0\+/, /\0-/, /\0@/, /"/, /\p{Emoji_Presentation}/u, /[ľščťž]/, /\t/, /<b>/, /;/];
  for (const pattern of odd) expect(texts("clients", "name")).toMatch(pattern);
  for (const pattern of [/\n/, /\r\n/, /\0=/]) expect(texts("invoices", "note")).toMatch(pattern);
});
