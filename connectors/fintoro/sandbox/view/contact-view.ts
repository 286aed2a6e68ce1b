import { offsetStamp } from "../base/calendar.ts";
import { omit, pick, type Json } from "../base/values.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type { Client, ClientSnapshot, Party, Subject, Supplier, Stamped } from "../model/contact-records.ts";

function countryOf(id: number | null, language: Language): Json {
  return id === null ? null : lookup("countries", id, language);
}

/** Most records show the times of their creation and their last change like this. */
export function stampsView({ createdAtMs, updatedAtMs }: Stamped) {
  return { createdAt: offsetStamp(createdAtMs), updatedAt: offsetStamp(updatedAtMs) };
}

/** A client as its route and the list show it. */
export function clientView(client: Client, language: Language) {
  return {
    ...omit(client, ["countryId", "deliveryCountryId", "createdAtMs", "updatedAtMs"]),
    country: countryOf(client.countryId, language),
    deliveryCountry: countryOf(client.deliveryCountryId, language),
    ...stampsView(client),
  };
}

/** A supplier as its route and the list show it: without times. */
export function supplierView(supplier: Supplier, language: Language) {
  const shown = omit(supplier, ["countryId", "createdAtMs", "updatedAtMs"]);
  return { ...shown, country: countryOf(supplier.countryId, language) };
}

/** The copy of a party; it has the country twice, as an id and as an object. */
export function partySnapshotView(party: Party, language: Language) {
  return { ...party, country: countryOf(party.countryId, language) };
}

/** The copy of a client, with both countries. */
export function clientSnapshotView(client: ClientSnapshot, language: Language) {
  const deliveryCountry = countryOf(client.deliveryCountryId, language);
  return { ...partySnapshotView(client, language), ...client, deliveryCountry };
}

/** A company of the public register. */
export function subjectView(subject: Subject) {
  return pick(subject, ["id", "name", "taxId", "vatId", "legalForm", "city", "street", "zip"]);
}
