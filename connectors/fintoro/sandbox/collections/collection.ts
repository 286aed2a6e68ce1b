import type { z } from "zod";
import { offsetStamp } from "../base/calendar.ts";
import { route, type Call, type Route } from "../http/router.ts";
import { list, nothing, oneRecord, type Answer } from "../http/service-answer.ts";
import { lookupHas } from "../lookups/lookup-lists.ts";
import { collections, referenceOf, type TableName } from "../model/catalogue.ts";
import { emit, ownerKey, type Company, type RecordOf, type Tables } from "../model/company-state.ts";
import type { ActivityTarget, Stamped } from "../model/records.ts";
import { Invalid, Missing, type Problem } from "../rules/problems.ts";
import { parse } from "../rules/request-shape.ts";
import { recordList, type ListRules, type View } from "./record-list.ts";

/** One write of a record: what was sent, and the record that it changes. */
export interface Write<T, S> {
  readonly company: Company;
  readonly sent: S;
  readonly own: T | null;
}

/** The facts of one collection: what requests may send, and how its records are made, listed and shown. */
interface CollectionRules<T, S extends z.ZodObject> {
  /** What a request sends. Ids that name a record must name one that is there. */
  readonly shape: S;
  /** Fields that no two records have in common; the table has an index of each. */
  readonly unique?: readonly (keyof T & string)[];
  /** Makes a record of what was sent. @throws Invalid */
  readonly facts: (write: Write<T, z.output<S>>) => Omit<T, "id">;
  readonly view: View<T>;
  /** @default all records in one answer */
  readonly list?: ListRules<T> | ((call: Call) => Answer);
  /** PATCH sends only what changes; null for records that never change. @default "PUT" */
  readonly method?: "PATCH" | null;
  /** Does POST take an `Idempotency-Key`? @default true */
  readonly idempotent?: boolean;
  /** What the answer to POST shows. @default what the detail shows */
  readonly createdView?: View<T>;
  /** Refuses the removal, or removes first what falls with the record. */
  readonly beforeRemove?: (company: Company, own: T) => void;
  /** What follows from a change, after its event; `before` or `after` is null where there was or is no record. */
  readonly afterChange?: (company: Company, before: T | null, after: T | null) => void;
}

/** A collection: its records are written here and nowhere else. */
export type Collection<K extends TableName> = ReturnType<typeof collection<K, z.ZodObject>>;

/** Declares a collection by its facts. */
export function collection<K extends TableName, S extends z.ZodObject>(
  table: K,
  rules: CollectionRules<RecordOf<K>, S>,
) {
  type T = RecordOf<K>;
  const { shape, unique = [], method, facts, view, beforeRemove, afterChange } = rules;
  const patch = method === "PATCH" ? shape.partial() : shape;
  const read = (company: Company, input: unknown, own: T | null) => {
    const sent = parse(own ? patch : shape, input) as z.output<S>;
    const problems = wrongReferences(company, sent, "");
    for (const field of unique) {
      const value = sent[field as keyof typeof sent];
      const same = typeof value === "string" ? company.tables[table].findBy(field, value) : [];
      if (same.some(({ id }) => id !== own?.id)) problems.push({ field, key: "unique" });
    }
    if (problems.length > 0) throw new Invalid(problems);
    return facts({ company, sent, own });
  };
  const add = (company: Company, made: Omit<T, "id">): T => {
    const record = company.tables[table].add((id) => ({ id, ...made }) as T);
    emit(company, table, "created", record.id);
    afterChange?.(company, null, record);
    return record;
  };
  const change = (company: Company, before: T, made: Partial<T>): T => {
    const after = { ...before, ...made };
    company.tables[table].replace(after);
    emit(company, table, "updated", after.id);
    afterChange?.(company, before, after);
    return after;
  };
  const drop = (company: Company, own: T): void => {
    company.tables[table].remove(own.id);
    emit(company, table, "deleted", own.id);
    afterChange?.(company, own, null);
  };
  const create = (company: Company, input: unknown) => add(company, read(company, input, null));
  const update = (company: Company, own: T, input: unknown) =>
    change(company, own, read(company, input, own) as Partial<T>);
  const remove = (company: Company, own: T): void => {
    beforeRemove?.(company, own);
    drop(company, own);
  };
  /** List, detail, create, update, delete. */
  const routes = (): Route[] => {
    const { idempotent, createdView = view, list: listed } = rules;
    const path = `/${collections[table].path}`;
    const show = ({ company, language }: Call, record: T, shown = view) => shown(company, record, language);
    const listAll = (call: Call) =>
      list(Array.from(call.company.tables[table].values() as Iterable<T>, (one) => show(call, one)));
    const handler = typeof listed === "function" ? listed : listed && recordList(table, listed, view);
    const post = (call: Call) => oneRecord(show(call, create(call.company, call.input), createdView), 201);
    const put = (call: Call) =>
      oneRecord(show(call, update(call.company, recordAt(call, table), call.input)));
    return [
      route("GET", path, handler ?? listAll),
      route("GET", `${path}/{id}`, (call) => oneRecord(show(call, recordAt(call, table)))),
      route("POST", path, post, idempotent),
      ...(method === null ? [] : [route(method ?? "PUT", `${path}/{id}`, put)]),
      route("DELETE", `${path}/{id}`, (call) => {
        remove(call.company, recordAt(call, table));
        return nothing();
      }),
    ];
  };
  /** `add`, `change` and `drop` do what is right already; the others what a request asks for, or throw Invalid. */
  return { table, view, add, change, drop, create, update, remove, routes };
}

/** A problem for every id of the input, at any depth, that names no record of the company or of a lookup. */
function wrongReferences(company: Company, input: object, at: string): Problem[] {
  return Object.entries(input).flatMap(([name, value]: [string, unknown]): Problem[] => {
    const field = `${at}${name}`;
    if (typeof value === "object" && value !== null) return wrongReferences(company, value, `${field}.`);
    const { table, lookup } = referenceOf(name);
    if (typeof value !== "number" || (!table && !lookup)) return [];
    const isThere = table ? company.tables[table].has(value) : lookup && lookupHas(lookup, value);
    return isThere ? [] : [{ field, key: "invalid" }];
  });
}

/** The record that the path names; throws `Missing` (404) where there is none. */
export function recordAt<K extends keyof Tables>({ company, id }: Call, table: K): RecordOf<K> {
  const own = company.tables[table].get(id);
  if (own === undefined) throw new Missing();
  return own;
}

/** The times of a record that is made or changed now. */
export function stampsOf({ nowMs }: Company, own: Stamped | null = null): Stamped {
  const now = nowMs();
  return { createdAtMs: own?.createdAtMs ?? now, updatedAtMs: now };
}

/** Most records show the times of their creation and their last change like this. */
export function stampsView({ createdAtMs, updatedAtMs }: Stamped) {
  return { createdAt: offsetStamp(createdAtMs), updatedAt: offsetStamp(updatedAtMs) };
}

/** Removes the CRM events of a deleted target, without events of their own. */
export function removeActivitiesOf({ tables }: Company, kind: ActivityTarget["kind"], id: number): void {
  for (const log of tables.contact_activity_logs.findBy("target", ownerKey(kind, id)))
    tables.contact_activity_logs.remove(log.id);
}
