import * as t from "../../../src/connector/record-schema.ts";
import { defineResource } from "../../../src/connector/resource.ts";

export const warehouse = t.record({
  id: t.integer(),
  name: t.text(),
  code: t.doc("The company's own code, unique", t.text()),
  inboundNumericalSeriesPattern: t.doc("Pattern of inbound receipt numbers", t.text()),
  inboundNumericalSeriesNextNumber: t.doc("Next number of inbound receipts", t.integer()),
  outboundNumericalSeriesPattern: t.doc("Pattern of outbound receipt numbers", t.text()),
  outboundNumericalSeriesNextNumber: t.doc("Next number of outbound receipts", t.integer()),
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
