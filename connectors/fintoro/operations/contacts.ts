import { z } from "zod";
import { client } from "../resources/clients.ts";
import { contactTypes } from "../resources/party-snapshots.ts";
import { supplier } from "../resources/suppliers.ts";
import * as op from "./operation-builders.ts";
import { constantSymbol, email, id, maybe, sorted, variableSymbol, characters } from "./input-types.ts";

/** Name and address of a client, a supplier or the party of a receipt. */
export const partyInput = {
  name: characters(255),
  type: z.enum(contactTypes).optional(),
  subjectId: maybe(characters(40)),
  taxId: maybe(characters(40)),
  vatId: maybe(characters(40)),
  isVatPayer: z.boolean().optional(),
  email: maybe(email(255)),
  street: maybe(characters(255)),
  city: maybe(characters(255)),
  zip: maybe(characters(10)),
  countryId: maybe(id),
};

/** A delivery address with a zip code of that many characters. */
const deliveryInput = (zipLength: number) => ({
  deliveryStreet: maybe(characters(255)),
  deliveryCity: maybe(characters(255)),
  deliveryZip: maybe(characters(zipLength)),
  deliveryCountryId: maybe(id),
});

/** The client as a document may override it. */
export const clientOverride = z.strictObject({
  ...partyInput,
  name: partyInput.name.optional(),
  taxId: maybe(characters(20)),
  vatId: maybe(characters(20)),
  zip: maybe(characters(20)),
  hasDeliveryAddress: z.boolean().optional(),
  ...deliveryInput(20),
});

const clientInput = z.strictObject({
  ...partyInput,
  ...deliveryInput(10),
  preferredDeliveryMethodId: maybe(id),
  preferredPaymentMethodId: maybe(id),
  preferredCurrencyId: maybe(id),
  preferredLanguageId: maybe(id),
  preferredDueDays: maybe(z.int().min(0).max(365)),
  preferredNote: maybe(z.string()),
  stripeCustomerId: maybe(characters(255)),
  systemeioContactId: maybe(id),
  preferredVariableSymbol: maybe(variableSymbol),
  preferredConstantSymbol: maybe(constantSymbol),
  preferredSpecificSymbol: maybe(variableSymbol),
  preferredTextAboveItems: maybe(characters(3000)),
});

const clientFilters = z.strictObject({
  search: z.string().optional(),
  ...sorted(["name", "city", "zip", "countryId", "createdAt", "updatedAt"]),
  type: z.enum(contactTypes).optional(),
  subjectId: z.string().optional(),
  taxId: z.string().optional(),
  vatId: z.string().optional(),
  countryId: id.optional(),
});

const supplierFilters = z.strictObject({
  search: z.string().optional(),
  ...sorted(["name", "city", "zip", "createdAt", "updatedAt"]),
});

export const contactOperations = {
  clients: {
    list: op.filtered(op.wholeList("/clients", client), clientFilters),
    ...op.records("/clients", "client", client, clientInput),
  },
  suppliers: {
    list: op.filtered(op.wholeList("/suppliers", supplier), supplierFilters),
    ...op.records("/suppliers", "supplier", supplier, z.strictObject(partyInput)),
  },
};
