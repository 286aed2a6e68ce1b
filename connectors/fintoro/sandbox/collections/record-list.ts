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
  word: <T>(words: readonly [string, ...string[]], test: Test<T, string>): Filter<T> => {
    return { schema: query.oneOf(words), test };
  },
  /** Applies where the parameter is true. */
  flag: <T>(test: (record: T, call: Call) => boolean): Filter<T> => {
    return { schema: query.flag(), test: (record, wanted, call) => !wanted || test(record, call) };
  },
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
  const { filters, sorts, usualOrder, changingSort, shufflesTies, pageSize, preview = view } = rules;
  const shape = z.object({
    ...Object.fromEntries(Object.entries(filters).map(([param, { schema }]) => [param, schema])),
    sortBy: query.oneOf(Object.keys(sorts) as [string, ...string[]]),
    sortDirection: query.oneOf(["asc", "desc"]),
  });
  const sorted = ({ company, shuffle }: Call, sortBy: string): readonly RecordOf<K>[] => {
    const sortKey = sorts[sortBy] ?? (({ id }) => id);
    const keyOf = (own: RecordOf<K>) => sortKey(own, company);
    const turn = shufflesTies ? shuffle : null;
    if (sortBy !== changingSort && turn === null) return company.tables[table].sorted(sortBy, keyOf);
    const tieOf = (own: RecordOf<K>) => (turn === null ? own.id : randomFor(turn, "tie", own.id).next());
    const rows = Array.from(company.tables[table].values(), (own) => [own, keyOf(own), tieOf(own)] as const);
    rows.sort(([, a, firstTie], [, b, secondTie]) => compareKeys(a, b) || firstTie - secondTie);
    return rows.map(([own]) => own);
  };
  return (call) => {
    const wanted: Readonly<Record<string, unknown>> = parse(shape, call.query);
    const { sortBy = usualOrder[0], sortDirection = usualOrder[1] } = wanted;
    const tests = Object.entries(filters).filter(([param]) => wanted[param] !== undefined);
    const fits = (own: RecordOf<K>) =>
      tests.every(([param, { test }]) => test(own, wanted[param] as never, call));
    const ascending = sorted(call, String(sortBy));
    const all = sortDirection === "asc" ? ascending : ascending.toReversed();
    const records = tests.length === 0 ? all : all.filter(fits);
    const show = (own: RecordOf<K>) => preview(call.company, own, call.language);
    return pageSize ? onePage(call, table, records, pageSize, show) : list(lazily(records, show));
  };
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
  return list(shown.map(view), paginatorOf(path, page, perPage, records.length));
}

/** The service's URLs name the page and drop every other parameter. */
function paginatorOf(path: string, page: number, perPage: number, total: number): JsonObject {
  const last = Math.max(1, Math.ceil(total / perPage));
  const isShown = page <= last && total > 0;
  const url = (number: number) => (number >= 1 && number <= last ? `${path}?page=${number}` : null);
  const link = (number: number, label = String(number)) => {
    return { url: url(number), label, active: number === page };
  };
  // Both ends and the neighbours, and three dots for a gap.
  const isNear = (number: number) =>
    last < 14 || number <= 2 || number > last - 2 || Math.abs(number - page) <= 3;
  const links = Array.from({ length: last }, (_, i) => i + 1).flatMap((number) =>
    isNear(number) ? [link(number)] : isNear(number - 1) ? [link(0, "...")] : [],
  );
  return {
    currentPage: page,
    perPage,
    totalPages: last,
    totalResults: total,
    currentFrom: isShown ? (page - 1) * perPage + 1 : 0,
    currentTo: isShown ? Math.min(page * perPage, total) : 0,
    firstPageUrl: url(1),
    lastPageUrl: url(last),
    nextPageUrl: url(page + 1),
    previousPageUrl: url(page - 1),
    links: [
      { ...link(page - 1, "&laquo; Previous"), active: false },
      ...links,
      { ...link(page + 1, "Next &raquo;"), active: false },
    ],
  };
}
