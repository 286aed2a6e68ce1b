import type { z } from "zod";
import { offsetStamp } from "../base/calendar.ts";
import type { AnsweredRecord } from "../base/values.ts";
import { lookup, lookupNames, type LookupName, type ServiceLanguage } from "../lookups/lookup-lists.ts";
import { pathOf, referenceOf, type TableName } from "../model/catalogue.ts";
import { emit, type Company } from "../model/company.ts";
import type { BookRow } from "../model/row.ts";
import { Invalid, parse, present, type FieldProblem } from "../rules/rules.ts";
import { nothing, oneRecord, route, type Reply, type Route, type RouteCall } from "../service/messages.ts";
import { recordList, type ListRules } from "./record-list.ts";

type View = (company: Company, row: BookRow, language: ServiceLanguage, isNew?: boolean) => AnsweredRecord;

export interface Write<S> {
  readonly company: Company;
  readonly sent: S;
  readonly own: BookRow | null;
}

/** The facts of one collection: what requests may send, and how its records are made, listed and shown. */
interface CollectionRules<S extends z.ZodObject> {
  /** What a request sends. Ids that name a record must name one that is there. */
  readonly shape: S;
  /** Makes a record of what was sent. @throws Invalid */
  readonly facts: (write: Write<z.output<S>>) => object;
  readonly view: View;
  /** @default all records in one answer */
  readonly list?: ListRules | ((call: RouteCall) => Reply);
  /** Fields that no two records have in common; the table has an index of each. */
  readonly unique?: readonly string[];
  /** How a record is changed, PATCH with only what changes, and whether POST takes an `Idempotency-Key`. */
  readonly writes?: { readonly method?: "PATCH" | null; readonly idempotent?: false };
  /** Refuses the removal, or removes first what falls with the record. */
  readonly beforeRemove?: (company: Company, own: BookRow) => void;
  /** What follows from a change, after its event; `before` or `after` is null where there was or is no record. */
  readonly afterChange?: (company: Company, before: BookRow | null, after: BookRow | null) => void;
}

/** A collection: its records are written here and nowhere else. */
export type Collection = ReturnType<typeof collection>;

/** Declares a collection by its facts. */
export function collection<S extends z.ZodObject>(table: TableName, rules: CollectionRules<S>) {
  const { shape, unique = [], facts, view, writes = {}, beforeRemove, afterChange } = rules;
  const { method = "PUT", idempotent } = writes;
  const patch = method === "PATCH" ? shape.partial() : shape;
  const read = (company: Company, input: unknown, own: BookRow | null): Partial<BookRow> => {
    const sent = parse(own ? patch : shape, input) as z.output<S>;
    const problems = wrongReferences(company, sent, "");
    for (const field of unique) {
      const value = sent[field as keyof typeof sent];
      const same =
        typeof value === "string" ? company.tables[table].findBy(field as keyof BookRow, value) : [];
      if (same.some(({ id }) => id !== own?.id)) problems.push({ field, key: "unique" });
    }
    if (problems.length > 0) throw new Invalid(problems);
    return facts({ company, sent, own });
  };
  const add = (company: Company, made: Partial<BookRow>): BookRow => {
    const row = company.tables[table].add(made);
    emit(company, table, "created", row.id);
    afterChange?.(company, null, row);
    return row;
  };
  const change = (company: Company, before: BookRow, made: Partial<BookRow>): BookRow => {
    const after = company.tables[table].replace({ ...before, ...made });
    emit(company, table, "updated", after.id);
    afterChange?.(company, before, after);
    return after;
  };
  const create = (company: Company, input: unknown) => add(company, read(company, input, null));
  const update = (company: Company, own: BookRow, input: unknown) =>
    change(company, own, read(company, input, own));
  const remove = (company: Company, own: BookRow): void => {
    beforeRemove?.(company, own);
    company.tables[table].remove(own.id);
    emit(company, table, "deleted", own.id);
    afterChange?.(company, own, null);
  };
  const routes = (): Route[] => {
    const path = `/${pathOf(table)}`;
    const { list: listed = {} } = rules;
    const own = (call: RouteCall) => present(call.company.tables[table].get(call.id));
    const show = ({ company, language }: RouteCall, row: BookRow, status = 200) =>
      oneRecord(view(company, row, language, status === 201), status);
    return [
      route("GET", path, typeof listed === "function" ? listed : recordList(table, listed, view)),
      route("GET", `${path}/{id}`, (call) => show(call, own(call))),
      route("POST", path, (call) => show(call, create(call.company, call.input), 201), idempotent),
      ...(method === null
        ? []
        : [route(method, `${path}/{id}`, (call) => show(call, update(call.company, own(call), call.input)))]),
      route("DELETE", `${path}/{id}`, (call) => {
        remove(call.company, own(call));
        return nothing();
      }),
    ];
  };
  /** `add` and `change` do what is right already; the others what a request asks for, or throw Invalid. */
  return { table, view, add, change, create, update, remove, routes };
}

/** A problem for every id of the input, at any depth, that names no record of the company or of a lookup. */
function wrongReferences(company: Company, input: object, at: string): FieldProblem[] {
  return Object.entries(input).flatMap(([name, value]: [string, unknown]): FieldProblem[] => {
    const field = `${at}${name}`;
    if (typeof value === "object" && value !== null) return wrongReferences(company, value, `${field}.`);
    const named = referenceOf(name);
    if (typeof value !== "number" || named === undefined) return [];
    const known = isLookup(named) ? lookup(named, value) : company.tables[named].get(value);
    return known ? [] : [{ field, key: "invalid" }];
  });
}

const isLookup = (name: string): name is LookupName => (lookupNames as readonly string[]).includes(name);

/** The times of a record that is made or changed now. */
export function stampsOf({ nowMs }: Company, own: BookRow | null = null) {
  const now = nowMs();
  return { createdAtMs: own?.createdAtMs ?? now, updatedAtMs: now };
}

/** Most records show the times of their creation and their last change like this. */
export function stampsView({ createdAtMs, updatedAtMs }: BookRow) {
  return { createdAt: offsetStamp(createdAtMs), updatedAt: offsetStamp(updatedAtMs) };
}

const targetKey = ({ target }: Pick<BookRow, "target">) => `${target.table}:${target.id}`;

/** The CRM events of a target. */
export function activitiesOf({ tables }: Company, target: BookRow["target"]): BookRow[] {
  return tables.contact_activity_logs.findBy(targetKey, targetKey({ target }));
}

/** Removes the CRM events of a deleted target, without events of their own. */
export function removeActivitiesOf(company: Company, table: BookRow["target"]["table"], id: number): void {
  for (const log of activitiesOf(company, { table, id })) company.tables.contact_activity_logs.remove(log.id);
}
