import { z } from "zod";
import { each, omit, pick } from "../base/values.ts";
import { lookup, type ServiceLanguage } from "../lookups/lookup-lists.ts";
import type { BookRow } from "../model/company.ts";
import { filled } from "../rules/rules.ts";
import { collection, kept, stampsView, type ListRules } from "./collection.ts";

const [id, text] = [z.int(), z.string()];

/** A person or company, as clients and suppliers have it and as documents keep a copy of it. */
const partyShape = z.object({
  name: text,
  type: z.enum(["person", "company"]).optional(),
  ...each("subjectId taxId vatId", text.nullish()),
  isVatPayer: z.boolean().optional(),
  ...each("email street city zip", text.nullish()),
  countryId: id.nullish(),
});

/** Where a client's goods go, if not to its own address. */
const deliveryShape = z.object({
  hasDeliveryAddress: z.boolean().optional(),
  ...each("deliveryStreet deliveryCity deliveryZip", text.nullish()),
  deliveryCountryId: id.nullish(),
});

/** What a client's documents have where a request leaves it out. */
const preferenceShape = z.object({
  ...each("preferredDeliveryMethodId preferredPaymentMethodId preferredCurrencyId", id.nullish()),
  ...each("preferredLanguageId preferredDueDays", id.nullish()),
  ...each("preferredNote preferredTextAboveItems", text.nullish()),
  ...each("preferredVariableSymbol preferredSpecificSymbol preferredConstantSymbol", id.nullish()),
});

/** What was left out follows from what was sent. */
function partyFrom(sent: z.output<typeof partyShape>) {
  const party = filled(partyShape, sent);
  const identified = (party.subjectId ?? party.taxId ?? party.vatId) !== null;
  return {
    ...party,
    type: party.type ?? (identified ? "company" : "person"),
    isVatPayer: party.isVatPayer ?? party.vatId !== null,
  };
}

const byName: ListRules = { usualOrder: ["name", "asc"] };

/** All clients in one answer. Documents keep their copy of one that is removed. */
export const clients = collection("clients", {
  shape: partyShape.extend({ ...deliveryShape.shape, ...preferenceShape.shape }),
  facts: ({ sent }) => {
    const { hasDeliveryAddress, ...address } = filled(deliveryShape, sent);
    const given = Object.values(address).some((value) => value !== null);
    const delivery = { hasDeliveryAddress: hasDeliveryAddress ?? given, ...address };
    return { ...partyFrom(sent), ...delivery, ...filled(preferenceShape, sent) };
  },
  view: (_, client, language) => ({
    ...omit(kept(client), ["countryId", "deliveryCountryId"]),
    country: lookup("countries", client.countryId, language),
    deliveryCountry: lookup("countries", client.deliveryCountryId, language),
    ...stampsView(client),
  }),
  list: byName,
});

/** All suppliers in one answer, without their times. */
export const suppliers = collection("suppliers", {
  shape: partyShape,
  facts: ({ sent }) => partyFrom(sent),
  view: (_, supplier, language) => ({
    ...omit(kept(supplier), ["countryId"]),
    country: lookup("countries", supplier.countryId, language),
  }),
  list: byName,
});

const copied = (party: BookRow) =>
  Object.keys({ ...partyShape.shape, ...deliveryShape.shape }).filter((field) => field in party);

/** The copy of a party that documents and receipts keep: one for all of them, as large companies have many. */
export function snapshotOf(party: BookRow): BookRow {
  const snapshot = snapshots.get(party) ?? pick(party, copied(party) as (keyof BookRow)[]);
  snapshots.set(party, snapshot);
  return snapshot;
}
const snapshots = new WeakMap<BookRow, BookRow>();

/** The copy of a party in an answer; it has each country twice, as an id and as an object. */
export function snapshotView(party: BookRow, language: ServiceLanguage) {
  return {
    ...party,
    country: lookup("countries", party.countryId, language),
    ...("deliveryCountryId" in party && {
      deliveryCountry: lookup("countries", party.deliveryCountryId, language),
    }),
  };
}
