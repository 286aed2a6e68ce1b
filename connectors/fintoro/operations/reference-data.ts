import { z } from "zod";
import { integer, oneOf, orNull, record, text } from "../../../src/connector/record-schema.ts";
import { identity } from "../resources/company.ts";
import * as lookup from "../resources/lookups.ts";
import { series, seriesDocumentTypes } from "../resources/numerical-series.ts";
import { filtered, group, show, stated, whole } from "./operation-builders.ts";

const legalForms = ["freelancer", "company"] as const;

/** A company of the public registry; not mirrored. */
export const subject = record({
  id: integer(),
  name: text(),
  taxId: orNull(text()),
  vatId: orNull(text()),
  legalForm: oneOf(legalForms),
  city: orNull(text()),
  street: orNull(text()),
  zip: orNull(text()),
});

export const tokenOperations = group("token", { whoami: stated(show("/whoami", identity)) });

export const lookupOperations = group("lookups", {
  banks: stated(whole("/banks", lookup.bank)),
  countries: stated(whole("/countries", lookup.country)),
  languages: stated(whole("/languages", lookup.language)),
  currencies: stated(whole("/currencies", lookup.currency)),
  deliveryMethods: stated(whole("/delivery-methods", lookup.deliveryMethod)),
  paymentMethods: stated(whole("/payment-methods", lookup.paymentMethod)),
  qrTypes: stated(whole("/qr-types", lookup.qrType)),
  units: stated(whole("/units", lookup.unit)),
});

export const seriesOperations = group("numericalSeries", {
  list: stated(
    filtered(
      whole("/numerical-series", series),
      z.strictObject({ documentType: z.enum(seriesDocumentTypes) }),
    ),
  ),
  show: stated(show("/numerical-series/{numericalSeries}", series)),
});

export const subjectOperations = group("subjects", {
  search: stated(
    filtered(
      whole("/subjects", subject),
      z.strictObject({
        searchQuery: z.string().min(3),
        legalForm: z.enum(legalForms).optional(),
        limit: z.int().min(1).max(20).optional(),
      }),
    ),
  ),
  show: stated(show("/subjects/{subject}", subject)),
});
