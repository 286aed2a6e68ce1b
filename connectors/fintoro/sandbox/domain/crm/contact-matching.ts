import { slovakia } from "../../lookups/countries.ts";
import type { Client, Party, Supplier } from "../../model/company-records.ts";
import type { Table } from "../../model/table.ts";
import type { Company } from "../company-state.ts";
import {
  addClient,
  addSupplier,
  clientFromDraft,
  partyFrom,
  type ClientDraft,
  type PartyDraft,
} from "./contacts.ts";

type Test = (party: Party) => boolean;

/** The client that a document means, or a new one where none matches. */
export function resolveClient(company: Company, draft: ClientDraft): Client {
  return matching(company.tables.clients, draft) ?? addClient(company, clientFromDraft(draft));
}

export function resolveSupplier(company: Company, draft: PartyDraft): Supplier {
  return matching(company.tables.suppliers, draft) ?? addSupplier(company, partyFrom(draft));
}

/** The first by id that fits the first test which anyone fits. */
function matching<T extends Party & { readonly id: number }>(
  table: Table<T>,
  draft: PartyDraft,
): T | undefined {
  const wanted = partyFrom(draft);
  for (const test of testsFor(wanted)) {
    for (const party of table.values()) if (party.type === wanted.type && test(party)) return party;
  }
  return undefined;
}

/** Companies: VAT id, country and business id, name and e-mail, name and street. People: the last two. */
function testsFor(wanted: Party): Test[] {
  const { name, vatId, subjectId, email, street } = wanted;
  const country = wanted.countryId ?? slovakia;
  const byIds: Test[] = [];
  if (vatId !== null) byIds.push((party) => party.vatId === vatId);
  if (subjectId !== null) {
    byIds.push((party) => party.subjectId === subjectId && (party.countryId ?? slovakia) === country);
  }
  const byName: Test[] = [];
  if (email !== null) byName.push((party) => party.name === name && party.email === email);
  if (street !== null) byName.push((party) => party.name === name && party.street === street);
  return wanted.type === "company" ? [...byIds, ...byName] : byName;
}
