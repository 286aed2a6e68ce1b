import { lookupHas, type LookupName } from "../lookups/lookup-lists.ts";
import type { Problems } from "./refusals.ts";

/** Fields of requests that name a lookup value, and the lookup. */
const lookupOf: Readonly<Record<string, LookupName>> = {
  countryId: "countries",
  deliveryCountryId: "countries",
  bankId: "banks",
  unitId: "units",
  currencyId: "currencies",
  languageId: "languages",
  deliveryMethodId: "delivery-methods",
  paymentMethodId: "payment-methods",
  qrTypeId: "qr-types",
  preferredDeliveryMethodId: "delivery-methods",
  preferredPaymentMethodId: "payment-methods",
  preferredCurrencyId: "currencies",
  preferredLanguageId: "languages",
};

/** Adds a problem for every field of the input that names an unknown lookup value. */
export function expectLookups(problems: Problems, input: object, prefix = ""): void {
  for (const [field, value] of Object.entries(input)) {
    const name = lookupOf[field];
    if (!name || typeof value !== "number") continue;
    problems.expect(lookupHas(name, value), `${prefix}${field}`, "exists");
  }
}
