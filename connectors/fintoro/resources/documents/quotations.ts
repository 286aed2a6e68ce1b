import { defineResource } from "../../../../src/connector/define.ts";
import { children, date, doc, oneOf, orNull, record } from "../../../../src/connector/record-schema.ts";
import * as of from "./document-fields.ts";
import { plainItem } from "./orders.ts";

const validityDate = doc("Until when the offer stands", orNull(date()));
const status = oneOf(of.quotationStatuses);

export const quotationPreview = record({
  ...of.previewHead,
  issueDate: date(),
  validityDate,
  ...of.previewTotals,
  status,
  hasVat: of.hasVat,
});

export const quotation = record({
  ...of.documentHeadStated,
  issueDate: date(),
  validityDate,
  businessCaseId: of.businessCaseId,
  discountType: of.discountType(),
  discountValue: of.discountValue,
  ...of.terms,
  currencyId: of.currencyId,
  languageId: of.languageId,
  ...of.texts,
  ...of.itemSums,
  ...of.totals,
  status,
  hasVat: of.hasVat,
  items: children("quotation_items", plainItem),
});

export const quotations = defineResource({
  name: "quotations",
  singular: "quotation",
  title: "Quotations",
  origin: "published",
  record: quotation,
  preview: quotationPreview,
  list: { kind: "paged", path: "/quotations", perPage: 500, params: of.byNumber },
  detail: "/quotations/{id}",
  pdf: "/quotations/{id}/pdf",
});
