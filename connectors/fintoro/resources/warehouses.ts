import { defineResource } from "../../../src/connector/define.ts";
import { doc, integer, record, text } from "../../../src/connector/record-schema.ts";

export const warehouse = record({
  id: integer(),
  name: text(),
  code: doc("The company's own code, unique", text()),
  inboundNumericalSeriesPattern: doc("Pattern of inbound receipt numbers", text()),
  inboundNumericalSeriesNextNumber: doc("Next number of inbound receipts", integer()),
  outboundNumericalSeriesPattern: doc("Pattern of outbound receipt numbers", text()),
  outboundNumericalSeriesNextNumber: doc("Next number of outbound receipts", integer()),
});

export const warehouses = defineResource({
  name: "warehouses",
  singular: "warehouse",
  title: "Warehouses",
  origin: "published",
  record: warehouse,
  list: { kind: "whole", path: "/warehouses" },
  detail: "/warehouses/{id}",
});
