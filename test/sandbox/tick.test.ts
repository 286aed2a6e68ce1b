import { describe, expect, test } from "vitest";
import type { Snapshot } from "../../connectors/fintoro/sandbox/control.ts";
import { get, openSandbox, type Dict } from "../support/sandbox/sandbox.ts";
import { openSink } from "../support/sandbox/webhook-sink.ts";

const cents = (value: unknown) => Math.round(Number(value) * 100);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const table = (books: Snapshot, name: string) => [...(books.get(name)?.values() ?? [])] as Dict[];
const list = (record: Dict, key: string) => record[key] as Dict[];
const documentTables = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
const payable = ["invoices", "credit_notes", "proformas"];

async function afterTick(seed: number, changes = 300) {
  const sandbox = await openSandbox({ records: 120, seed });
  const report = await sandbox.control.day({ changes, durationMs: 0, seed }).done;
  return { sandbox, report, books: sandbox.control.snapshot() };
}

describe.each([1, 2, 3])("after a working day (seed %i) the books are in order", (seed) => {
  test("sums, payments, stock and numbers", async () => {
    const { sandbox, books } = await afterTick(seed);
    expect(sandbox.control.failures()).toEqual([]);
    for (const name of documentTables) {
      const documents = table(books, name);
      for (const document of documents) {
        const at = `${name} ${String(document["id"])}`;
        const items = list(document, "items");
        expect(cents(document["itemsTotal"]), at).toBe(sum(items.map(({ total }) => cents(total))));
        const gross = sum(items.map(({ totalWithVat }) => cents(totalWithVat)));
        expect(cents(document["itemsTotalWithVat"]), at).toBe(gross);
      }
      const numbers = documents.map(({ number }) => number);
      expect(new Set(numbers).size).toBe(numbers.length);
    }
    expectPaymentsIn(books);
    expectStockIn(books);
  });
});

/** Each payment stands in its document, and what is left to pay follows from them. */
function expectPaymentsIn(books: Snapshot): void {
  const inDocuments: number[] = [];
  for (const name of payable) {
    for (const document of table(books, name)) {
      const payments = list(document, "payments");
      const same = payments.every(({ currencyId }) => currencyId === document["currencyId"]);
      const left = cents(document["totalWithVat"]) - sum(payments.map(({ amount }) => cents(amount)));
      if (same) expect(cents(document["toBePaid"]), `${name} ${String(document["id"])}`).toBe(left);
      inDocuments.push(...payments.map(({ id }) => Number(id)));
    }
  }
  const own = [...(books.get("document_payments")?.keys() ?? [])];
  expect(inDocuments.toSorted((a, b) => a - b)).toEqual(own.toSorted((a, b) => a - b));
}

/** What lies in the warehouses is what receipts brought in less what they took out. */
function expectStockIn(books: Snapshot): void {
  const levels = new Map<string, number>();
  const sides = [
    ["warehouse_inbound_receipts", 1],
    ["warehouse_outbound_receipts", -1],
  ] as const;
  for (const [name, sign] of sides) {
    for (const receipt of table(books, name)) {
      const warehouse = String((receipt["warehouse"] as Dict)["id"]);
      for (const { priceListItemId, quantity } of list(receipt, "items")) {
        const key = `${String(priceListItemId)}/${warehouse}`;
        levels.set(key, (levels.get(key) ?? 0) + sign * Number(quantity));
      }
    }
  }
  let checked = 0;
  for (const item of table(books, "price_list_items")) {
    for (const { warehouseId, stockQuantity } of (item["stocks"] ?? []) as Dict[]) {
      const level = levels.get(`${String(item["id"])}/${String(warehouseId)}`) ?? 0;
      expect(Number(stockQuantity), `item ${String(item["id"])}`).toBeCloseTo(level, 6);
      checked++;
    }
  }
  expect(checked).toBeGreaterThan(5);
}

describe("a working day", () => {
  test("makes the same changes with the same seed, of every kind that people make", async () => {
    const [first, again, other] = [await afterTick(7), await afterTick(7), await afterTick(8)];
    const eventsOf = ({ sandbox }: typeof first) =>
      sandbox.control.events().map(({ type, resource }) => [type, resource.id]);
    expect(first.report).toEqual(again.report);
    expect(eventsOf(first)).toEqual(eventsOf(again));
    expect(eventsOf(first)).not.toEqual(eventsOf(other));
    expect(first.report).toMatchObject({ changes: 300, of: 300, ended: true, problem: null });
    expect(first.report.events).toBe(first.sandbox.control.events().length);
    expect(sum(Object.values(first.report.kinds))).toBe(300);
    expect(Object.keys(first.report.kinds).length).toBeGreaterThan(22);
    for (const kind of ["invoices written", "invoices paid", "goods taken in", "goods given out"])
      expect(first.report.kinds[kind], kind).toBeGreaterThan(5);
  });

  test("is spread evenly over its time", async () => {
    const { control } = await openSandbox();
    const startMs = performance.now();
    const day = control.day({ changes: 20, durationMs: 400 });
    const at: number[] = [];
    let before = 0;
    control.onEvent(() => {
      if (day.report().changes === before && at.length > 0) return;
      before = day.report().changes;
      at.push(performance.now() - startMs);
    });
    await day.done;
    expect(performance.now() - startMs).toBeGreaterThan(370);
    expect(at.filter((ms) => ms < 200).length).toBeLessThan(13);
    expect(at.filter((ms) => ms >= 180).length).toBeGreaterThan(5);
  });

  test("ends when it is stopped, and with the sandbox", async () => {
    const sandbox = await openSandbox();
    const day = sandbox.control.day({ changes: 100, durationMs: 60_000 });
    day.stop();
    expect(await day.done).toMatchObject({ of: 100, ended: true });
    const second = sandbox.control.day({ changes: 100, durationMs: 60_000 });
    await sandbox.close();
    expect((await second.done).changes).toBeLessThan(3);
  });

  test("is delivered in full to a subscription", async () => {
    const sink = await openSink();
    const sandbox = await openSandbox({ webhooks: [{ url: sink.url }], records: 120 });
    await sandbox.control.day({ changes: 300, durationMs: 0 }).done;
    await sandbox.control.webhooks.idle();
    const ids = sandbox.control.events().map(({ id }) => id);
    expect(sink.received.map(({ json }) => String(json["id"])).toSorted()).toEqual(ids.toSorted());
    expect((await get(sandbox, "/whoami")).status).toBe(200);
  });

  test("leaves an empty company alone, and does what can be done in it", async () => {
    const sandbox = await openSandbox({ records: 0 });
    const { changes, problem } = await sandbox.control.day({ changes: 100, durationMs: 0 }).done;
    expect({ changes, problem }).toEqual({ changes: 100, problem: null });
    expect(sandbox.control.failures()).toEqual([]);
  });
});
