import { describe, expect, test } from "vitest";
import {
  all,
  fieldsOf,
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
import { line, plainClient, stocked } from "../support/sandbox/trade.ts";

describe("PUT", () => {
  test("writes the document anew: omitted fields are resolved, not kept", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const more = { note: "Pôvodná", specificSymbol: 5, discountType: "fixed", discountValue: 3 };
    const { json } = await post(sandbox, "/invoices", {
      clientId,
      number: "F1",
      ...more,
      items: [line, line],
    });
    const path = `/invoices/${idOf(json)}`;
    const changed = await put(sandbox, path, { clientId, number: "F1", items: [{ ...line, quantity: 1 }] });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({
      id: json["id"],
      uuid: json["uuid"],
      number: "F1",
      note: null,
      specificSymbol: null,
      discountType: null,
      total: 50,
    });
    expect(fieldsOf(await put(sandbox, path, { items: [line] }))).toEqual(["clientId"]);
    expect(fieldsOf(await put(sandbox, path, { clientId }))).toEqual(["items"]);
  });

  test("keeps rows of an invoice by their uuid, and refuses another document's", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const { json } = await post(sandbox, "/invoices", { clientId, number: "F1", items: [line, line] });
    const rows = json["items"] as Dict[];
    const items = [{ ...line, uuid: rows[1]?.["uuid"], quantity: 9 }, line];
    const changed = await put(sandbox, `/invoices/${idOf(json)}`, { clientId, number: "F1", items });
    const after = changed.json["items"] as Dict[];
    expect(after[0]).toMatchObject({ id: rows[1]?.["id"], uuid: rows[1]?.["uuid"], quantity: 9 });
    expect(rows.map(({ id }) => id)).not.toContain(after[1]?.["id"]);
    const foreign = { ...line, uuid: "6b1b8c9e-66e6-4fb5-b2db-6d7c7f0f8f19" };
    expect(fieldsOf(await put(sandbox, `/invoices/${idOf(json)}`, { clientId, items: [foreign] }))).toEqual([
      "items.0.uuid",
    ]);
  });
});

describe("warehouse allocations", () => {
  test("of an invoice take goods out, follow its changes and come back with its deletion", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const { item: listed, warehouseId, level } = await stocked(sandbox);
    const priceListItemId = listed["id"];
    const levelNow = async () => {
      const { json } = await get(sandbox, `/price-list-items/${String(priceListItemId)}`);
      const split = (json["stocks"] as Dict[]).find((place) => place["warehouseId"] === warehouseId);
      return Number(split?.["stockQuantity"]);
    };
    const item = (quantity: number) => ({
      priceListItemId,
      quantity,
      warehouseAllocations: [{ warehouseId, quantity }],
    });
    const before = (await all(sandbox, "/warehouse-outbound-receipts")).length;
    const made = await post(sandbox, "/invoices", { clientId, number: "F1", items: [item(3)] });
    expect(await levelNow()).toBe(level - 3);
    const receipts = await all(sandbox, "/warehouse-outbound-receipts");
    expect(receipts).toHaveLength(before + 1);
    expect(receipts[0]).toMatchObject({ clientId, items: [{ priceListItemId, quantity: 3 }] });
    const path = `/invoices/${idOf(made.json)}`;
    await put(sandbox, path, { clientId, number: "F1", items: [item(level)] });
    expect(await levelNow()).toBe(0);
    expect(
      fieldsOf(await put(sandbox, path, { clientId, number: "F1", items: [item(level + 1)] })),
    ).toHaveLength(1);
    await remove(sandbox, path);
    expect(await levelNow()).toBe(level);
    expect(await all(sandbox, "/warehouse-outbound-receipts")).toHaveLength(before);
  });

  test("add up to the line's quantity and name tracked items and known warehouses", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const { item: listed, warehouseId } = await stocked(sandbox);
    const priceListItemId = listed["id"];
    const refused = async (item: Dict) =>
      fieldsOf(await post(sandbox, "/invoices", { clientId, items: [item] }));
    const short = { priceListItemId, quantity: 3, warehouseAllocations: [{ warehouseId, quantity: 2 }] };
    expect(await refused(short)).toEqual(["items.0.warehouseAllocations"]);
    const nowhere = { priceListItemId, quantity: 2, warehouseAllocations: [{ warehouseId: 1, quantity: 2 }] };
    expect(await refused(nowhere)).toEqual(["items.0.warehouseAllocations.0.warehouseId"]);
    const free = { ...line, warehouseAllocations: [{ warehouseId, quantity: 2 }] };
    expect(await refused(free)).toEqual(["items.0.warehouseAllocations"]);
  });
});

describe("deleting", () => {
  test("a document takes its payments along, each with an event", async () => {
    const sandbox = await openSandbox();
    const paid = await one(sandbox, "/invoices?paymentStatus=paid");
    const payments = (await get(sandbox, `/invoices/${idOf(paid)}`)).json["payments"] as Dict[];
    expect((await remove(sandbox, `/invoices/${idOf(paid)}`)).status).toBe(204);
    for (const payment of payments)
      expect((await get(sandbox, `/document-payments/${idOf(payment)}`)).status).toBe(404);
    expect(typesOf(sandbox)).toEqual([
      ...payments.map(() => "document-payments.deleted"),
      "invoices.deleted",
    ]);
    expect((await all(sandbox, "/invoices")).map(({ id }) => id)).not.toContain(paid["id"]);
  });

  test.each(["/invoices", "/credit-notes", "/proformas", "/orders", "/quotations"])(
    "%s forget what was deleted",
    async (path) => {
      const sandbox = await openSandbox();
      const record = await one(sandbox, path);
      expect((await remove(sandbox, `${path}/${idOf(record)}`)).status).toBe(204);
      expect((await get(sandbox, `${path}/${idOf(record)}`)).status).toBe(404);
      expect((await remove(sandbox, `${path}/${idOf(record)}`)).status).toBe(404);
    },
  );
});
