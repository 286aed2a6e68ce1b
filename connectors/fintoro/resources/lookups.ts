import type { z } from "zod";
import { defineResource } from "../../../src/connector/define.ts";
import type { Resource } from "../../../src/connector/resource.ts";
import { boolean, doc, integer, record, stated, text } from "../../../src/connector/record-schema.ts";

/** The fixed lists of the service: ids are stable, labels follow the pinned language. */
const label = () => doc("Label in the pinned language", text());

export const bank = record({
  id: integer(),
  name: text(),
  swift: doc("SWIFT (BIC) code, empty where unknown", text()),
});

export const country = record({
  id: doc("ISO 3166-1 numeric code", integer()),
  name: label(),
  code: doc("ISO 3166-1 code of two letters", text()),
  eu: doc("Member of the European Union", boolean()),
});

export const language = record({
  id: integer(),
  name: label(),
  code: doc("The service's own short code, not always ISO 639", text()),
});

export const currency = record({
  id: stated(integer()),
  symbol: stated(doc("ISO 4217 code", text())),
  name: stated(label()),
  mark: stated(doc("Sign as printed on documents", text())),
});

const labelled = () => record({ id: integer(), name: label() });

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
