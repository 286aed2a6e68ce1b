import { z } from "zod";
import { randomFor } from "../base/seeded-random.ts";
import type { JsonObject } from "../base/values.ts";
import { basePath } from "../http/request.ts";
import type { Call } from "../http/router.ts";
import { list, type Answer } from "../http/service-answer.ts";
import type { Language } from "../lookups/languages.ts";
import { collections, type TableName } from "../model/catalogue.ts";
import type { Company, RecordOf } from "../model/company-state.ts";
import { compareKeys } from "../model/record-table.ts";
import { parse, query } from "../rules/request-shape.ts";

/** What an answer shows of a record. */
export type View<T> = (company: Company, record: T, language: Language) => JsonObject;

/** A query parameter, and the test of a record by its value. */
export interface Filter<T> {
  readonly schema: z.ZodType;
  readonly test: Test<T, never>;
}
type Test<T, V> = (record: T, wanted: V, call: Call) => boolean;

/** Filters by the kind of value that their parameter takes. */
export const by = {
  int: <T>(test: Test<T, number>): Filter<T> => ({ schema: query.int(), test }),
  number: <T>(test: Test<T, number>): Filter<T> => ({ schema: query.number(), test }),
  text: <T>(test: Test<T, string>): Filter<T> => ({ schema: query.text(), test }),
  date: <T>(test: Test<T, string>): Filter<T> => ({ schema: query.date(), test }),
  word: <T>(words: readonly [string, ...string[]], test: Test<T, string>): Filter<T> => ({
    schema: query.oneOf(words),
    test,
  }),
  /** Applies where the parameter is true. */
  flag: <T>(test: (record: T, call: Call) => boolean): Filter<T> => ({
    schema: query.flag(),
    test: (record, wanted, call) => !wanted || test(record, call),
  }),
};

/** How one list filters, sorts and pages its records. */
export interface ListRules<T> {
  /** Query parameters, besides those of sorting and paging. Cheap tests first: the others see fewer records. */
  readonly filters: Readonly<Record<string, Filter<T>>>;
  /** What `sortBy` may name. */
  readonly sorts: Readonly<Record<string, (record: T, company: Company) => string | number>>;
  /** The order without `sortBy` and `sortDirection`; by id where the name is not among `sorts`. */
  readonly usualOrder: readonly [sortBy: string, direction: "asc" | "desc"];
  /** A sort key that changes without a change of its record, so that no order is kept. */
  readonly changingSort?: string;
  /** Absent for a list without pages. */
  readonly pageSize?: PageSize;
  /** What the list shows of a record. @default what its own route shows */
  readonly preview?: View<T>;
  /** Does the fault `shuffled_ties` apply? @default false */
  readonly shufflesTies?: boolean;
}

/** Sort keys of records that know when they were made and changed. */
export const byTimes = {
  createdAt: ({ createdAtMs }: { readonly createdAtMs: number }) => createdAtMs,
  updatedAt: ({ updatedAtMs }: { readonly updatedAtMs: number }) => updatedAtMs,
};

/** Makes the handler of a list. */
export function recordList<K extends TableName>(
  table: K,
  rules: ListRules<RecordOf<K>>,
  view: View<RecordOf<K>>,
): (call: Call) => Answer {
  const { filters, sorts, pageSize, preview = view } = rules;
  const shape = z.object({
    ...Object.fromEntries(Object.entries(filters).map(([param, { schema }]) => [param, schema])),
    sortBy: query.oneOf(Object.keys(sorts) as [string, ...string[]]),
    sortDirection: query.oneOf(["asc", "desc"]),
  });
  return (call) => {
    const wanted: Readonly<Record<string, unknown>> = parse(shape, call.query);
    const tests = Object.entries(filters).filter(([param]) => wanted[param] !== undefined);
    const fits = (own: RecordOf<K>) =>
      tests.every(([param, { test }]) => test(own, wanted[param] as never, call));
    const sorted = sortedRecords(table, rules, wanted, call);
    const records = tests.length === 0 ? sorted : sorted.filter(fits);
    const show = (own: RecordOf<K>) => preview(call.company, own, call.language);
    return pageSize ? onePage(call, table, records, pageSize, show) : list(lazily(records, show));
  };
}

function sortedRecords<K extends TableName>(
  name: K,
  { sorts, usualOrder, changingSort, shufflesTies }: ListRules<RecordOf<K>>,
  { sortBy = usualOrder[0], sortDirection = usualOrder[1] }: { readonly [param: string]: unknown },
  { company, shuffle }: Call,
): readonly RecordOf<K>[] {
  const table = company.tables[name];
  const sortKey = sorts[String(sortBy)] ?? (({ id }) => id);
  const keyOf = (own: RecordOf<K>) => sortKey(own, company);
  const turn = shufflesTies ? shuffle : null;
  if (sortBy !== changingSort && turn === null) {
    const ascending = table.sorted(String(sortBy), keyOf);
    return sortDirection === "asc" ? ascending : ascending.toReversed();
  }
  const tie = ({ id }: RecordOf<K>) => (turn === null ? id : randomFor(turn, "tie", id).next());
  const sign = sortDirection === "asc" ? 1 : -1;
  const rows = Array.from(table.values(), (own) => ({ own, key: keyOf(own), tie: tie(own) }));
  rows.sort((a, b) => sign * (compareKeys(a.key, b.key) || a.tie - b.tie));
  return rows.map(({ own }) => own);
}

/** One by one while the answer is written: a list without pages may be long. */
function* lazily<T>(records: readonly T[], show: (own: T) => JsonObject): Generator<JsonObject> {
  for (const own of records) yield show(own);
}

/** Records on a page: the most that `perPage` may ask for, and what a page has without it. */
interface PageSize {
  readonly most: 200 | 500;
  readonly usual: number;
}

const pageShape = (most: number) => z.object({ perPage: query.int(1, most), page: query.int(1) });
/** Made once: that costs more than a page. */
const pageShapes = { 200: pageShape(200), 500: pageShape(500) };

/** The page sizes of most lists. */
export const tenPerPage: PageSize = { most: 200, usual: 10 };

/** One page of records that are already filtered and sorted. */
export function onePage<T>(
  { query: sent, company }: Call,
  table: TableName,
  records: readonly T[],
  { usual, most }: PageSize,
  view: (record: T) => JsonObject,
): Answer {
  const { perPage = usual, page = 1 } = parse(pageShapes[most], sent);
  const shown = records.slice((page - 1) * perPage, page * perPage);
  const path = `${company.settings.publicOrigin}${basePath}/${collections[table].path}`;
  return list(shown.map(view), paginatorOf(path, page, perPage, records.length, shown.length));
}

/** The service's URLs name the page and drop every other parameter. */
function paginatorOf(path: string, page: number, perPage: number, total: number, shown: number): JsonObject {
  const last = Math.max(1, Math.ceil(total / perPage));
  const url = (number: number) => (number >= 1 && number <= last ? `${path}?page=${number}` : null);
  const links = pageNumbers(page, last).map((number) =>
    number === null
      ? { url: null, label: "...", active: false }
      : { url: url(number), label: String(number), active: number === page },
  );
  return {
    currentPage: page,
    perPage,
    totalPages: last,
    totalResults: total,
    currentFrom: shown === 0 ? 0 : (page - 1) * perPage + 1,
    currentTo: shown === 0 ? 0 : (page - 1) * perPage + shown,
    firstPageUrl: url(1),
    lastPageUrl: url(last),
    nextPageUrl: url(page + 1),
    previousPageUrl: url(page - 1),
    links: [
      { url: url(page - 1), label: "&laquo; Previous", active: false },
      ...links,
      { url: url(page + 1), label: "Next &raquo;", active: false },
    ],
  };
}

/** All pages while they are few; else both ends and the neighbours, null for a gap. */
function pageNumbers(page: number, last: number): (number | null)[] {
  const near = (number: number) =>
    last < 14 || number <= 2 || number > last - 2 || Math.abs(number - page) <= 3;
  const numbers = Array.from({ length: last }, (_, i) => i + 1);
  return numbers.flatMap((number) => (near(number) ? [number] : near(number - 1) ? [null] : []));
}
