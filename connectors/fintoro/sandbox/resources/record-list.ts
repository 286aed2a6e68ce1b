import { randomFor } from "../base/seeded-random.ts";
import { latin, type AnsweredRecord } from "../base/values.ts";
import type { ServiceLanguage } from "../lookups/lookup-lists.ts";
import { pathOf, type TableName } from "../model/catalogue.ts";
import { publicOrigin, type Company } from "../model/company.ts";
import type { BookRow } from "../model/row.ts";
import { compareKeys } from "../model/table.ts";
import { basePath, list, type Reply, type RouteCall } from "../service/messages.ts";

/** How one list differs from others: what it filters and sorts by besides the fields of its records. */
export interface ListRules {
  /** Does the record fit the value of a query parameter? */
  readonly filters?: Readonly<Record<string, (row: BookRow, wanted: string, company: Company) => boolean>>;
  /** Keys that `sortBy` may name; they may change without their record. */
  readonly sorts?: Readonly<Record<string, (row: BookRow, company: Company) => number>>;
  /** The order without `sortBy` and `sortDirection`. @default by id */
  readonly usualOrder?: readonly [sortBy: string, direction: "asc" | "desc"];
  /** Records on a page without `perPage`, and at most. @default a list without pages */
  readonly pageSize?: readonly [usual: number, most: number];
  /** What the list shows of a record. @default what its own route shows */
  readonly preview?: (company: Company, row: BookRow, language: ServiceLanguage) => AnsweredRecord;
  /** Does the fault `shuffled_ties` apply? @default false */
  readonly shufflesTies?: boolean;
}

/** Is the text in one of the words, without regard to case and accents? */
export const isIn = (wanted: string, ...words: readonly (string | null)[]) =>
  words.some((word) => word !== null && latin(word).includes(latin(wanted)));

/** The value of a field by its name in a query: `issue_date` is `issueDate`, `createdAt` is `createdAtMs`. */
function fieldOf(row: BookRow, name: string): string | number | null {
  const field = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const value: unknown = row[(field.endsWith("At") ? `${field}Ms` : field) as keyof BookRow];
  return typeof value === "string" || typeof value === "number" ? value : null;
}

/** A field has the value; texts contain it; `From` and `To` are limits. A record without the field fits. */
function fits(row: BookRow, param: string, wanted: string): boolean {
  const [, name = param, limit] = /^(.+?)(From|To)?$/.exec(param) ?? [];
  const value = fieldOf(row, name);
  if (value === null) return !name.endsWith("Id");
  if (limit === undefined) return typeof value === "string" ? isIn(wanted, value) : value === Number(wanted);
  const order = typeof value === "number" ? value - Number(wanted) : compareKeys(value, wanted);
  return limit === "From" ? order >= 0 : order <= 0;
}

const notFilters = new Set(["page", "perPage", "sortBy", "sortDirection"]);

/** Makes the handler of a list. */
export function recordList(table: TableName, rules: ListRules, view: NonNullable<ListRules["preview"]>) {
  const {
    filters = {},
    sorts = {},
    usualOrder = ["id", "asc"],
    shufflesTies,
    pageSize,
    preview = view,
  } = rules;
  const sorted = ({ company, shuffle }: RouteCall, sortBy: string): readonly BookRow[] => {
    const special = sorts[sortBy];
    const keyOf = (row: BookRow) => {
      const key = special ? special(row, company) : (fieldOf(row, sortBy) ?? "");
      return typeof key === "number" ? key : latin(key);
    };
    const turn = shufflesTies ? shuffle : null;
    if (!special && turn === null) return company.tables[table].sorted(sortBy, keyOf);
    const tieOf = ({ id }: BookRow) => (turn === null ? id : randomFor(turn, "tie", id).next());
    const rows = Array.from(company.tables[table].values(), (row) => [row, keyOf(row), tieOf(row)] as const);
    rows.sort(([, a, firstTie], [, b, secondTie]) => compareKeys(a, b) || firstTie - secondTie);
    return rows.map(([row]) => row);
  };
  return (call: RouteCall): Reply => {
    const { company, language, query } = call;
    const { sortBy = usualOrder[0], sortDirection = usualOrder[1] } = query;
    const wanted = Object.entries(query).filter(([param]) => !notFilters.has(param));
    const isWanted = (row: BookRow) =>
      wanted.every(([param, value]) => filters[param]?.(row, value, company) ?? fits(row, param, value));
    const ascending = sorted(call, sortBy);
    const all = sortDirection === "asc" ? ascending : ascending.toReversed();
    const rows = wanted.length === 0 ? all : all.filter(isWanted);
    const show = (row: BookRow) => preview(company, row, language);
    return pageSize ? onePage(call, table, rows, show, pageSize) : list(rows.map(show));
  };
}

export const tenPerPage = [10, 200] as const;

/** One page of records that are already filtered and sorted. The service's URLs drop every other parameter. */
export function onePage(
  { query }: RouteCall,
  table: TableName,
  rows: readonly BookRow[],
  show: (row: BookRow) => AnsweredRecord,
  [usual, most]: readonly [usual: number, most: number] = tenPerPage,
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
