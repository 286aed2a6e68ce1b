import { z } from "zod";
import type {
  Client,
  ClientSnapshot,
  DeliveryAddress,
  Party,
  Supplier,
} from "../../model/company-records.ts";
import { expectLookups } from "../../rules/lookup-fields.ts";
import { Problems } from "../../rules/refusals.ts";
import { email, id, parse, text } from "../../rules/request-shape.ts";
import { removeLogsOf } from "./activity-index.ts";
import type { Company } from "../company-state.ts";
import { emit } from "../emit.ts";

const partyShape = {
  type: z.enum(["person", "company"]).optional(),
  subjectId: text(40).nullish(),
  taxId: text(40).nullish(),
  vatId: text(40).nullish(),
  isVatPayer: z.boolean().optional(),
  email: email().nullish(),
  street: text().nullish(),
  city: text().nullish(),
  zip: text(10).nullish(),
  countryId: id().nullish(),
};

const deliveryShape = {
  deliveryStreet: text().nullish(),
  deliveryCity: text().nullish(),
  deliveryZip: text(10).nullish(),
  deliveryCountryId: id().nullish(),
};

const symbol = (most: number) => z.int().min(0).max(most).nullish();

const clientInput = z.object({
  name: text().min(1),
  ...partyShape,
  ...deliveryShape,
  preferredDeliveryMethodId: id().nullish(),
  preferredPaymentMethodId: id().nullish(),
  preferredCurrencyId: id().nullish(),
  preferredLanguageId: id().nullish(),
  preferredDueDays: z.int().min(0).max(365).nullish(),
  preferredNote: text(3000).nullish(),
  stripeCustomerId: text().nullish(),
  systemeioContactId: id().nullish(),
  preferredVariableSymbol: symbol(9_999_999_999),
  preferredConstantSymbol: symbol(9_999),
  preferredSpecificSymbol: symbol(9_999_999_999),
  preferredTextAboveItems: text(3000).nullish(),
});

const supplierInput = z.object({ name: text().min(1), ...partyShape });

/** A party as documents send it: every field may be left out. */
export const partyDraft = z.object({
  name: text().min(1).optional(),
  ...partyShape,
  taxId: text(40).nullish(),
});
export const clientDraft = partyDraft.extend({
  ...deliveryShape,
  zip: text(20).nullish(),
  deliveryZip: text(20).nullish(),
  hasDeliveryAddress: z.boolean().optional(),
});
export type PartyDraft = z.output<typeof partyDraft>;
export type ClientDraft = z.output<typeof clientDraft>;

/** What was left out follows from what was sent. */
export function partyFrom(draft: PartyDraft): Party {
  const { subjectId = null, taxId = null, vatId = null } = draft;
  const identified = subjectId !== null || taxId !== null || vatId !== null;
  return {
    name: draft.name ?? "",
    type: draft.type ?? (identified ? "company" : "person"),
    subjectId,
    taxId,
    vatId,
    isVatPayer: draft.isVatPayer ?? vatId !== null,
    email: draft.email ?? null,
    street: draft.street ?? null,
    city: draft.city ?? null,
    zip: draft.zip ?? null,
    countryId: draft.countryId ?? null,
  };
}

function deliveryFrom(draft: Partial<ClientDraft>): DeliveryAddress {
  const { deliveryStreet = null, deliveryCity = null, deliveryZip = null, deliveryCountryId = null } = draft;
  const given = [deliveryStreet, deliveryCity, deliveryZip, deliveryCountryId].some(
    (value) => value !== null,
  );
  return {
    hasDeliveryAddress: draft.hasDeliveryAddress ?? given,
    deliveryStreet,
    deliveryCity,
    deliveryZip,
    deliveryCountryId,
  };
}

function clientFrom(input: unknown): Omit<Client, "id" | "createdAtMs" | "updatedAtMs"> {
  const sent = parse(clientInput, input);
  const problems = new Problems();
  expectLookups(problems, sent);
  problems.settle();
  return {
    ...partyFrom(sent),
    ...deliveryFrom(sent),
    preferredDeliveryMethodId: sent.preferredDeliveryMethodId ?? null,
    preferredPaymentMethodId: sent.preferredPaymentMethodId ?? null,
    preferredCurrencyId: sent.preferredCurrencyId ?? null,
    preferredLanguageId: sent.preferredLanguageId ?? null,
    preferredDueDays: sent.preferredDueDays ?? null,
    preferredNote: sent.preferredNote ?? null,
    preferredVariableSymbol: sent.preferredVariableSymbol ?? null,
    preferredConstantSymbol: sent.preferredConstantSymbol ?? null,
    preferredSpecificSymbol: sent.preferredSpecificSymbol ?? null,
    preferredTextAboveItems: sent.preferredTextAboveItems ?? null,
  };
}

export function createClient(company: Company, input: unknown): Client {
  return addClient(company, clientFrom(input));
}

export function addClient(
  company: Company,
  facts: Omit<Client, "id" | "createdAtMs" | "updatedAtMs">,
): Client {
  const now = company.clock.nowMs();
  const client = company.tables.clients.add((newId) => ({
    id: newId,
    ...facts,
    createdAtMs: now,
    updatedAtMs: now,
  }));
  emit(company, "clients", "created", client.id);
  return client;
}

/** The whole record anew: what is left out falls back to the defaults of a creation. */
export function updateClient(company: Company, client: Client, input: unknown): Client {
  const changed = { ...clientFrom(input), id: client.id, createdAtMs: client.createdAtMs };
  const saved = company.tables.clients.replace({ ...changed, updatedAtMs: company.clock.nowMs() });
  emit(company, "clients", "updated", client.id);
  return saved;
}

/** Documents keep their snapshot; the client's CRM events go with it, without events of their own. */
export function deleteClient(company: Company, client: Client): void {
  removeLogsOf(company, { kind: "client", id: client.id });
  company.tables.clients.remove(client.id);
  emit(company, "clients", "deleted", client.id);
}

function supplierFrom(input: unknown): Party {
  const sent = parse(supplierInput, input);
  const problems = new Problems();
  expectLookups(problems, sent);
  problems.settle();
  return partyFrom(sent);
}

export function createSupplier(company: Company, input: unknown): Supplier {
  return addSupplier(company, supplierFrom(input));
}

export function addSupplier(company: Company, party: Party): Supplier {
  const now = company.clock.nowMs();
  const stamps = { createdAtMs: now, updatedAtMs: now };
  const supplier = company.tables.suppliers.add((newId) => ({ id: newId, ...party, ...stamps }));
  emit(company, "suppliers", "created", supplier.id);
  return supplier;
}

export function updateSupplier(company: Company, supplier: Supplier, input: unknown): Supplier {
  const stamps = { createdAtMs: supplier.createdAtMs, updatedAtMs: company.clock.nowMs() };
  const saved = company.tables.suppliers.replace({ id: supplier.id, ...supplierFrom(input), ...stamps });
  emit(company, "suppliers", "updated", supplier.id);
  return saved;
}

export function deleteSupplier(company: Company, supplier: Supplier): void {
  removeLogsOf(company, { kind: "supplier", id: supplier.id });
  company.tables.suppliers.remove(supplier.id);
  emit(company, "suppliers", "deleted", supplier.id);
}

const noPreferences = {
  preferredDeliveryMethodId: null,
  preferredPaymentMethodId: null,
  preferredCurrencyId: null,
  preferredLanguageId: null,
  preferredDueDays: null,
  preferredNote: null,
  preferredVariableSymbol: null,
  preferredConstantSymbol: null,
  preferredSpecificSymbol: null,
  preferredTextAboveItems: null,
};

/** A client made on the way, from what a document sent of it. */
export function clientFromDraft(draft: ClientDraft): Omit<Client, "id" | "createdAtMs" | "updatedAtMs"> {
  return { ...partyFrom(draft), ...deliveryFrom(draft), ...noPreferences };
}

/** The snapshot a document keeps: the client's own facts under those sent for this document only. */
export function overlaid<S extends Party | ClientSnapshot>(
  snapshot: S,
  draft: Partial<ClientDraft> | null,
): S {
  const sent = Object.entries(draft ?? {}).filter(([, value]) => value !== undefined);
  const merged = { ...snapshot, ...Object.fromEntries(sent) };
  const delivers = sent.some(([key, value]) => key.startsWith("delivery") && value !== null);
  return delivers && draft?.hasDeliveryAddress === undefined
    ? { ...merged, hasDeliveryAddress: true }
    : merged;
}
