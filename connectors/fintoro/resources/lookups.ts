import type { z } from "zod";
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

export const currency = t.record({
  id: t.stated(t.integer()),
  symbol: t.stated(t.doc("ISO 4217 code", t.text())),
  name: t.stated(label()),
  mark: t.stated(t.doc("Sign as printed on documents", t.text())),
});

const labelled = () => t.record({ id: t.integer(), name: label() });

export const deliveryMethod = labelled();
export const paymentMethod = labelled();
export const qrType = labelled();
export const unit = labelled();

function lookup(name: string, singular: string, title: string, path: string, type: z.ZodObject): Resource {
  return defineResource({
    name,
    singular,
    title,
    origin: "stated",
    record: type,
    list: { kind: "whole", path },
  });
}

export const lookups: readonly Resource[] = [
  lookup("banks", "bank", "Banks", "/banks", bank),
  lookup("countries", "country", "Countries", "/countries", country),
  lookup("languages", "language", "Languages", "/languages", language),
  lookup("currencies", "currency", "Currencies", "/currencies", currency),
  lookup("delivery_methods", "delivery_method", "Delivery methods", "/delivery-methods", deliveryMethod),
  lookup("payment_methods", "payment_method", "Payment methods", "/payment-methods", paymentMethod),
  lookup("qr_types", "qr_type", "QR code types", "/qr-types", qrType),
  lookup("units", "unit", "Units of measure", "/units", unit),
];
