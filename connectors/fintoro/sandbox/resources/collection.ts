import type { z } from "zod";
import { offsetStamp } from "../base/calendar.ts";
import { randomFor } from "../base/seeded-random.ts";
import { latin, omit, type AnsweredRecord } from "../base/values.ts";
import { lookup, lookupNames, type LookupName, type ServiceLanguage } from "../lookups/lookup-lists.ts";
import { activityTargets, pathOf, referenceOf, targetFields, type TableName } from "../model/catalogue.ts";
import { emit, publicOrigin, type Company, compareKeys, type BookRow } from "../model/company.ts";
import { filled, Invalid, parse, present, type FieldProblem } from "../rules/rules.ts";
import { basePath, file, list, nothing, replyWith } from "../service/messages.ts";
import type { Reply, RouteCall, Routes } from "../service/messages.ts";
import { recordPdf } from "./record-files.ts";

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
  /** Makes a record of what was sent. @throws Invalid @default what was sent, null for the rest */
  readonly facts?: (write: Write<z.output<S>>) => object;
  /** @default the record as it is kept, without its times */
  readonly view?: View;
  /** @default all records in one answer */
  readonly list?: ListRules;
  /** Fields that no two records have in common; the table has an index of each. */
  readonly unique?: readonly (keyof BookRow)[];
  /** How a record is changed; PATCH sends only what changes, null: it is not. @default PUT */
  readonly method?: "PATCH" | null;
  /** Refuses the removal, or removes first what falls with the record. */
  readonly beforeRemove?: (company: Company, own: BookRow) => void;
  /** What follows from a change, after its event; `before` or `after` is null where there was or is no record. */
  readonly afterChange?: (company: Company, before: BookRow | null, after: BookRow | null) => void;
}

/** A collection: its records are written here and nowhere else. */
export type Collection = ReturnType<typeof collection>;

/** Declares a collection by its facts. */
export function collection<S extends z.ZodObject>(table: TableName, rules: CollectionRules<S>) {
  const { shape, unique = [], view = (_, row) => kept(row), method = "PUT" } = rules;
  const { beforeRemove, afterChange, list: listed = {} } = rules;
  const { facts = ({ sent }: Write<z.output<S>>) => filled(shape, sent) } = rules;
  const patch = method === "PATCH" ? shape.partial() : shape;
  const read = (company: Company, input: unknown, own: BookRow | null): Partial<BookRow> => {
    const sent = parse(own ? patch : shape, input) as z.output<S>;
    const problems = wrongReferences(company, sent, "");
    for (const field of unique) {
      const same = company.tables[table].findBy(field, (sent as Partial<Record<string, string>>)[field]);
      if (same.some(({ id }) => id !== own?.id)) problems.push({ field, key: "unique" });
    }
    if (problems.length > 0) throw new Invalid(problems);
    return facts({ company, sent, own });
  };
  const change = (company: Company, before: BookRow | null, made: Partial<BookRow>): BookRow => {
    const rows = company.tables[table];
    const updatedAtMs = company.nowMs();
    const own = { ...made, updatedAtMs };
    const after = before
      ? rows.replace({ ...before, ...own })
      : rows.add({ createdAtMs: updatedAtMs, ...own });
    emit(company, table, before ? "updated" : "created", after.id);
    afterChange?.(company, before, after);
    return after;
  };
  const add = (company: Company, made: Partial<BookRow>) => change(company, null, made);
  const create = (company: Company, input: unknown) => add(company, read(company, input, null));
  const update = (company: Company, own: BookRow, input: unknown) =>
    change(company, own, read(company, input, own));
  const target = targetFields.find((field) => activityTargets[field] === table);
  const remove = (company: Company, own: BookRow): void => {
    beforeRemove?.(company, own);
    const { contact_activity_logs: logs } = company.tables;
    // The record's CRM events go with it, without events of their own.
    for (const { id } of target ? logs.findBy(target, own.id) : []) logs.remove(id);
    company.tables[table].remove(own.id);
    emit(company, table, "deleted", own.id);
    afterChange?.(company, own, null);
  };
  const { preview = view } = listed;
  const path = `/${pathOf(table)}`;
  const own = (call: RouteCall) => present(call.company.tables[table].get(call.id));
  const show = ({ company, language }: RouteCall, row: BookRow, status = 200) =>
    replyWith(view(company, row, language, status === 201), status);
  const routes: Routes = {
    [`GET ${path}`]: recordList(table, listed, preview),
    [`GET ${path}/{id}`]: (call) => show(call, own(call)),
    [`POST ${path}`]: (call) => show(call, create(call.company, call.input), 201),
    ...(method && {
      [`${method} ${path}/{id}`]: (call) => show(call, update(call.company, own(call), call.input)),
    }),
    // What has a number is printed.
    ...(unique.includes("number") && {
      [`GET ${path}/{id}/pdf`]: (call) =>
        file("application/pdf", `${own(call).number}.pdf`, recordPdf(own(call))),
    }),
    [`DELETE ${path}/{id}`]: (call) => {
      remove(call.company, own(call));
      return nothing();
    },
  };
  /** `add` and `change` do what is right already; the others what a request asks for, or throw Invalid. */
  return { table, view, preview, add, change, create, update, remove, routes };
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

/** A record without its times. */
export const kept = (row: BookRow) => omit(row, ["createdAtMs", "updatedAtMs"]);

/** Most records show the times of their creation and their last change like this. */
export function stampsView({ createdAtMs, updatedAtMs }: BookRow) {
  return { createdAt: offsetStamp(createdAtMs), updatedAt: offsetStamp(updatedAtMs) };
}

export interface ListRules {
  /** The records of a list that a request has to name. @default all, filtered and sorted as it asks */
  readonly rows?: (call: RouteCall) => readonly BookRow[];
  /** Does the record fit the value of a query parameter that names no field of it? */
  readonly filters?: Readonly<Record<string, (row: BookRow, wanted: string, company: Company) => boolean>>;
  /** The order without `sortBy` and `sortDirection`. @default by id */
  readonly usualOrder?: readonly [sortBy: string, direction: "asc" | "desc"];
  /** Records on a page without `perPage`, and at most. @default a list without pages */
  readonly pageSize?: readonly [usual: number, most: number];
  /** What the list shows of a record. @default what its own route shows */
  readonly preview?: (company: Company, row: BookRow, language: ServiceLanguage) => AnsweredRecord;
}

/** Is the text in one of the words, without regard to case and accents? */
export const isIn = (wanted: string, ...words: readonly (string | null)[]) =>
  words.some((word) => word !== null && latin(word).includes(latin(wanted)));

/** `issue_date` is `issueDate`, `createdAt` is `createdAtMs`. */
function fieldNamed(name: string): string {
  const field = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return field.endsWith("At") ? `${field}Ms` : field;
}

/** A field has the value; texts contain it; `From` and `To` are limits. A record without the field fits. */
function fits(valueOf: (field: string) => string | number | null, param: string, wanted: string): boolean {
  const [, name = param, limit] = /^(.+?)(From|To)?$/.exec(param) ?? [];
  const value = valueOf(fieldNamed(name));
  if (value === null) return !name.endsWith("Id");
  if (limit === undefined) return typeof value === "string" ? isIn(wanted, value) : value === Number(wanted);
  const order = typeof value === "number" ? value - Number(wanted) : compareKeys(value, wanted);
  return limit === "From" ? order >= 0 : order <= 0;
}

const notFilters = new Set(["page", "perPage", "sortBy", "sortDirection"]);

/** Makes the handler of a list. It is filtered and sorted by fields of its records, as they are kept or shown. */
function recordList(table: TableName, rules: ListRules, preview: View) {
  const { filters = {}, usualOrder = ["id", "asc"], pageSize } = rules;
  const show =
    ({ company, language }: RouteCall) =>
    (row: BookRow) =>
      preview(company, row, language);
  const fieldOf = (call: RouteCall, row: BookRow) => (field: string) => {
    const value: unknown = field in row ? row[field as keyof BookRow] : show(call)(row)[field];
    return typeof value === "string" || typeof value === "number" ? value : null;
  };
  const ascending = (call: RouteCall, sortBy: string): readonly BookRow[] => {
    const rows = call.company.tables[table];
    const field = fieldNamed(sortBy);
    const keyOf = (row: BookRow) => {
      const key = fieldOf(call, row)(field) ?? "";
      return typeof key === "number" ? key : latin(key);
    };
    const { shuffle } = call;
    const [first] = rows.values();
    // What is shown may change without the record.
    const isKept = shuffle === null && first && field in first;
    const tieOf = ({ id }: BookRow) => (shuffle === null ? id : randomFor(shuffle, "tie", id).next());
    return rows.sorted(isKept ? field : null, keyOf, tieOf);
  };
  const rowsOf = (call: RouteCall): readonly BookRow[] => {
    const { sortBy = usualOrder[0], sortDirection = usualOrder[1] } = call.query;
    const wanted = Object.entries(call.query).filter(([param]) => !notFilters.has(param));
    const isWanted = (row: BookRow) =>
      wanted.every(
        ([param, value]) =>
          filters[param]?.(row, value, call.company) ?? fits(fieldOf(call, row), param, value),
      );
    const sorted = ascending(call, sortBy);
    const all = sortDirection === "asc" ? sorted : sorted.toReversed();
    return wanted.length === 0 ? all : all.filter(isWanted);
  };
  return (call: RouteCall): Reply => {
    const rows = (rules.rows ?? rowsOf)(call);
    return pageSize ? onePage(call, table, rows, show(call), pageSize) : list(rows.map(show(call)));
  };
}

export const tenPerPage = [10, 200] as const;

/** One page of records that are already filtered and sorted. The service's URLs drop every other parameter. */
function onePage(
  { query }: RouteCall,
  table: TableName,
  rows: readonly BookRow[],
  show: (row: BookRow) => AnsweredRecord,
  [usual, most]: readonly [usual: number, most: number],
): Reply {
  const [perPage, page] = [Math.min(most, Number(query["perPage"] ?? usual)), Number(query["page"] ?? 1)];
  const start = (page - 1) * perPage;
  const last = Math.max(1, Math.ceil(rows.length / perPage));
  const path = `${publicOrigin}${basePath}/${pathOf(table)}`;
  const url = (number: number) => (number >= 1 && number <= last ? `${path}?page=${number}` : null);
  const link = (number: number, label: string) => ({ url: url(number), label, active: number === page });
  return list(rows.slice(start, start + perPage).map(show), {
    currentPage: page,
    perPage,
    totalPages: last,
    totalResults: rows.length,
    currentFrom: start < rows.length ? start + 1 : 0,
    currentTo: start < rows.length ? Math.min(start + perPage, rows.length) : 0,
    firstPageUrl: url(1),
    lastPageUrl: url(last),
    nextPageUrl: url(page + 1),
    previousPageUrl: url(page - 1),
    links: [link(page - 1, "&laquo; Previous"), link(page, String(page)), link(page + 1, "Next &raquo;")],
  });
}
