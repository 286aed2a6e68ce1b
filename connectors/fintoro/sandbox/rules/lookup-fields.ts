import { lookupHas, type LookupName } from "../lookups/lookup-lists.ts";
import type { Problems } from "./refusals.ts";

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

/** Every field of the input that names a lookup value names one that there is. */
export function expectLookups(
  problems: Problems,
  input: Readonly<Record<string, unknown>>,
  prefix = "",
): void {
  for (const [field, name] of Object.entries(lookupOf)) {
    const id = input[field];
    if (typeof id === "number" && !lookupHas(name, id)) problems.add(`${prefix}${field}`, "exists");
  }
}
