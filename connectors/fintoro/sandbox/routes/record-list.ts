import { z } from "zod";
import { seededRandom } from "../base/seeded-random.ts";
import type { JsonObject } from "../base/values.ts";
import type { Company, RecordOf } from "../domain/company-state.ts";
import { list, type Answer } from "../http/answer.ts";
import { basePath } from "../http/request.ts";
import { collections, type TableName } from "../model/catalogue.ts";
import {
  parse,
  queryDate,
  queryFlag,
  queryInt,
  queryNumber,
  queryOneOf,
  queryText,
} from "../rules/request-shape.ts";
import { viewOf, type View } from "./record-views.ts";
import type { Call } from "./router.ts";

/** A query parameter, and the test of a record by its value. */
export interface Filter<T> {
  readonly schema: z.ZodType;
  readonly test: Test<T, never>;
}
type Test<T, V> = (record: T, wanted: V, call: Call) => boolean;

export const byInt = <T>(test: Test<T, number>): Filter<T> => ({ schema: queryInt(), test });
export const byNumber = <T>(test: Test<T, number>): Filter<T> => ({ schema: queryNumber(), test });
export const byText = <T>(test: Test<T, string>, max = 255): Filter<T> => ({ schema: queryText(max), test });
export const byDate = <T>(test: Test<T, string>): Filter<T> => ({ schema: queryDate(), test });
/** Applies where the parameter is true. */
export const byFlag = <T>(test: (record: T, call: Call) => boolean): Filter<T> => ({
  schema: queryFlag(),
  test: (record, wanted, call) => !wanted || test(record, call),
});
export const byWord = <T>(words: readonly [string, ...string[]], test: Test<T, string>): Filter<T> => ({
  schema: queryOneOf(words),
  test,
});

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
  const { filters, sorts, pageSize, view = viewOf(name) } = rules;
  const query = z.object({
    ...Object.fromEntries(Object.entries(filters).map(([param, { schema }]) => [param, schema])),
    sortBy: queryOneOf(Object.keys(sorts) as [string, ...string[]]),
    sortDirection: queryOneOf(["asc", "desc"]),
  });
  return (call) => {
    const wanted: Readonly<Record<string, unknown>> = parse(query, call.query);
    const recordAt = (id: number) => call.company.tables[name].get(id) as RecordOf<K>;
    const tests = Object.entries(filters).filter(([param]) => wanted[param] !== undefined);
    const fits = (record: RecordOf<K>) =>
      tests.every(([param, { test }]) => test(record, wanted[param] as never, call));
    const sorted = sortedIds(name, rules, wanted, call);
    const ids = tests.length === 0 ? sorted : sorted.filter((id) => fits(recordAt(id)));
    const show = (id: number) => view(call.company, recordAt(id), call.language);
    if (!pageSize) return list(lazily(ids, show));
    return paged(call, `/${collections[name].path}`, ids, pageSize, show);
  };
}

function sortedIds<K extends TableName>(
  name: K,
  { sorts, usualOrder, changingSort, shufflesTies }: ListRules<K>,
  { sortBy = usualOrder[0], sortDirection = usualOrder[1] }: { readonly [param: string]: unknown },
  { company, shuffle }: Call,
): readonly number[] {
  const table = company.tables[name];
  const sortKey = sorts[String(sortBy)] ?? (({ id }) => id);
  const keyOf = (id: number) => sortKey(table.get(id) as RecordOf<K>, company);
  const ascending =
    sortBy === changingSort
      ? [...table.ids()].toSorted((a, b) => Number(keyOf(a)) - Number(keyOf(b)) || a - b)
      : table.sortedIds(String(sortBy), keyOf);
  const ids = sortDirection === "asc" ? ascending : ascending.toReversed();
  return shufflesTies && shuffle !== null ? shuffledTies(ids, keyOf, shuffle) : ids;
}

/** One by one while the answer is written: a list without pages may be long. */
function* lazily(ids: readonly number[], show: (id: number) => JsonObject): Generator<JsonObject> {
  for (const id of ids) yield show(id);
}

/** The same order by key, with equal keys in a random order, as a database may give them. */
function shuffledTies(
  ids: readonly number[],
  keyOf: (id: number) => string | number,
  turn: number,
): number[] {
  const rank = new Map<string | number, number>();
  for (const [place, id] of ids.entries()) if (!rank.has(keyOf(id))) rank.set(keyOf(id), place);
  const ranked = ids.map((id) => ({
    id,
    rank: rank.get(keyOf(id)) ?? 0,
    tie: seededRandom(turn, "tie", id).next(),
  }));
  return ranked.toSorted((a, b) => a.rank - b.rank || a.tie - b.tie).map(({ id }) => id);
}

/** Records on a page: the most that `perPage` may ask for, and what a page has without it. */
export interface PageSize {
  readonly most: number;
  readonly usual: number;
}

/** One page of items that are already filtered and sorted; `path` is the list's own. */
export function paged<T>(
  call: Call,
  path: string,
  items: readonly T[],
  size: PageSize,
  view: (item: T) => JsonObject,
): Answer {
  const schema = z.object({ perPage: queryInt(1, size.most), page: queryInt(1) });
  const { perPage = size.usual, page = 1 } = parse(schema, call.query);
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
