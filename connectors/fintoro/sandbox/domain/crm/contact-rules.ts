import type { z } from "zod";
import { pick } from "../../base/values.ts";
import { slovakia } from "../../lookups/lookup-lists.ts";
import {
  deliveryShape,
  preferenceShape,
  supplierShape,
  type Client,
  type ClientSnapshot,
  type DeliveryAddress,
  type Party,
  type Supplier,
} from "../../model/contact-records.ts";
import { check, expectLookups } from "../../rules/problems.ts";
import { filled, id, parse, sentOnly, text } from "../../rules/request-shape.ts";
import type { Company } from "../company-state.ts";
import { addRecord, recordWrites, stampsOf } from "../record-writes.ts";
import { removeActivitiesOf } from "./activities.ts";

const clientInput = supplierShape.extend({
  ...deliveryShape.omit({ hasDeliveryAddress: true }).shape,
  ...preferenceShape.shape,
  stripeCustomerId: text().nullish(),
  systemeioContactId: id().nullish(),
});

/** A supplier as receipts send it: every field may be left out. */
export const supplierDraft = supplierShape.partial();
/** A client as documents and receipts send it: every field may be left out. */
export const clientDraft = supplierDraft.extend({
  ...deliveryShape.shape,
  zip: text(20).nullish(),
  deliveryZip: text(20).nullish(),
});
export type SupplierDraft = z.output<typeof supplierDraft>;
export type ClientDraft = z.output<typeof clientDraft>;

/** The party of a draft. What was left out follows from what was sent. */
function partyFrom(draft: SupplierDraft): Party {
  const { name, type, isVatPayer, ...rest } = filled(supplierDraft, draft);
  const identified = rest.subjectId !== null || rest.taxId !== null || rest.vatId !== null;
  return {
    ...rest,
    name: name ?? "",
    type: type ?? (identified ? "company" : "person"),
    isVatPayer: isVatPayer ?? rest.vatId !== null,
  };
}

function deliveryFrom(draft: ClientDraft): DeliveryAddress {
  const { hasDeliveryAddress, ...address } = filled(deliveryShape, draft);
  const given = Object.values(address).some((value) => value !== null);
  return { hasDeliveryAddress: hasDeliveryAddress ?? given, ...address };
}

/** All facts of a client but its id and its times. */
function clientFrom(draft: ClientDraft & z.output<typeof preferenceShape>) {
  return { ...partyFrom(draft), ...deliveryFrom(draft), ...filled(preferenceShape, draft) };
}

function parseContact<T extends z.ZodObject>(shape: T, input: unknown): z.output<T> {
  const sent = parse(shape, input);
  check((problems) => expectLookups(problems, sent));
  return sent;
}

/** A client goes with its CRM events, these without events of their own. Documents keep their copy. */
export const clientWrites = recordWrites(
  "clients",
  (company, input, own) => ({ ...clientFrom(parseContact(clientInput, input)), ...stampsOf(company, own) }),
  (company, { id: own }) => removeActivitiesOf(company, { kind: "client", id: own }),
);

/** A supplier goes with its CRM events, too. */
export const supplierWrites = recordWrites(
  "suppliers",
  (company, input, own) => ({ ...partyFrom(parseContact(supplierShape, input)), ...stampsOf(company, own) }),
  (company, { id: own }) => removeActivitiesOf(company, { kind: "supplier", id: own }),
);

/** The client that a draft describes; a new one if none matches. */
export function resolveClient(company: Company, draft: ClientDraft): Client {
  const known = matching(company.tables.clients.values(), partyFrom(draft));
  return known ?? addRecord(company, "clients", { ...clientFrom(draft), ...stampsOf(company) });
}

/** The supplier that a draft describes; a new one if none matches. */
export function resolveSupplier(company: Company, draft: SupplierDraft): Supplier {
  const known = matching(company.tables.suppliers.values(), partyFrom(draft));
  return known ?? addRecord(company, "suppliers", { ...partyFrom(draft), ...stampsOf(company) });
}

/** The first party by id that fits the first test which any party fits. */
function matching<T extends Party>(parties: Iterable<T>, wanted: Party): T | undefined {
  const sameType = [...parties].filter(({ type }) => type === wanted.type);
  for (const test of testsFor(wanted)) {
    const found = sameType.find(test);
    if (found) return found;
  }
  return undefined;
}

type Test = (party: Party) => boolean;

/** Companies: VAT id, country and business id, name and e-mail, name and street. People: the last two. */
function testsFor(wanted: Party): Test[] {
  const same = (...fields: readonly (keyof Party)[]): Test[] => {
    const isKnown = fields.every((field) => wanted[field] !== null);
    return isKnown ? [(party) => fields.every((field) => party[field] === wanted[field])] : [];
  };
  const byName = [...same("name", "email"), ...same("name", "street")];
  if (wanted.type === "person") return byName;
  const bySubject = same("subjectId").map(
    (test): Test =>
      (party) =>
        test(party) && (party.countryId ?? slovakia) === (wanted.countryId ?? slovakia),
  );
  return [...same("vatId"), ...bySubject, ...byName];
}

const partyNames = Object.keys(supplierShape.shape) as (keyof Party)[];
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
