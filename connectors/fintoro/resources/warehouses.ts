import * as t from "../../../src/connector/record-schema.ts";
import { wholeResource } from "./resource-builders.ts";

export const warehouse = t.record({
  id: t.integer(),
  name: t.text(),
  code: t.doc("The company's own code, unique", t.text()),
  inboundNumericalSeriesPattern: t.doc("Pattern of inbound receipt numbers", t.text()),
  inboundNumericalSeriesNextNumber: t.doc("Next number of inbound receipts", t.integer()),
  outboundNumericalSeriesPattern: t.doc("Pattern of outbound receipt numbers", t.text()),
  outboundNumericalSeriesNextNumber: t.doc("Next number of outbound receipts", t.integer()),
});

export const warehouses = wholeResource("warehouses", "Warehouses", { record: warehouse });
