import { randomFor } from "../base/seeded-random.ts";
import { latin, type JsonObject } from "../base/values.ts";
import { basePath } from "../http/request.ts";
import type { Call } from "../http/router.ts";
import { list, type Answer } from "../http/service-answer.ts";
import type { Language } from "../lookups/languages.ts";
import { collections, type TableName } from "../model/catalogue.ts";
import type { Company, RecordOf } from "../model/company-state.ts";
import { compareKeys } from "../model/record-table.ts";

/** What an answer shows of a record. */
export type View<T> = (company: Company, record: T, language: Language) => JsonObject;

/** How one list differs from others: what it filters and sorts by besides the fields of its records. */
export interface ListRules<T> {
  /** Does the record fit the value of a query parameter? */
  readonly filters?: Readonly<Record<string, (record: T, wanted: string, company: Company) => boolean>>;
  /** Keys that `sortBy` may name; they may change without their record. */
  readonly sorts?: Readonly<Record<string, (record: T, company: Company) => string | number>>;
  /** The order without `sortBy` and `sortDirection`. */
  readonly usualOrder: readonly [sortBy: string, direction: "asc" | "desc"];
  /** Records on a page without `perPage`, and at most. @default a list without pages */
  readonly pageSize?: readonly [usual: number, most: number];
  /** What the list shows of a record. @default what its own route shows */
  readonly preview?: View<T>;
  /** Does the fault `shuffled_ties` apply? @default false */
  readonly shufflesTies?: boolean;
}

/** Is the text in one of the words, without regard to case and accents? */
export function isIn(wanted: string, ...words: readonly (string | null)[]): boolean {
  return words.some((word) => word !== null && latin(word).includes(latin(wanted)));
}

/** The value of a field by its name in a query: `issue_date` is `issueDate`, `createdAt` is `createdAtMs`. */
function fieldOf(record: object, name: string): string | number | null {
  const field = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const value = (record as Record<string, unknown>)[field.endsWith("At") ? `${field}Ms` : field];
  return typeof value === "string" || typeof value === "number" ? value : null;
}

/** A field has the value; texts contain it; `From` and `To` are limits. A record without the field fits. */
function fits(record: object, param: string, wanted: string): boolean {
  const [, name = param, limit] = /^(.+?)(From|To)?$/.exec(param) ?? [];
  const value = fieldOf(record, name);
  if (value === null) return !name.endsWith("Id");
  if (limit === undefined) return typeof value === "string" ? isIn(wanted, value) : value === Number(wanted);
  const order = typeof value === "number" ? value - Number(wanted) : compareKeys(value, wanted);
  return limit === "From" ? order >= 0 : order <= 0;
}

const notFilters = new Set(["page", "perPage", "sortBy", "sortDirection"]);

/** Makes the handler of a list. */
export function recordList<K extends TableName>(
  table: K,
  rules: ListRules<RecordOf<K>>,
  view: View<RecordOf<K>>,
): (call: Call) => Answer {
  const { filters = {}, sorts = {}, usualOrder, shufflesTies, pageSize, preview = view } = rules;
  const sorted = ({ company, shuffle }: Call, sortBy: string): readonly RecordOf<K>[] => {
    const special = sorts[sortBy];
    const keyOf = (own: RecordOf<K>) => {
      const key = special ? special(own, company) : (fieldOf(own, sortBy) ?? "");
      return typeof key === "number" ? key : latin(key);
    };
    const turn = shufflesTies ? shuffle : null;
    if (!special && turn === null) return company.tables[table].sorted(sortBy, keyOf);
    const tieOf = (own: RecordOf<K>) => (turn === null ? own.id : randomFor(turn, "tie", own.id).next());
    const rows = Array.from(company.tables[table].values(), (own) => [own, keyOf(own), tieOf(own)] as const);
    rows.sort(([, a, firstTie], [, b, secondTie]) => compareKeys(a, b) || firstTie - secondTie);
    return rows.map(([own]) => own);
  };
  return (call) => {
    const { company, language, query } = call;
    const { sortBy = usualOrder[0], sortDirection = usualOrder[1] } = query;
    const wanted = Object.entries(query).filter(([param]) => !notFilters.has(param));
    const isWanted = (own: RecordOf<K>) =>
      wanted.every(([param, value]) => filters[param]?.(own, value, company) ?? fits(own, param, value));
    const ascending = sorted(call, sortBy);
    const all = sortDirection === "asc" ? ascending : ascending.toReversed();
    const records = wanted.length === 0 ? all : all.filter(isWanted);
    const show = (own: RecordOf<K>) => preview(company, own, language);
    return pageSize ? onePage(call, table, records, show, pageSize) : list(records.map(show));
  };
}

/** The page sizes of most lists. */
export const tenPerPage = [10, 200] as const;

/** One page of records that are already filtered and sorted. */
export function onePage<T>(
  { query, company }: Call,
  table: TableName,
  records: readonly T[],
  view: (record: T) => JsonObject,
  [usual, most]: readonly [usual: number, most: number] = tenPerPage,
): Answer {
  const [perPage, page] = [Math.min(most, Number(query["perPage"] ?? usual)), Number(query["page"] ?? 1)];
  const shown = records.slice((page - 1) * perPage, page * perPage);
  const path = `${company.settings.publicOrigin}${basePath}/${collections[table].path}`;
  return list(shown.map(view), paginatorOf(path, page, perPage, records.length));
}

/** The service's URLs name the page and drop every other parameter. */
function paginatorOf(path: string, page: number, perPage: number, total: number): JsonObject {
  const last = Math.max(1, Math.ceil(total / perPage));
  const isShown = page <= last && total > 0;
  const url = (number: number) => (number >= 1 && number <= last ? `${path}?page=${number}` : null);
  const link = (number: number, label: string) => ({ url: url(number), label, active: number === page });
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
    links: [link(page - 1, "&laquo; Previous"), link(page, String(page)), link(page + 1, "Next &raquo;")],
  };
}
