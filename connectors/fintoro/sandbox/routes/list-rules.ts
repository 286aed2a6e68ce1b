import { z } from "zod";
import { randomFor } from "../base/seeded-random.ts";
import type { JsonObject } from "../base/values.ts";
import type { Company, RecordOf } from "../domain/company-state.ts";
import { list, type Answer } from "../http/service-answer.ts";
import { basePath } from "../http/request.ts";
import { collections, type TableName } from "../model/catalogue.ts";
import { compareKeys } from "../model/record-table.ts";
import { date, parse, queryFlag, queryInt, queryNumber, queryOneOf, text } from "../rules/request-shape.ts";
import { detailViewOf, type View } from "./record-views.ts";
import type { Call } from "./router.ts";

/** A query parameter, and the test of a record by its value. */
export interface Filter<T> {
  readonly schema: z.ZodType;
  readonly test: Test<T, never>;
}
type Test<T, V> = (record: T, wanted: V, call: Call) => boolean;

/** Filters by the kind of value that their parameter takes. */
export const by = {
  int: <T>(test: Test<T, number>): Filter<T> => ({ schema: queryInt(), test }),
  number: <T>(test: Test<T, number>): Filter<T> => ({ schema: queryNumber(), test }),
  text: <T>(test: Test<T, string>): Filter<T> => ({ schema: text().optional(), test }),
  date: <T>(test: Test<T, string>): Filter<T> => ({ schema: date().optional(), test }),
  word: <T>(words: readonly [string, ...string[]], test: Test<T, string>): Filter<T> => ({
    schema: queryOneOf(words),
    test,
  }),
  /** Applies where the parameter is true. */
  flag: <T>(test: (record: T, call: Call) => boolean): Filter<T> => ({
    schema: queryFlag(),
    test: (record, wanted, call) => !wanted || test(record, call),
  }),
};

/** How one list filters, sorts and shows its records. */
interface ListRules<K extends TableName> {
  /** Query parameters, besides those of sorting and paging. Cheap tests first: the others see fewer records. */
  readonly filters: Readonly<Record<string, Filter<RecordOf<K>>>>;
  /** What `sortBy` may name. */
  readonly sorts: Readonly<Record<string, (record: RecordOf<K>, company: Company) => string | number>>;
  /** The order without `sortBy` and `sortDirection`; by id where the name is not among `sorts`. */
  readonly usualOrder: readonly [sortBy: string, direction: "asc" | "desc"];
  /** A sort key that changes without a change of its record, so that no order is kept. */
  readonly changingSort?: string;
  /** Absent for a list without pages. */
  readonly pageSize?: PageSize;
  /** @default the view of the detail */
  readonly view?: View<RecordOf<K>>;
  /** Does the fault `shuffled_ties` apply? @default false */
  readonly shufflesTies?: boolean;
}

/** Makes the handler of a list. */
export function recordList<K extends TableName>(name: K, rules: ListRules<K>): (call: Call) => Answer {
  const { filters, sorts, pageSize, view = detailViewOf(name) } = rules;
  const query = z.object({
    ...Object.fromEntries(Object.entries(filters).map(([param, { schema }]) => [param, schema])),
    sortBy: queryOneOf(Object.keys(sorts) as [string, ...string[]]),
    sortDirection: queryOneOf(["asc", "desc"]),
  });
  return (call) => {
    const wanted: Readonly<Record<string, unknown>> = parse(query, call.query);
    const tests = Object.entries(filters).filter(([param]) => wanted[param] !== undefined);
    const fits = (own: RecordOf<K>) =>
      tests.every(([param, { test }]) => test(own, wanted[param] as never, call));
    const sorted = sortedRecords(name, rules, wanted, call);
    const records = tests.length === 0 ? sorted : sorted.filter(fits);
    const show = (own: RecordOf<K>) => view(call.company, own, call.language);
    if (!pageSize) return list(lazily(records, show));
    return onePage(call, `/${collections[name].path}`, records, pageSize, show);
  };
}

function sortedRecords<K extends TableName>(
  name: K,
  { sorts, usualOrder, changingSort, shufflesTies }: ListRules<K>,
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
export interface PageSize {
  readonly most: number;
  readonly usual: number;
}

const newPageQuery = (most: number) => z.object({ perPage: queryInt(1, most), page: queryInt(1) });
const pageQueries = new Map<number, ReturnType<typeof newPageQuery>>();

/** Made once for each size: that costs more than the page. */
function pageQuery(most: number) {
  const query = pageQueries.get(most) ?? newPageQuery(most);
  pageQueries.set(most, query);
  return query;
}

/** One page of items that are already filtered and sorted; `path` is the list's own. */
export function onePage<T>(
  call: Call,
  path: string,
  items: readonly T[],
  size: PageSize,
  view: (item: T) => JsonObject,
): Answer {
  const { perPage = size.usual, page = 1 } = parse(pageQuery(size.most), call.query);
  const shown = items.slice((page - 1) * perPage, page * perPage);
  const url = `${call.company.settings.publicOrigin}${basePath}${path}`;
  return list(shown.map(view), paginatorOf(url, page, perPage, items.length, shown.length));
}

/** The service's URLs name the page and drop every other parameter. */
function paginatorOf(path: string, page: number, perPage: number, total: number, shown: number): JsonObject {
  const last = Math.max(1, Math.ceil(total / perPage));
  const url = (number: number) => `${path}?page=${number}`;
  const next = page < last ? url(page + 1) : null;
  const previous = page > 1 ? url(page - 1) : null;
  const numbers = pageNumbers(page, last).map((number) =>
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
    nextPageUrl: next,
    previousPageUrl: previous,
    links: [
      { url: previous, label: "&laquo; Previous", active: false },
      ...numbers,
      { url: next, label: "Next &raquo;", active: false },
    ],
  };
}

/** All pages while they are few; else both ends and the neighbours, null for a gap. */
function pageNumbers(page: number, last: number): (number | null)[] {
  if (last < 14) return range(1, last);
  if (page <= 7) return [...range(1, 10), null, last - 1, last];
  if (page >= last - 6) return [1, 2, null, ...range(last - 9, last)];
  return [1, 2, null, ...range(page - 3, page + 3), null, last - 1, last];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
