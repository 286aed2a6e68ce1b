import { describe, expect, test } from "vitest";
import { parseRecords } from "../../connectors/fintoro/sandbox/sandbox.ts";
import type { Sandbox } from "../support/sandbox/control.ts";
import { get, openSandbox, type Dict } from "../support/sandbox/sandbox.ts";

const kinds = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
const textOf = ({ control }: Sandbox) =>
  JSON.stringify([...control.snapshot()].map(([name, records]) => [name, [...records.values()]]));

test("the seed and the day decide every record", async () => {
  const [first, again, other, later] = await Promise.all([
    openSandbox({ seed: 3 }),
    openSandbox({ seed: 3 }),
    openSandbox({ seed: 4 }),
    openSandbox({ seed: 3, today: "2027-03-01" }),
  ]);
  expect(textOf(again)).toBe(textOf(first));
  expect(textOf(other)).not.toBe(textOf(first));
  expect(textOf(later)).not.toBe(textOf(first));
});

describe("the number of records", () => {
  test.each([0, 1, 7, 60, 333])("%i is that of documents over all five kinds", async (records) => {
    const books = (await openSandbox({ records })).control.snapshot();
    expect(kinds.reduce((sum, name) => sum + (books.get(name)?.size ?? 0), 0)).toBe(records);
  });

  test("small fills every resource; nothing is an empty company that still answers", async () => {
    for (const [name, records] of (await openSandbox()).control.snapshot())
      if (name !== "company") expect(records.size, name).toBeGreaterThan(1);
    const { json } = await get(await openSandbox({ records: 0 }), "/invoices");
    expect(json["paginator"]).toMatchObject({ totalResults: 0, totalPages: 1, nextPageUrl: null });
  });

  test.each([
    ["small", "small"],
    ["1200", 1200],
    ["100_000", 100_000],
    ["0", 0],
  ])("%s is understood", (text, records) => {
    expect(parseRecords(text)).toBe(records);
  });

  test.each(["", "many", "-1", "1.5", "2000000"])("%j is refused with the forms there are", (text) => {
    expect(() => parseRecords(text)).toThrow(
      expect.objectContaining({ kind: "usage", hint: expect.stringContaining("small") as string }) as Error,
    );
  });
});

test("names and notes hold what careless code breaks on", async () => {
  const books = (await openSandbox({ records: 1_000 })).control.snapshot();
  const texts = (table: string, field: string) =>
    [...(books.get(table)?.values() ?? [])].map((record) => String((record as Dict)[field])).join("\u0000");
  for (const odd of [
    /\0=/,
    /\0\+/,
    /\0-/,
    /\0@/,
    /"/,
    /\p{Emoji_Presentation}/u,
    /[ľščťž]/,
    /\t/,
    /<b>/,
    /;/,
  ])
    expect(texts("clients", "name")).toMatch(odd);
  for (const odd of [/\n/, /\r\n/, /\0=/]) expect(texts("invoices", "note")).toMatch(odd);
});
