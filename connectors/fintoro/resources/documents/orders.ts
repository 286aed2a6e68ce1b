import * as t from "../../../../src/connector/record-schema.ts";
import { documentResource } from "../resource-builders.ts";
import * as of from "./document-fields.ts";

export const orderPreview = t.record({
  ...of.previewHead("orders"),
  issueDate: t.date(),
  ...of.previewTotals,
  hasVat: of.hasVat,
});

/** A line without stock; quotations have the same. */
export const plainItem = t.record(of.item(true));

export const order = t.record({
  ...of.documentHead("orders"),
  issueDate: t.date(),
  ...of.terms(true),
  ...of.someSettings("deliveryMethodId", "paymentMethodId", "currencyId", "languageId"),
  ...of.content,
  ...of.totals,
  hasVat: of.hasVat,
  items: t.children("order_items", plainItem),
});

export const orders = documentResource("orders", "Orders", { record: order, preview: orderPreview });
