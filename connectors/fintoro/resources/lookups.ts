import { defineResource, type Resource } from "../../../src/connector/resource.ts";
import * as t from "../../../src/connector/record-schema.ts";

/** Fixed lists of the service: ids are stable, labels follow the configured language. */
const label = () => t.doc("Label in the pinned language", t.text());

export const bank = t.record({
  id: t.integer(),
  name: t.text(),
  swift: t.doc("SWIFT (BIC) code, empty where unknown", t.text()),
});

export const country = t.record({
  id: t.doc("ISO 3166-1 numeric code", t.integer()),
  name: label(),
  code: t.doc("ISO 3166-1 code of two letters", t.text()),
  eu: t.doc("Member of the European Union", t.boolean()),
});

export const language = t.record({
  id: t.integer(),
  name: label(),
  code: t.doc("The service's own short code, not always ISO 639", t.text()),
});

export const currency = t.record(
  t.allStated({
    id: t.integer(),
    symbol: t.doc("ISO 4217 code", t.text()),
    name: label(),
    mark: t.doc("Sign as printed on documents", t.text()),
  }),
);

const labelled = () => t.record({ id: t.integer(), name: label() });

export const deliveryMethod = labelled();
export const paymentMethod = labelled();
export const qrType = labelled();
export const unit = labelled();

/** Tables of these lists: name, singular, title and record. */
const tables = [
  ["banks", "bank", "Banks", bank],
  ["countries", "country", "Countries", country],
  ["languages", "language", "Languages", language],
  ["currencies", "currency", "Currencies", currency],
  ["delivery_methods", "delivery_method", "Delivery methods", deliveryMethod],
  ["payment_methods", "payment_method", "Payment methods", paymentMethod],
  ["qr_types", "qr_type", "QR code types", qrType],
  ["units", "unit", "Units of measure", unit],
] as const;

export const lookups: readonly Resource[] = tables.map(([name, singular, title, record]) => {
  const list = { kind: "whole", path: `/${name.replaceAll("_", "-")}` } as const;
  return defineResource({ name, singular, title, origin: "stated", record, list });
});
