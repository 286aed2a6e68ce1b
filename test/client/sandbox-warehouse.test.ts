import { describe, expect, it } from "vitest";
import { InvalidError, NotFoundError } from "../../src/connector/service-errors.ts";
import { newClient, openLive, receiptOf, refusal, stockedItem } from "../support/http/live-client.ts";

const pdf = Buffer.from("%PDF-");

describe("a warehouse", () => {
  it("is found and changed, and deleted when nothing names it", async () => {
    const { client } = await openLive();
    const { warehouse, receipt } = await stockedItem(client, 1);
    expect(await client.warehouses.show(warehouse.id)).toEqual({
      ...warehouse,
      inboundNumericalSeriesNextNumber: 1,
    });
    expect((await client.warehouses.list()).map(({ id }) => id)).toContain(warehouse.id);
    const { id, ...facts } = warehouse;
    const changed = await client.warehouses.update(id, { ...facts, name: "Sklad za riekou" });
    expect(changed).toEqual({ ...warehouse, name: "Sklad za riekou" });
    expect(await refusal(client.warehouses.delete(id))).toBeInstanceOf(InvalidError);
    await client.warehouseInboundReceipts.delete(receipt.id);
    await client.warehouses.delete(id);
    await expect(client.warehouses.show(id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("with a code that another one has is refused by field", async () => {
    const { client } = await openLive();
    const { warehouse } = await stockedItem(client, 1);
    const { id: _, ...facts } = warehouse;
    expect(await refusal(client.warehouses.create(facts))).toMatchObject({
      kind: "invalid",
      fields: { code: [expect.any(String)] },
    });
  });
});

const screw = { name: "Podložka", unitPrice: 0.00123, unitId: 1, vatRate: 23, purchasePrice: -0.1 };

describe("a price-list item", () => {
  it("is made, found, changed and deleted, its price to the last digit", async () => {
    const { client } = await openLive();
    const made = await client.priceListItems.create({ ...screw, ean: "8580000000017" });
    expect(made).toMatchObject({ ...screw, ean: "8580000000017", stock: 0, unit: { id: 1 } });
    expect(await client.priceListItems.show(made.id)).toEqual(made);
    const { data } = await client.priceListItems.list({ name: "Podložka" });
    expect(data.map(({ id }) => id)).toEqual([made.id]);
    const changed = await client.priceListItems.update(made.id, { ...screw, unitPrice: 9_999_999_999.99 });
    expect(changed).toMatchObject({ id: made.id, unitPrice: 9_999_999_999.99, ean: null });
    await client.priceListItems.delete(made.id);
    await expect(client.priceListItems.show(made.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("is listed by whether it has stock", async () => {
    const { client } = await openLive();
    const { item } = await stockedItem(client, 987_654);
    const { data } = await client.priceListItems.list({ onlyWarehouseItems: true, stockFrom: 987_654 });
    expect(data.map(({ id, stock }) => ({ id, stock }))).toEqual([{ id: item.id, stock: 987_654 }]);
  });
});

describe("an inbound receipt", () => {
  it("is found, changed and deleted, and the stock follows each time", async () => {
    const { client } = await openLive();
    const { warehouse, item, receipt } = await stockedItem(client, 10.5);
    const stock = async () => (await client.priceListItems.show(item.id)).stock;
    expect(await client.warehouseInboundReceipts.show(receipt.id)).toEqual(receipt);
    const { data } = await client.warehouseInboundReceipts.list({ warehouseId: warehouse.id });
    expect(data).toEqual([receipt]);
    expect(await stock()).toBe(10.5);
    const more = receiptOf(warehouse.id, "PR-1", { priceListItemId: item.id, quantity: 12.25 });
    await client.warehouseInboundReceipts.update(receipt.id, more);
    expect(await stock()).toBe(12.25);
    await client.warehouseInboundReceipts.delete(receipt.id);
    expect(await stock()).toBe(0);
  });

  it("makes its supplier out of the facts that were sent", async () => {
    const { client } = await openLive();
    const { warehouse, item } = await stockedItem(client, 1);
    const supplier = { name: "Železiarstvo", vatId: "SK2999999999", countryId: 703 };
    const made = await client.warehouseInboundReceipts.create({
      ...receiptOf(warehouse.id, "PR-2", { priceListItemId: item.id, quantity: 2 }),
      supplier,
    });
    expect(made).toMatchObject({ supplier: { name: "Železiarstvo", type: "company" } });
    expect(await client.suppliers.show(made.supplierId ?? 0)).toMatchObject({ vatId: "SK2999999999" });
  });
});

describe("an outbound receipt", () => {
  it("is made, found, changed and deleted, and the stock follows each time", async () => {
    const { client } = await openLive();
    const { warehouse, item } = await stockedItem(client, 10);
    const { id: clientId } = await newClient(client);
    const out = (quantity: number) => receiptOf(warehouse.id, "VR-1", { priceListItemId: item.id, quantity });
    const stock = async () => (await client.priceListItems.show(item.id)).stock;
    const made = await client.warehouseOutboundReceipts.create({ ...out(4), clientId });
    expect(made).toMatchObject({ number: "VR-1", clientId, total: 0.2, totalWithVat: 0.25 });
    expect(await client.warehouseOutboundReceipts.show(made.id)).toEqual(made);
    expect((await client.warehouseOutboundReceipts.list({ clientId })).data).toEqual([made]);
    expect(await stock()).toBe(6);
    await client.warehouseOutboundReceipts.update(made.id, { ...out(10), clientId });
    expect(await stock()).toBe(0);
    await client.warehouseOutboundReceipts.delete(made.id);
    expect(await stock()).toBe(10);
  });

  it("of more than there is, is refused by its line, and moves nothing", async () => {
    const { client } = await openLive();
    const { warehouse, item } = await stockedItem(client, 10);
    const tooMuch = receiptOf(warehouse.id, "VR-1", { priceListItemId: item.id, quantity: 10.00001 });
    const error = await refusal(client.warehouseOutboundReceipts.create(tooMuch));
    expect(error).toBeInstanceOf(InvalidError);
    expect(error).toMatchObject({
      status: 422,
      fields: { "items.0.quantity": [expect.stringContaining("Skrutka M8")] },
    });
    expect(await client.priceListItems.show(item.id)).toMatchObject({
      stock: 10,
      stocks: [{ warehouseId: warehouse.id, warehouseCode: "RIEKA", stockQuantity: 10 }],
    });
  });
});

describe("the PDF of a receipt", () => {
  it("is the bytes of one, for what came in and for what went out", async () => {
    const { client } = await openLive();
    const { warehouse, item, receipt } = await stockedItem(client, 3);
    const line = { priceListItemId: item.id, quantity: 1 };
    const out = await client.warehouseOutboundReceipts.create(receiptOf(warehouse.id, "VR-1", line));
    for (const bytes of [
      await client.warehouseInboundReceipts.pdf(receipt.id),
      await client.warehouseOutboundReceipts.pdf(out.id),
    ]) {
      expect(bytes.subarray(0, pdf.length)).toEqual(pdf);
      expect(bytes.includes("%%EOF")).toBe(true);
    }
  });
});
