import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { all, get, one, openSandbox, post, put, remove, testDay, type Dict } from "../support/sandbox.ts";

const idOf = (record: Dict) => String(record["id"]);
const typesOf = (sandbox: Sandbox) => sandbox.control.events().map(({ type }) => type);

/** Millionths, so that sums are exact. */
const exact = (value: unknown) => Math.round(Number(value) * 1e6);

/** Inbound minus outbound, by item and warehouse, out of the receipts themselves. */
async function summed(sandbox: Sandbox): Promise<Map<string, number>> {
  const levels = new Map<string, number>();
  for (const [path, sign] of [
    ["/warehouse-inbound-receipts", 1],
    ["/warehouse-outbound-receipts", -1],
  ] as const) {
    for (const record of await all(sandbox, path)) {
      for (const line of record["items"] as Dict[]) {
        const key = `${String(line["priceListItemId"])}@${idOf(record["warehouse"] as Dict)}`;
        levels.set(key, (levels.get(key) ?? 0) + sign * exact(line["quantity"]));
      }
    }
  }
  return levels;
}

/** What the items say of themselves, in the same form. */
async function told(sandbox: Sandbox): Promise<Map<string, number>> {
  const levels = new Map<string, number>();
  for (const item of await all(sandbox, "/price-list-items")) {
    const { json } = await get(sandbox, `/price-list-items/${idOf(item)}`);
    for (const { warehouseId, stockQuantity } of json["stocks"] as Dict[]) {
      levels.set(`${idOf(item)}@${String(warehouseId)}`, exact(stockQuantity));
    }
  }
  return levels;
}

function nonZero(levels: Map<string, number>): string[] {
  return [...levels]
    .filter(([, level]) => level !== 0)
    .map(([place, level]) => `${place}=${level}`)
    .toSorted();
}

async function expectSum(sandbox: Sandbox): Promise<void> {
  const [receipts, items] = [await summed(sandbox), await told(sandbox)];
  expect(nonZero(items)).toEqual(nonZero(receipts));
}

/** An item with stock, and where it lies. */
async function stocked(sandbox: Sandbox): Promise<{ item: Dict; warehouseId: unknown; level: number }> {
  const list = await all(sandbox, "/price-list-items?onlyWarehouseItems=true&stockFrom=10");
  for (const { id, enableNegativeStock } of list) {
    const item = (await get(sandbox, `/price-list-items/${String(id)}`)).json;
    const split = (item["stocks"] as Dict[]).find(({ stockQuantity }) => Number(stockQuantity) >= 5);
    if (split && enableNegativeStock === false) {
      return { item, warehouseId: split["warehouseId"], level: Number(split["stockQuantity"]) };
    }
  }
  throw new Error("nothing is on stock");
}

function receipt(warehouseId: unknown, number: string, ...lines: [unknown, number][]): Dict {
  const items = lines.map(([priceListItemId, quantity]) => ({
    priceListItemId,
    quantity,
    unitPrice: 1.5,
    vatRate: 23,
  }));
  return { number, warehouseId, languageId: 1, issueDate: testDay, items };
}

describe("stock adds up", () => {
  test("every seeded level is what came in minus what went out, and none is negative", async () => {
    const sandbox = await openSandbox({ records: 2_000 });
    await expectSum(sandbox);
    for (const [place, level] of await told(sandbox)) expect(level, place).toBeGreaterThanOrEqual(0);
  });

  test("it still does after receipts were created, changed and deleted", async () => {
    const sandbox = await openSandbox();
    const { item, warehouseId } = await stocked(sandbox);
    const came = await post(
      sandbox,
      "/warehouse-inbound-receipts",
      receipt(warehouseId, "P-1", [item["id"], 3.25]),
    );
    const left = await post(
      sandbox,
      "/warehouse-outbound-receipts",
      receipt(warehouseId, "V-1", [item["id"], 2]),
    );
    expect([came.status, left.status]).toEqual([201, 201]);
    await expectSum(sandbox);
    await put(
      sandbox,
      `/warehouse-inbound-receipts/${idOf(came.json)}`,
      receipt(warehouseId, "P-1", [item["id"], 7.5]),
    );
    await expectSum(sandbox);
    const seeded = await one(sandbox, "/warehouse-outbound-receipts?perPage=1");
    await remove(sandbox, `/warehouse-outbound-receipts/${idOf(seeded)}`);
    await remove(sandbox, `/warehouse-outbound-receipts/${idOf(left.json)}`);
    await expectSum(sandbox);
  });

  test("each change of a level is told once, by the item", async () => {
    const sandbox = await openSandbox();
    const { item, warehouseId } = await stocked(sandbox);
    const made = await post(
      sandbox,
      "/warehouse-inbound-receipts",
      receipt(warehouseId, "P-1", [item["id"], 1], [item["id"], 2]),
    );
    const path = `/warehouse-inbound-receipts/${idOf(made.json)}`;
    await put(sandbox, path, { ...receipt(warehouseId, "P-1", [item["id"], 3]), note: "to isté množstvo" });
    await remove(sandbox, path);
    expect(typesOf(sandbox)).toEqual([
      "warehouse-inbound-receipts.created",
      "price-list-items.stock-updated",
      "warehouse-inbound-receipts.updated",
      "warehouse-inbound-receipts.deleted",
      "price-list-items.stock-updated",
    ]);
  });
});

describe("outbound receipts", () => {
  test("take no more than there is, counting a changed receipt's own share as there", async () => {
    const sandbox = await openSandbox();
    const { item, warehouseId, level } = await stocked(sandbox);
    const path = "/warehouse-outbound-receipts";
    const tooMuch = await post(
      sandbox,
      path,
      receipt(warehouseId, "V-1", [item["id"], level], [item["id"], 0.5]),
    );
    expect(tooMuch.status).toBe(422);
    expect(Object.keys(tooMuch.json["errors"] as Dict)).toEqual(["items.1.quantity"]);
    const everything = await post(sandbox, path, receipt(warehouseId, "V-1", [item["id"], level]));
    expect(everything.status).toBe(201);
    expect((await post(sandbox, path, receipt(warehouseId, "V-2", [item["id"], 1]))).status).toBe(422);
    const own = `${path}/${idOf(everything.json)}`;
    expect((await put(sandbox, own, receipt(warehouseId, "V-1", [item["id"], level - 1]))).status).toBe(200);
    expect((await put(sandbox, own, receipt(warehouseId, "V-1", [item["id"], level + 1]))).status).toBe(422);
  });

  test("an item that may go negative may", async () => {
    const sandbox = await openSandbox();
    const { item, warehouseId, level } = await stocked(sandbox);
    const {
      stock: _s,
      stocks: _t,
      id,
      unit: _u,
      unitPriceWithVat: _v,
      purchasePriceWithVat: _w,
      ...facts
    } = item;
    await put(sandbox, `/price-list-items/${String(id)}`, { ...facts, enableNegativeStock: true });
    const made = await post(
      sandbox,
      "/warehouse-outbound-receipts",
      receipt(warehouseId, "V-1", [id, level + 4]),
    );
    expect(made.status).toBe(201);
    await expectSum(sandbox);
  });

  test("resolve or create their client, and keep what was sent beside an id for themselves", async () => {
    const sandbox = await openSandbox();
    const { item, warehouseId } = await stocked(sandbox);
    const client = await one(sandbox, "/clients?type=company");
    const known = await post(sandbox, "/warehouse-outbound-receipts", {
      ...receipt(warehouseId, "V-1", [item["id"], 1]),
      clientId: client["id"],
      client: { name: "Pobočka", street: "Nová 3" },
    });
    expect(known.json).toMatchObject({
      clientId: client["id"],
      client: { name: "Pobočka", street: "Nová 3", city: client["city"] },
    });
    expect((await get(sandbox, `/clients/${idOf(client)}`)).json).toEqual(client);
    const fresh = await post(sandbox, "/warehouse-outbound-receipts", {
      ...receipt(warehouseId, "V-2", [item["id"], 1]),
      client: { name: "Celkom nový", vatId: "SK9999999999" },
    });
    expect((await get(sandbox, `/clients/${String(fresh.json["clientId"])}`)).json).toMatchObject({
      name: "Celkom nový",
    });
    await remove(sandbox, `/clients/${String(fresh.json["clientId"])}`);
    const after = (await get(sandbox, `/warehouse-outbound-receipts/${idOf(fresh.json)}`)).json;
    expect(after).toMatchObject({ clientId: null, client: { name: "Celkom nový" } });
  });
});

describe("inbound receipts", () => {
  test.each([
    [{ number: "" }, "number"],
    [{ number: "x".repeat(21) }, "number"],
    [{ warehouseId: 1 }, "warehouseId"],
    [{ languageId: 99 }, "languageId"],
    [{ issueDate: "20.11.2026" }, "issueDate"],
    [{ supplierId: 1 }, "supplierId"],
    [{ supplier: { city: "Nitra" } }, "supplier.name"],
    [{ items: [] }, "items"],
    [{ note: "x".repeat(3001) }, "note"],
  ])("%j is refused on %s", async (change, field) => {
    const sandbox = await openSandbox();
    const { item, warehouseId } = await stocked(sandbox);
    const input = { ...receipt(warehouseId, "P-1", [item["id"], 1]), ...change };
    const heard = await post(sandbox, "/warehouse-inbound-receipts", input);
    expect([heard.status, Object.keys(heard.json["errors"] as Dict)]).toEqual([422, [field]]);
  });

  test("take only items that are tracked, in positive quantities", async () => {
    const sandbox = await openSandbox();
    const { warehouseId } = await stocked(sandbox);
    const untracked = (await all(sandbox, "/price-list-items")).find(
      ({ useWarehouse }) => useWarehouse === false,
    );
    const path = "/warehouse-inbound-receipts";
    const heard = await post(sandbox, path, receipt(warehouseId, "P-1", [untracked?.["id"], 1]));
    expect(Object.keys(heard.json["errors"] as Dict)).toEqual(["items.0.priceListItemId"]);
    const zero = await post(sandbox, path, receipt(warehouseId, "P-1", [untracked?.["id"], 0]));
    expect(Object.keys(zero.json["errors"] as Dict)).toEqual(["items.0.quantity"]);
  });

  test("using a warehouse's next number counts its series on; a number stands once", async () => {
    const sandbox = await openSandbox();
    const { item, warehouseId } = await stocked(sandbox);
    const path = `/warehouses/${String(warehouseId)}`;
    const before = (await get(sandbox, path)).json;
    const next = Number(before["inboundNumericalSeriesNextNumber"]);
    const pattern = String(before["inboundNumericalSeriesPattern"]);
    const number = pattern.replace("(RR)", "26").replace("(CCCCC)", String(next).padStart(5, "0"));
    const input = receipt(warehouseId, number, [item["id"], 1]);
    expect((await post(sandbox, "/warehouse-inbound-receipts", input)).status).toBe(201);
    expect((await get(sandbox, path)).json["inboundNumericalSeriesNextNumber"]).toBe(next + 1);
    const again = await post(sandbox, "/warehouse-inbound-receipts", input);
    expect(Object.keys(again.json["errors"] as Dict)).toEqual(["number"]);
  });

  test("a supplier is found by VAT id, else made", async () => {
    const sandbox = await openSandbox();
    const { item, warehouseId } = await stocked(sandbox);
    const supplier = (await all(sandbox, "/suppliers")).find(({ vatId }) => vatId !== null) ?? {};
    const matched = await post(sandbox, "/warehouse-inbound-receipts", {
      ...receipt(warehouseId, "P-1", [item["id"], 1]),
      supplier: { name: "Iné meno", vatId: supplier["vatId"] },
    });
    expect(matched.json).toMatchObject({ supplierId: supplier["id"], supplier: { name: supplier["name"] } });
    const made = await post(sandbox, "/warehouse-inbound-receipts", {
      ...receipt(warehouseId, "P-2", [item["id"], 1]),
      supplier: { name: "Nový dodávateľ" },
    });
    expect((await get(sandbox, "/suppliers?search=novy dodavatel")).data.map(({ id }) => id)).toEqual([
      made.json["supplierId"],
    ]);
  });
});

describe("price-list items", () => {
  const item = { name: "Čaj", unitPrice: 4.2, unitId: 1, vatRate: 19 };

  test("tell their prices with VAT exactly", async () => {
    const sandbox = await openSandbox();
    const made = await post(sandbox, "/price-list-items", {
      ...item,
      purchasePrice: 2.5,
      purchaseVatRate: 19,
    });
    expect(made.json).toMatchObject({
      unitPriceWithVat: 4.998,
      purchasePriceWithVat: 2.975,
      stock: 0,
      stocks: [],
      unit: { id: 1 },
    });
    const path = `/price-list-items/${idOf(made.json)}`;
    expect((await put(sandbox, path, item)).json).toMatchObject({
      purchasePrice: null,
      purchasePriceWithVat: null,
    });
    expect((await remove(sandbox, path)).status).toBe(204);
    expect(typesOf(sandbox)).toEqual([
      "price-list-items.created",
      "price-list-items.updated",
      "price-list-items.deleted",
    ]);
  });

  test("keep EAN and stock code to themselves", async () => {
    const sandbox = await openSandbox();
    const coded = { ...item, ean: "8586012345678", useWarehouse: true, warehouseCode: "CAJ" };
    const made = await post(sandbox, "/price-list-items", coded);
    const again = await post(sandbox, "/price-list-items", coded);
    expect(Object.keys(again.json["errors"] as Dict)).toEqual(["ean", "warehouseCode"]);
    expect((await put(sandbox, `/price-list-items/${idOf(made.json)}`, coded)).status).toBe(200);
    const bare = await post(sandbox, "/price-list-items", { ...item, useWarehouse: true });
    expect(Object.keys(bare.json["errors"] as Dict)).toEqual(["warehouseCode"]);
    const taxed = await post(sandbox, "/price-list-items", { ...item, vatRate: 24, unitId: 13 });
    expect(Object.keys(taxed.json["errors"] as Dict)).toEqual(["vatRate"]);
  });
});
