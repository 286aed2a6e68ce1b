import type { z } from "zod";
import { latin, omit, pick } from "../base/values.ts";
import type { Call } from "../http/router.ts";
import { lookup, slovakia } from "../lookups/lookup-lists.ts";
import type { Language } from "../lookups/languages.ts";
import type { Company } from "../model/company-state.ts";
import {
  deliveryShape,
  partyShape,
  preferenceShape,
  type Client,
  type ClientSnapshot,
  type Party,
  type Supplier,
} from "../model/records.ts";
import { choice, filled, id, sentOnly, text } from "../rules/request-shape.ts";
import { by, byTimes } from "./record-list.ts";
import { removeActivitiesOf, collection, stampsOf, stampsView } from "./collection.ts";

const clientShape = partyShape.extend({
  ...deliveryShape.omit({ hasDeliveryAddress: true }).shape,
  ...preferenceShape.shape,
  stripeCustomerId: text().nullish(),
  systemeioContactId: id().nullish(),
});

/** A supplier as receipts send it, and a client as documents and receipts do: every field may be left out. */
export const supplierDraft = partyShape.partial();
export const clientDraft = supplierDraft.extend({
  ...deliveryShape.shape,
  zip: text(20).nullish(),
  deliveryZip: text(20).nullish(),
  deliveryCountryId: choice("countries").nullish(),
});
type PartyDraft = z.output<typeof supplierDraft>;
export type ClientDraft = z.output<typeof clientDraft>;

/** The party of a draft. What was left out follows from what was sent. */
function partyFrom(draft: PartyDraft): Party {
  const { name, type, isVatPayer, ...rest } = filled(supplierDraft, draft);
  const identified = rest.subjectId !== null || rest.taxId !== null || rest.vatId !== null;
  return {
    ...rest,
    name: name ?? "",
    type: type ?? (identified ? "company" : "person"),
    isVatPayer: isVatPayer ?? rest.vatId !== null,
  };
}

/** All facts of a client but its id and its times. */
function clientFrom(draft: ClientDraft & z.output<typeof preferenceShape>) {
  const { hasDeliveryAddress, ...address } = filled(deliveryShape, draft);
  const given = Object.values(address).some((value) => value !== null);
  const delivery = { hasDeliveryAddress: hasDeliveryAddress ?? given, ...address };
  return { ...partyFrom(draft), ...delivery, ...filled(preferenceShape, draft) };
}

/** Is the text in one of the words, without regard to case and accents? */
export function isIn(wanted: string, ...words: readonly (string | null)[]): boolean {
  return words.some((word) => word !== null && latin(word).includes(latin(wanted)));
}

/** Searches name, city, ZIP and country. */
function mentions({ name, city, zip, countryId }: Party, wanted: string, { language }: Call): boolean {
  const country = lookup("countries", countryId, language);
  return isIn(wanted, name, city, zip, country && String(country["name"]));
}

const byParty = {
  name: ({ name }: Party) => latin(name),
  city: ({ city }: Party) => latin(city ?? ""),
  zip: ({ zip }: Party) => latin(zip ?? ""),
  ...byTimes,
};

/** All clients in one answer. One goes with its CRM events; documents keep their copy. */
export const clients = collection("clients", {
  shape: clientShape,
  facts: ({ company, sent, own }) => ({ ...clientFrom(sent), ...stampsOf(company, own) }),
  view: (_, client, language) => ({
    ...omit(client, ["countryId", "deliveryCountryId", "createdAtMs", "updatedAtMs"]),
    country: lookup("countries", client.countryId, language),
    deliveryCountry: lookup("countries", client.deliveryCountryId, language),
    ...stampsView(client),
  }),
  list: {
    filters: {
      type: by.word(["person", "company"], ({ type }, wanted) => type === wanted),
      subjectId: by.text(({ subjectId }, wanted) => subjectId === wanted),
      taxId: by.text(({ taxId }, wanted) => taxId === wanted),
      vatId: by.text(({ vatId }, wanted) => vatId === wanted),
      countryId: by.int(({ countryId }, wanted) => countryId === wanted),
      search: by.text(mentions),
    },
    sorts: { ...byParty, countryId: ({ countryId }) => countryId ?? 0 },
    usualOrder: ["name", "asc"],
  },
  beforeRemove: (company, { id: own }) => removeActivitiesOf(company, "client", own),
});

/** All suppliers in one answer, without their times. */
export const suppliers = collection("suppliers", {
  shape: partyShape,
  facts: ({ company, sent, own }) => ({ ...partyFrom(sent), ...stampsOf(company, own) }),
  view: (_, supplier, language) => ({
    ...omit(supplier, ["countryId", "createdAtMs", "updatedAtMs"]),
    country: lookup("countries", supplier.countryId, language),
  }),
  list: { filters: { search: by.text(mentions) }, sorts: byParty, usualOrder: ["name", "asc"] },
  beforeRemove: (company, { id: own }) => removeActivitiesOf(company, "supplier", own),
});

/** The client that a draft describes; a new one if none matches. */
export function resolveClient(company: Company, draft: ClientDraft): Client {
  const known = matching(company.tables.clients.values(), partyFrom(draft));
  return known ?? clients.add(company, { ...clientFrom(draft), ...stampsOf(company) });
}

/** The supplier that a draft describes; a new one if none matches. */
export function resolveSupplier(company: Company, draft: PartyDraft): Supplier {
  const known = matching(company.tables.suppliers.values(), partyFrom(draft));
  return known ?? suppliers.add(company, { ...partyFrom(draft), ...stampsOf(company) });
}

/** What two parties must have in common to be the same, the first that applies; people have no ids. */
const samePartyBy: readonly (readonly (keyof Party)[])[] = [
  ["vatId"],
  ["subjectId", "countryId"],
  ["name", "email"],
  ["name", "street"],
];

const matchValue = (party: Party, field: keyof Party) =>
  field === "countryId" ? (party.countryId ?? slovakia) : party[field];

/** The first party by id that fits the first rule which any party fits. */
function matching<T extends Party>(parties: Iterable<T>, draft: Party): T | undefined {
  const sameType = [...parties].filter(({ type }) => type === draft.type);
  for (const fields of samePartyBy) {
    const isSame = (one: T) => fields.every((field) => matchValue(one, field) === matchValue(draft, field));
    const found = fields.some((field) => matchValue(draft, field) === null)
      ? undefined
      : sameType.find(isSame);
    if (found) return found;
  }
  return undefined;
}

const partyNames = Object.keys(partyShape.shape) as (keyof Party)[];
const snapshotNames = [...partyNames, ...Object.keys(deliveryShape.shape)] as (keyof ClientSnapshot)[];

/** The copy of a supplier that a receipt keeps. */
export function supplierSnapshot(supplier: Party): Party {
  return pick(supplier, partyNames);
}

/** The copy of a client that a document keeps. */
export function clientSnapshot(client: ClientSnapshot): ClientSnapshot {
  return pick(client, snapshotNames);
}

/** A copy with the facts that were sent for this document only. */
export function overlaid<S extends Party | ClientSnapshot>(snapshot: S, draft: ClientDraft | null): S {
  const sent = sentOnly(draft ?? {});
  const delivers = Object.entries(sent).some(([key, value]) => key.startsWith("delivery") && value !== null);
  const implied = delivers && sent.hasDeliveryAddress === undefined ? { hasDeliveryAddress: true } : {};
  return { ...snapshot, ...sent, ...implied };
}

/** The copy of a party in an answer; it has each country twice, as an id and as an object. */
export function snapshotView(party: Party | ClientSnapshot, language: Language) {
  const delivery = "deliveryCountryId" in party && {
    deliveryCountry: lookup("countries", party.deliveryCountryId, language),
  };
  return { ...party, country: lookup("countries", party.countryId, language), ...delivery };
}
