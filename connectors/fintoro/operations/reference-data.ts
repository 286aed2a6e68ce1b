import { z } from "zod";
import { integer, oneOf, orNull, record, text } from "../../../src/connector/record-schema.ts";
import { identity } from "../resources/company.ts";
import * as lookup from "../resources/lookups.ts";
import { series, seriesDocumentTypes } from "../resources/numerical-series.ts";
import { filtered, group, show, statedRoute, wholeList } from "./operation-builders.ts";

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

export const tokenOperations = group("token", { whoami: statedRoute(show("/whoami", identity)) });

export const lookupOperations = group("lookups", {
  banks: statedRoute(wholeList("/banks", lookup.bank)),
  countries: statedRoute(wholeList("/countries", lookup.country)),
  languages: statedRoute(wholeList("/languages", lookup.language)),
  currencies: statedRoute(wholeList("/currencies", lookup.currency)),
  deliveryMethods: statedRoute(wholeList("/delivery-methods", lookup.deliveryMethod)),
  paymentMethods: statedRoute(wholeList("/payment-methods", lookup.paymentMethod)),
  qrTypes: statedRoute(wholeList("/qr-types", lookup.qrType)),
  units: statedRoute(wholeList("/units", lookup.unit)),
});

export const seriesOperations = group("numericalSeries", {
  list: statedRoute(
    filtered(
      wholeList("/numerical-series", series),
      z.strictObject({ documentType: z.enum(seriesDocumentTypes) }),
    ),
  ),
  show: statedRoute(show("/numerical-series/{numericalSeries}", series)),
});

export const subjectOperations = group("subjects", {
  search: statedRoute(
    filtered(
      wholeList("/subjects", subject),
      z.strictObject({
        searchQuery: z.string().min(3),
        legalForm: z.enum(legalForms).optional(),
        limit: z.int().min(1).max(20).optional(),
      }),
    ),
  ),
  show: statedRoute(show("/subjects/{subject}", subject)),
});
