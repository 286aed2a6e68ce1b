import { offsetStamp } from "../base/calendar.ts";
import { route, type Call, type Route } from "../http/router.ts";
import { list, nothing, oneRecord, type Answer } from "../http/service-answer.ts";
import { collections, type TableName } from "../model/catalogue.ts";
import { emit, ownerKey, type Company, type RecordOf, type Tables } from "../model/company-state.ts";
import type { ActivityTarget, Stamped } from "../model/records.ts";
import { Missing } from "../rules/problems.ts";
import { recordList, type ListRules, type View } from "./record-list.ts";

/** The facts of one collection: how its records are made of requests, listed and shown. */
interface CollectionRules<T> {
  /** Makes a record of a request; `own` is the record that the request changes. @throws Invalid */
  readonly factsFrom: (company: Company, input: unknown, own: T | null) => Omit<T, "id">;
  readonly view: View<T>;
  /** @default all records in one answer */
  readonly list?: ListRules<T> | ((call: Call) => Answer);
  /** Null for records that never change. @default "PUT" */
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
export type Collection<K extends TableName> = ReturnType<typeof collection<K>>;

/** Declares a collection by its facts. */
export function collection<K extends TableName>(table: K, rules: CollectionRules<RecordOf<K>>) {
  type T = RecordOf<K>;
  const { factsFrom, view, beforeRemove, afterChange } = rules;
  const created = (company: Company, facts: Omit<T, "id">): T => {
    const record = company.tables[table].add((id) => ({ id, ...facts }) as T);
    emit(company, table, "created", record.id);
    afterChange?.(company, null, record);
    return record;
  };
  const changed = (company: Company, before: T, facts: Partial<T>): T => {
    const after = { ...before, ...facts };
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
  return {
    table,
    rules,
    view,
    /** Adds a record; its facts are right already. */
    add: created,
    /** Changes a record; the facts are right already. */
    change: changed,
    /** Adds the record that a request asks for. @throws Invalid */
    create: (company: Company, input: unknown) => created(company, factsFrom(company, input, null)),
    /** Changes a record as a request asks for. @throws Invalid */
    update: (company: Company, own: T, input: unknown) =>
      changed(company, own, factsFrom(company, input, own) as Partial<T>),
    /** Removes a record, also one that a request may not remove. */
    drop,
    /** Removes a record as a request asks for. @throws Invalid where it has to stay */
    remove: (company: Company, own: T): void => {
      beforeRemove?.(company, own);
      drop(company, own);
    },
  };
}

/** The routes of a collection: list, detail, create, update, delete. */
export function routesOf<K extends TableName>({ table, rules, ...own }: Collection<K>): Route[] {
  const { view, method = "PUT", idempotent, createdView = view, list: listed } = rules;
  const path = `/${collections[table].path}`;
  const show = ({ company, language }: Call, record: RecordOf<K>) =>
    oneRecord(view(company, record, language));
  const listAll = ({ company, language }: Call) =>
    list([...company.tables[table].values()].map((record) => view(company, record, language)));
  const handler = typeof listed === "function" ? listed : listed && recordList(table, listed, view);
  const post = ({ company, input, language }: Call) =>
    oneRecord(createdView(company, own.create(company, input), language), 201);
  const put = (call: Call) => show(call, own.update(call.company, recordAt(call, table), call.input));
  const remove = (call: Call) => {
    own.remove(call.company, recordAt(call, table));
    return nothing();
  };
  return [
    route("GET", path, handler ?? listAll),
    route("GET", `${path}/{id}`, (call) => show(call, recordAt(call, table))),
    route("POST", path, post, idempotent),
    ...(method ? [route(method, `${path}/{id}`, put)] : []),
    route("DELETE", `${path}/{id}`, remove),
  ];
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
