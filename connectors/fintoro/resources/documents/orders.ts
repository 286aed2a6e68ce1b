import { defineResource } from "../../../../src/connector/define.ts";
import { children, date, integer, record } from "../../../../src/connector/record-schema.ts";
import * as of from "./document-fields.ts";

export const orderPreview = record({
  ...of.previewHead,
  issueDate: date(),
  ...of.previewTotals,
  hasVat: of.hasVat,
});

/** A line without stock; quotations have the same. */
export const plainItem = record({
  id: integer(),
  ...of.itemHead,
  discountType: of.discountType(),
  discountValue: of.discountValue,
  ...of.itemTotals,
});

export const order = record({
  ...of.documentHead,
  issueDate: date(),
  businessCaseId: of.businessCaseId,
  discountType: of.discountType(),
  discountValue: of.discountValue,
  ...of.terms,
  deliveryMethodId: of.deliveryMethodId,
  paymentMethodId: of.paymentMethodId,
  currencyId: of.currencyId,
  languageId: of.languageId,
  ...of.texts,
  ...of.itemSums,
  ...of.totals,
  hasVat: of.hasVat,
  items: children("order_items", plainItem),
});

export const orders = defineResource({
  name: "orders",
  singular: "order",
  title: "Orders",
  origin: "published",
  record: order,
  preview: orderPreview,
  list: { kind: "paged", path: "/orders", perPage: 500, params: of.byNumber },
  detail: "/orders/{id}",
  pdf: "/orders/{id}/pdf",
});
