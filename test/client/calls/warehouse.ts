import { calls } from "../../support/http/client.ts";

const warehouse = {
  name: "Sklad",
  code: "S1",
  inboundNumericalSeriesPattern: "P{n}",
  inboundNumericalSeriesNextNumber: 1,
  outboundNumericalSeriesPattern: "V{n}",
  outboundNumericalSeriesNextNumber: 1,
};

const receipt = {
  number: "P1",
  warehouseId: 1,
  languageId: 1,
  issueDate: "2026-11-21",
  items: [{ priceListItemId: 5, quantity: 0.5, unitPrice: -3.1, vatRate: 23 }],
};

const item = { name: "Skrutka", unitPrice: 0.05, unitId: 1, vatRate: 23 };

export const warehouseCalls = calls(
  { operation: "warehouses.list", call: (client) => client.warehouses.list(), sends: "GET /warehouses" },
  {
    operation: "warehouses.create",
    call: (client) => client.warehouses.create(warehouse),
    sends: "POST /warehouses",
    json: warehouse,
  },
  { operation: "warehouses.show", call: (client) => client.warehouses.show(7), sends: "GET /warehouses/7" },
  {
    operation: "warehouses.update",
    call: (client) => client.warehouses.update(7, warehouse),
    sends: "PUT /warehouses/7",
    json: warehouse,
  },
  {
    operation: "warehouses.delete",
    call: (client) => client.warehouses.delete(7),
    sends: "DELETE /warehouses/7",
    expects: "nothing",
  },
  {
    operation: "warehouseInboundReceipts.list",
    call: (client) =>
      client.warehouseInboundReceipts.list({ warehouseId: 1, sortBy: "issue_date", perPage: 200 }),
    sends: "GET /warehouse-inbound-receipts",
    query: { warehouseId: 1, sortBy: "issue_date", perPage: 200 },
  },
  {
    operation: "warehouseInboundReceipts.create",
    call: (client) => client.warehouseInboundReceipts.create({ ...receipt, supplier: { name: "Dodávky" } }),
    sends: "POST /warehouse-inbound-receipts",
    json: { ...receipt, supplier: { name: "Dodávky" } },
    keyed: true,
  },
  {
    operation: "warehouseInboundReceipts.show",
    call: (client) => client.warehouseInboundReceipts.show(7),
    sends: "GET /warehouse-inbound-receipts/7",
  },
  {
    operation: "warehouseInboundReceipts.update",
    call: (client) => client.warehouseInboundReceipts.update(7, receipt),
    sends: "PUT /warehouse-inbound-receipts/7",
    json: receipt,
  },
  {
    operation: "warehouseInboundReceipts.delete",
    call: (client) => client.warehouseInboundReceipts.delete(7),
    sends: "DELETE /warehouse-inbound-receipts/7",
    expects: "nothing",
  },
  {
    operation: "warehouseInboundReceipts.pdf",
    call: (client) => client.warehouseInboundReceipts.pdf(7),
    sends: "GET /warehouse-inbound-receipts/7/pdf",
    expects: "bytes",
  },
  {
    operation: "warehouseOutboundReceipts.list",
    call: (client) => client.warehouseOutboundReceipts.list({ clientId: 3 }),
    sends: "GET /warehouse-outbound-receipts",
    query: { clientId: 3 },
  },
  {
    operation: "warehouseOutboundReceipts.create",
    call: (client) => client.warehouseOutboundReceipts.create({ ...receipt, clientId: 3 }),
    sends: "POST /warehouse-outbound-receipts",
    json: { ...receipt, clientId: 3 },
    keyed: true,
  },
  {
    operation: "warehouseOutboundReceipts.show",
    call: (client) => client.warehouseOutboundReceipts.show(7),
    sends: "GET /warehouse-outbound-receipts/7",
  },
  {
    operation: "warehouseOutboundReceipts.update",
    call: (client) => client.warehouseOutboundReceipts.update(7, receipt),
    sends: "PUT /warehouse-outbound-receipts/7",
    json: receipt,
  },
  {
    operation: "warehouseOutboundReceipts.delete",
    call: (client) => client.warehouseOutboundReceipts.delete(7),
    sends: "DELETE /warehouse-outbound-receipts/7",
    expects: "nothing",
  },
  {
    operation: "warehouseOutboundReceipts.pdf",
    call: (client) => client.warehouseOutboundReceipts.pdf(7),
    sends: "GET /warehouse-outbound-receipts/7/pdf",
    expects: "bytes",
  },
  {
    operation: "priceListItems.list",
    call: (client) =>
      client.priceListItems.list({ onlyWarehouseItems: true, priceFrom: 0.1, sortBy: "unit_price" }),
    sends: "GET /price-list-items",
    query: { onlyWarehouseItems: true, priceFrom: 0.1, sortBy: "unit_price" },
  },
  {
    operation: "priceListItems.create",
    call: (client) => client.priceListItems.create(item),
    sends: "POST /price-list-items",
    json: item,
    keyed: true,
  },
  {
    operation: "priceListItems.show",
    call: (client) => client.priceListItems.show(7),
    sends: "GET /price-list-items/7",
  },
  {
    operation: "priceListItems.update",
    call: (client) => client.priceListItems.update(7, item),
    sends: "PUT /price-list-items/7",
    json: item,
  },
  {
    operation: "priceListItems.delete",
    call: (client) => client.priceListItems.delete(7),
    sends: "DELETE /price-list-items/7",
    expects: "nothing",
  },
);
