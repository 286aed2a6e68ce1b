import type { z } from "zod";
import { omit, pick } from "../base/values.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type { Language } from "../lookups/languages.ts";
import {
  deliveryShape,
  partyShape,
  preferenceShape,
  type ClientSnapshot,
  type Party,
} from "../model/records.ts";
import { filled } from "../rules/request-shape.ts";
import { isIn } from "./record-list.ts";
import { removeActivitiesOf, collection, stampsOf, stampsView } from "./collection.ts";

/** What was left out follows from what was sent. */
function partyFrom(sent: z.output<typeof partyShape>): Party {
  const { type, isVatPayer, ...rest } = filled(partyShape, sent);
  const identified = rest.subjectId !== null || rest.taxId !== null || rest.vatId !== null;
  return {
    ...rest,
    type: type ?? (identified ? "company" : "person"),
    isVatPayer: isVatPayer ?? rest.vatId !== null,
  };
}

const search = ({ name, city, zip }: Party, wanted: string) => isIn(wanted, name, city, zip);

/** All clients in one answer. One goes with its CRM events; documents keep their copy. */
export const clients = collection("clients", {
  shape: partyShape.extend({ ...deliveryShape.shape, ...preferenceShape.shape }),
  facts: ({ company, sent, own }) => {
    const { hasDeliveryAddress, ...address } = filled(deliveryShape, sent);
    const given = Object.values(address).some((value) => value !== null);
    const delivery = { hasDeliveryAddress: hasDeliveryAddress ?? given, ...address };
    return { ...partyFrom(sent), ...delivery, ...filled(preferenceShape, sent), ...stampsOf(company, own) };
  },
  view: (_, client, language) => ({
    ...omit(client, ["countryId", "deliveryCountryId", "createdAtMs", "updatedAtMs"]),
    country: lookup("countries", client.countryId, language),
    deliveryCountry: lookup("countries", client.deliveryCountryId, language),
    ...stampsView(client),
  }),
  list: { filters: { search }, usualOrder: ["name", "asc"] },
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
  list: { filters: { search }, usualOrder: ["name", "asc"] },
  beforeRemove: (company, { id: own }) => removeActivitiesOf(company, "supplier", own),
});

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

/** The copy of a party in an answer; it has each country twice, as an id and as an object. */
export function snapshotView(party: Party | ClientSnapshot, language: Language) {
  const delivery = "deliveryCountryId" in party && {
    deliveryCountry: lookup("countries", party.deliveryCountryId, language),
  };
  return { ...party, country: lookup("countries", party.countryId, language), ...delivery };
}
