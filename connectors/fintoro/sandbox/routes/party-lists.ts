import { z } from "zod";
import { lookup } from "../lookups/lookup-lists.ts";
import type { Client, Party, Subject, Supplier } from "../model/company-records.ts";
import { parse, queryInt, queryOneOf, queryText } from "../rules/request-shape.ts";
import { latin } from "../base/values.ts";
import { seededSubject } from "../seed/contact-seed.ts";
import { clientView, subjectView, supplierView } from "../view/contact-view.ts";
import { list, type Answer } from "../http/answer.ts";
import type { Call } from "./router.ts";

const clientQuery = z.object({
  search: queryText(),
  sortBy: queryOneOf(["name", "city", "zip", "countryId", "createdAt", "updatedAt"]),
  sortDirection: queryOneOf(["asc", "desc"]),
  type: queryOneOf(["person", "company"]),
  subjectId: queryText(),
  taxId: queryText(),
  vatId: queryText(),
  countryId: queryInt(),
});

type Sortable = Party & { readonly createdAtMs: number; readonly updatedAtMs: number };

function sortValue(record: Sortable, sortBy: string): string | number {
  if (sortBy === "createdAt") return record.createdAtMs;
  if (sortBy === "updatedAt") return record.updatedAtMs;
  if (sortBy === "countryId") return record.countryId ?? 0;
  return latin((sortBy === "city" ? record.city : sortBy === "zip" ? record.zip : record.name) ?? "");
}

/** One answer holds all clients, however many: views are told one by one while it is written. */
export function listClients(call: Call): Answer {
  const { company, language } = call;
  const { sortBy = "name", sortDirection = "asc", search, ...wanted } = parse(clientQuery, call.query);
  const table = company.tables.clients;
  const ascending = company.orders.by(table, `clients/${sortBy}`, (id) =>
    sortValue(table.get(id) as Client, sortBy),
  );
  const ids = sortDirection === "asc" ? ascending : ascending.toReversed();
  const equal = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const fits = (client: Client) =>
    equal.every(([key, value]) => client[key as keyof Client] === value) && mentions(call, client, search);
  return list(
    views(
      ids,
      (id) => table.get(id),
      fits,
      (client) => clientView(client, language),
    ),
  );
}

const supplierQuery = z.object({
  search: queryText(),
  sortBy: queryOneOf(["name", "city", "zip", "createdAt", "updatedAt"]),
  sortDirection: queryOneOf(["asc", "desc"]),
});

export function listSuppliers(call: Call): Answer {
  const { company, language } = call;
  const { sortBy = "name", sortDirection = "asc", search } = parse(supplierQuery, call.query);
  const table = company.tables.suppliers;
  const keyOf = (id: number) => sortValue(table.get(id) as Supplier, sortBy);
  const ascending = company.orders.by(table, `suppliers/${sortBy}`, keyOf);
  const ids = sortDirection === "asc" ? ascending : ascending.toReversed();
  const fits = (supplier: Supplier) => mentions(call, supplier, search);
  return list(
    views(
      ids,
      (id) => table.get(id),
      fits,
      (supplier) => supplierView(supplier, language),
    ),
  );
}

function* views<T, V>(
  ids: readonly number[],
  get: (id: number) => T | undefined,
  fits: (record: T) => boolean,
  view: (record: T) => V,
): Generator<V> {
  for (const id of ids) {
    const record = get(id);
    if (record !== undefined && fits(record)) yield view(record);
  }
}

/** Name, city, ZIP or country, in any case and without accents. */
function mentions({ language }: Call, party: Party, search: string | undefined): boolean {
  if (search === undefined || search === "") return true;
  const country = party.countryId === null ? null : lookup("countries", party.countryId, language);
  const words = [party.name, party.city, party.zip, country ? String(country["name"]) : null];
  const wanted = latin(search);
  return words.some((word) => word !== null && latin(word).includes(wanted));
}

const registerSize = 400;
const register: Subject[] = [];

function subjects(): readonly Subject[] {
  if (register.length === 0) for (let i = 0; i < registerSize; i++) register.push(seededSubject(i));
  return register;
}

const subjectQuery = z.object({
  searchQuery: z.string().min(3).max(255),
  legalForm: queryOneOf(["freelancer", "company"]),
  limit: queryInt(1, 20),
});

export function searchSubjects(call: Call): Answer {
  const { searchQuery, legalForm, limit = 20 } = parse(subjectQuery, call.query);
  const wanted = latin(searchQuery);
  const found = subjects().filter(
    (subject) =>
      (legalForm === undefined || subject.legalForm === legalForm) &&
      (latin(subject.name).includes(wanted) || (subject.subjectId ?? "").startsWith(searchQuery)),
  );
  return list(found.slice(0, limit).map(subjectView));
}

export function subjectById(id: number): Subject | undefined {
  return subjects().find((subject) => subject.id === id);
}
