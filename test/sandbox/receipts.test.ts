import { describe, expect, test } from "vitest";
import {
  all,
  get,
  idOf,
  one,
  openSandbox,
  post,
  put,
  remove,
  type Dict,
  typesOf,
} from "../support/sandbox/sandbox.ts";
import { stocked, receipt } from "../support/sandbox/trade.ts";

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

  test("show their prices with VAT exactly", async () => {
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
    expect(Object.keys(taxed.json["errors"] as Dict)).toEqual(["unitId", "vatRate"]);
  });
});
