import * as t from "../../../src/connector/record-schema.ts";
import { resource } from "./resource-builders.ts";

export const seriesDocumentTypes = ["invoice", "proforma", "credit-note", "order", "quotation"] as const;

export const series = t.record({
  id: t.integer(),
  documentType: t.doc("Kind of document that the series numbers", t.oneOf(seriesDocumentTypes)),
  name: t.text(),
  pattern: t.doc("Pattern that numbers are formed by", t.text()),
  nextNumber: t.stated(t.doc("Internal counter's next value", t.integer())),
  nextDocumentNumber: t.stated(t.doc("Number that the next document will get", t.text())),
  nextVariableSymbol: t.stated(t.doc("Variable symbol that the next document will get", t.integer())),
  isDefault: t.doc("Used when a document names no series", t.boolean()),
});

export const numericalSeries = resource("numerical_series", "Numerical series", {
  singular: "numerical_series",
  origin: "stated",
  record: series,
  list: {
    kind: "whole",
    path: "/numerical-series",
    variants: { param: "documentType", values: seriesDocumentTypes, field: "documentType" },
  },
  doc: "How documents are numbered",
});
