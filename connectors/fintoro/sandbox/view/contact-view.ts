import { offsetStamp } from "../base/calendar.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type {
  Client,
  ClientSnapshot,
  DeliveryAddress,
  Party,
  Subject,
  Supplier,
} from "../model/company-records.ts";
import type { Json } from "../base/values.ts";

function countryOf(id: number | null, language: Language): Json {
  return id === null ? null : lookup("countries", id, language);
}

function partyFields(party: Party) {
  const { type, name, subjectId, taxId, vatId, isVatPayer, email, street, city, zip } = party;
  return { name, type, subjectId, taxId, vatId, isVatPayer, email, street, city, zip };
}

function deliveryFields(address: DeliveryAddress) {
  const { hasDeliveryAddress, deliveryStreet, deliveryCity, deliveryZip } = address;
  return { hasDeliveryAddress, deliveryStreet, deliveryCity, deliveryZip };
}

export function clientView(client: Client, language: Language) {
  return {
    id: client.id,
    ...partyFields(client),
    country: countryOf(client.countryId, language),
    ...deliveryFields(client),
    deliveryCountry: countryOf(client.deliveryCountryId, language),
    createdAt: offsetStamp(client.createdAtMs),
    updatedAt: offsetStamp(client.updatedAtMs),
    preferredDeliveryMethodId: client.preferredDeliveryMethodId,
    preferredPaymentMethodId: client.preferredPaymentMethodId,
    preferredCurrencyId: client.preferredCurrencyId,
    preferredLanguageId: client.preferredLanguageId,
    preferredDueDays: client.preferredDueDays,
    preferredNote: client.preferredNote,
    preferredVariableSymbol: client.preferredVariableSymbol,
    preferredConstantSymbol: client.preferredConstantSymbol,
    preferredSpecificSymbol: client.preferredSpecificSymbol,
    preferredTextAboveItems: client.preferredTextAboveItems,
  };
}

export function supplierView(supplier: Supplier, language: Language) {
  const { type, name, ...rest } = partyFields(supplier);
  return { id: supplier.id, type, name, ...rest, country: countryOf(supplier.countryId, language) };
}

/** A snapshot tells the country twice: as an id and as a nested object. */
export function partySnapshotView(party: Party, language: Language) {
  return { ...partyFields(party), countryId: party.countryId, country: countryOf(party.countryId, language) };
}

export function clientSnapshotView(client: ClientSnapshot, language: Language) {
  return {
    ...partySnapshotView(client, language),
    ...deliveryFields(client),
    deliveryCountryId: client.deliveryCountryId,
    deliveryCountry: countryOf(client.deliveryCountryId, language),
  };
}

export function subjectView(subject: Subject) {
  const { id, name, taxId, vatId, legalForm, city, street, zip } = subject;
  return { id, name, taxId, vatId, legalForm, city, street, zip };
}
