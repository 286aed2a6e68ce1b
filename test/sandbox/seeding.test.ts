import { describe, expect, test } from "vitest";
import { parseRecords } from "../../connectors/fintoro/sandbox/sandbox-options.ts";
import { all, get, openSandbox, post, type Dict } from "../support/sandbox/sandbox.ts";

const kinds = ["/invoices", "/credit-notes", "/proformas", "/orders", "/quotations"];
const everything = [
  "/whoami",
  "/clients",
  "/suppliers",
  "/business-cases?perPage=200",
  "/bank-accounts",
  "/warehouses",
  "/warehouse-inbound-receipts?perPage=200",
  "/warehouse-outbound-receipts?perPage=200",
  "/price-list-items?perPage=200",
  "/webhook-subscriptions",
  "/numerical-series?documentType=invoice",
  ...kinds.map((path) => `${path}?perPage=500`),
];

describe("the seed decides", () => {
  test("the same seed and day give byte-identical answers, whatever was asked before", async () => {
    const [first, second] = [await openSandbox({ seed: 3 }), await openSandbox({ seed: 3 })];
    const texts = new Map<string, string>();
    for (const path of everything) texts.set(path, (await get(first, path)).text);
    for (const path of everything.toReversed())
      expect((await get(second, path)).text, path).toBe(texts.get(path));
    const [id] = [...(first.control.snapshot().get("invoices")?.keys() ?? [])];
    const detail = `/invoices/${String(id)}`;
    expect((await get(second, detail)).text).toBe((await get(first, detail)).text);
    expect((await get(second, `${detail}/pdf`)).text).toBe((await get(first, `${detail}/pdf`)).text);
  });

  test("another seed gives another company; another day gives other dates", async () => {
    const one = await openSandbox({ seed: 3 });
    const other = await openSandbox({ seed: 4 });
    const later = await openSandbox({ seed: 3, today: "2027-03-01" });
    const text = (await get(one, "/invoices")).text;
    expect((await get(other, "/invoices")).text).not.toBe(text);
    expect((await get(later, "/invoices")).text).not.toBe(text);
  });

  test("a change in one record leaves every other one as it was", async () => {
    const sandbox = await openSandbox({ seed: 3 });
    const before = await get(sandbox, "/orders?perPage=500");
    const [client] = (await get(sandbox, "/clients")).data;
    await post(sandbox, "/invoices", {
      clientId: client?.["id"],
      items: [{ name: "Práca", quantity: 1, unitPrice: 1, vatRate: 0 }],
    });
    expect((await get(sandbox, "/orders?perPage=500")).text).toBe(before.text);
  });
});

describe("the number of records", () => {
  test("is that of documents over all five kinds", async () => {
    for (const records of [0, 1, 7, 60, 333]) {
      const sandbox = await openSandbox({ records });
      const lists = await Promise.all(kinds.map((path) => all(sandbox, path)));
      expect(lists.flat()).toHaveLength(records);
    }
  });

  test("small fills every resource; nothing is an empty company that still answers", async () => {
    const small = (await openSandbox()).control.snapshot();
    for (const [name, records] of small)
      if (name !== "company") expect(records.size, name).toBeGreaterThan(1);
    const empty = await openSandbox({ records: 0 });
    for (const path of everything.slice(1, -kinds.length - 1))
      expect((await get(empty, path)).data, path).toEqual([]);
    const paginator = (await get(empty, "/invoices")).json["paginator"] as Dict;
    expect(paginator).toMatchObject({
      totalResults: 0,
      totalPages: 1,
      currentFrom: 0,
      currentTo: 0,
      nextPageUrl: null,
    });
  });

  test.each([
    ["small", "small"],
    ["medium", "medium"],
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

test("a chunk by date gives as many records as the whole list has of these days", async () => {
  const sandbox = await openSandbox({ records: 4_000 });
  const total = async (query: string) =>
    Number(((await get(sandbox, `/invoices?perPage=1${query}`)).json["paginator"] as Dict)["totalResults"]);
  const cuts = ["2024-06-30", "2025-01-31", "2026-04-15"];
  const parts = [
    await total(`&issueDateTo=${cuts[0] ?? ""}`),
    await total(`&issueDateFrom=2024-07-01&issueDateTo=${cuts[1] ?? ""}`),
    await total(`&issueDateFrom=2025-02-01&issueDateTo=${cuts[2] ?? ""}`),
    await total("&issueDateFrom=2026-04-16"),
  ];
  expect(parts.reduce((sum, part) => sum + part, 0)).toBe(await total(""));
  expect(Math.min(...parts)).toBeGreaterThan(100);
});
