import { defineResource } from "../../../src/connector/define.ts";
import { boolean, doc, integer, oneOf, record, stated, text } from "../../../src/connector/record-schema.ts";

export const seriesDocumentTypes = ["invoice", "proforma", "credit-note", "order", "quotation"] as const;

export const series = record({
  id: integer(),
  documentType: doc("Kind of document that the series numbers", oneOf(seriesDocumentTypes)),
  name: text(),
  pattern: doc("Pattern that numbers are formed by", text()),
  nextNumber: stated(doc("Internal counter's next value", integer())),
  nextDocumentNumber: stated(doc("Number that the next document will get", text())),
  nextVariableSymbol: stated(doc("Variable symbol that the next document will get", integer())),
  isDefault: doc("Used when a document names no series", boolean()),
});

export const numericalSeries = defineResource({
  name: "numerical_series",
  singular: "numerical_series",
  title: "Numerical series",
  origin: "stated",
  record: series,
  list: {
    kind: "whole",
    path: "/numerical-series",
    variants: { param: "documentType", values: seriesDocumentTypes, field: "documentType" },
  },
  detail: "/numerical-series/{id}",
  doc: "How documents are numbered",
});
