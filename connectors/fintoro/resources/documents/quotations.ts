import * as t from "../../../../src/connector/record-schema.ts";
import { documentResource } from "../resource-builders.ts";
import * as of from "./document-fields.ts";
import { plainItem } from "./orders.ts";

const validityDate = t.doc("Until when the offer stands", t.orNull(t.date()));
const status = t.doc("What the client answered", t.oneOf(of.quotationStatuses));

export const quotationPreview = t.record({
  ...of.previewHead("quotations"),
  issueDate: t.date(),
  validityDate,
  ...of.previewTotals,
  status,
  hasVat: of.hasVat,
});

export const quotation = t.record({
  ...of.documentHeadStated("quotations"),
  issueDate: t.date(),
  validityDate,
  ...of.terms(true),
  ...of.someSettings("currencyId", "languageId"),
  ...of.content,
  ...of.totals,
  status,
  hasVat: of.hasVat,
  items: t.children("quotation_items", plainItem),
});

export const quotations = documentResource("quotations", "Quotations", {
  record: quotation,
  preview: quotationPreview,
  open: { param: "status", values: ["waiting"], column: "status" },
});
