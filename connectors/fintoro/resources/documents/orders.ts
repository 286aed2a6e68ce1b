import * as t from "../../../../src/connector/record-schema.ts";
import { defineResource } from "../../../../src/connector/resource.ts";
import * as of from "./document-fields.ts";

export const orderPreview = t.record({
  ...of.previewHead,
  issueDate: t.date(),
  ...of.previewTotals,
  hasVat: of.hasVat,
});

/** A line without stock; quotations have the same. */
export const plainItem = t.record({
  id: t.integer(),
  ...of.itemHead,
  discountType: of.discountType(),
  discountValue: of.discountValue,
  ...of.itemTotals,
});

export const order = t.record({
  ...of.documentHead,
  issueDate: t.date(),
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
  items: t.children("order_items", plainItem),
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
