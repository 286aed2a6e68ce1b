import { z } from "zod";
import { priceListItem } from "../resources/price-list-items.ts";
import { inboundReceipt, outboundReceipt } from "../resources/warehouse-receipts.ts";
import { warehouse } from "../resources/warehouses.ts";
import { partyInput } from "./contacts.ts";
import * as op from "./operation-builders.ts";
import { amount, day, id, limits, maybe, positive, price, sorted, characters } from "./input-types.ts";

const warehouseInput = z.strictObject({
  name: characters(255),
  code: characters(255),
  inboundNumericalSeriesPattern: characters(255),
  inboundNumericalSeriesNextNumber: z.int().min(1),
  outboundNumericalSeriesPattern: characters(255),
  outboundNumericalSeriesNextNumber: z.int().min(1),
});

const line = z.strictObject({
  priceListItemId: id,
  quantity: positive(limits.tenTrillion),
  unitPrice: price,
  vatRate: amount(0, 100),
});

const receipt = {
  number: characters(20, 1),
  warehouseId: id,
  languageId: id,
  issueDate: day,
  note: maybe(characters(3000)),
  items: z.array(line).min(1),
};

/** With an id the object overrides the snapshot; without, the service finds or creates the party by it. */
const party = z.strictObject(partyInput);
const inboundInput = z.strictObject({ ...receipt, supplierId: maybe(id), supplier: maybe(party) });
const outboundInput = z.strictObject({ ...receipt, clientId: maybe(id), client: maybe(party) });

const receiptFilters = {
  warehouseId: id.optional(),
  number: z.string().optional(),
  ...sorted(["number", "issue_date", "created_at", "updated_at"]),
};

const itemInput = z.strictObject({
  name: characters(255),
  description: maybe(characters(1000)),
  unitPrice: price,
  unitId: id,
  vatRate: amount(0, 23),
  ean: maybe(characters(255)),
  useWarehouse: z.boolean().optional(),
  warehouseCode: maybe(characters(255)),
  enableNegativeStock: z.boolean().optional(),
  maxStock: maybe(amount(0, limits.tenTrillion)),
  purchasePrice: maybe(price),
  purchaseVatRate: maybe(amount(0, 23)),
});

/** Operations on warehouses, their receipts and the price list. */
export const warehouseOperations = {
  warehouses: {
    list: op.wholeList("/warehouses", warehouse),
    ...op.records("/warehouses", "warehouse", warehouse, warehouseInput),
    // Creating a warehouse takes no `Idempotency-Key`.
    create: op.writeRecord("POST", "/warehouses", warehouseInput, warehouse),
  },
  warehouseInboundReceipts: {
    list: op.pagedList("/warehouse-inbound-receipts", inboundReceipt, 200, {
      supplierId: id.optional(),
      ...receiptFilters,
    }),
    ...op.records("/warehouse-inbound-receipts", "warehouseInboundReceipt", inboundReceipt, inboundInput),
    pdf: op.pdf("/warehouse-inbound-receipts/{warehouseInboundReceipt}/pdf"),
  },
  warehouseOutboundReceipts: {
    list: op.pagedList("/warehouse-outbound-receipts", outboundReceipt, 200, {
      clientId: id.optional(),
      ...receiptFilters,
    }),
    ...op.records("/warehouse-outbound-receipts", "warehouseOutboundReceipt", outboundReceipt, outboundInput),
    pdf: op.pdf("/warehouse-outbound-receipts/{warehouseOutboundReceipt}/pdf"),
  },
  priceListItems: {
    list: op.pagedList("/price-list-items", priceListItem, 200, {
      name: characters(255).optional(),
      priceFrom: z.number().optional(),
      priceTo: z.number().optional(),
      stockFrom: z.number().optional(),
      stockTo: z.number().optional(),
      onlyWarehouseItems: z.boolean().optional(),
      ...sorted(["name", "unit_price", "stock"]),
    }),
    ...op.records("/price-list-items", "priceListItem", priceListItem, itemInput),
  },
};
