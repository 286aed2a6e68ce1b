import type { Random } from "../../../src/base/random.ts";
import type { Shown, TableName } from "./service-types.ts";

/** A refusal: the status and what the body says. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** A list's text, or why there is none. */
export type ListAnswer = string | Refusal;

/** How lists answer now. */
export interface ListRules {
  readonly mostPerPage: number;
  readonly refusesSort: boolean;
  readonly shufflesTies: boolean;
  /** Does this answer show the first page, whatever page was asked for? */
  readonly isStuck: boolean;
  readonly random: Random;
}

type Row = readonly [id: number, shown: Shown];
type Order = readonly [key: string, direction: "asc" | "desc"];

/** The order of a list without `sortBy`, and what `sortBy` may name. */
const orders: Readonly<Partial<Record<TableName, { usual: Order; sorts: readonly string[] }>>> = {
  invoices: { usual: ["issueDate", "desc"], sorts: ["number", "issueDate"] },
  business_cases: { usual: ["id", "desc"], sorts: ["updatedAt"] },
  price_list_items: { usual: ["name", "asc"], sorts: ["name"] },
};

/** A 422 about one parameter. */
export function invalid(field: string, text: string): Refusal {
  return { status: 422, message: "The given data was invalid.", errors: { [field]: [text] } };
}

/** The answer of a list without pages. */
export function wholeList(rows: readonly Row[]): string {
  return `{"data":[${rows.flatMap(([, { listed }]) => listed ?? []).join(",")}]}`;
}

/** One page of a list of records. */
export function recordPage(
  table: TableName,
  rows: readonly Row[],
  query: URLSearchParams,
  rules: ListRules,
): ListAnswer {
  const { usual, sorts } = orders[table] ?? { usual: ["id", "asc"], sorts: [] };
  const sortBy = query.get("sortBy");
  if (sortBy !== null && (rules.refusesSort || !sorts.includes(sortBy)))
    return invalid("sortBy", "The selected sort by is invalid.");
  const wanted = rows.filter(([, shown]) => isWanted(shown, query));
  const direction = query.get("sortDirection") ?? usual[1];
  return onePage(
    sorted(wanted, sortBy ?? usual[0], direction === "asc" ? 1 : -1, rules),
    query,
    rules.mostPerPage,
    rules,
  );
}

/** One page of the CRM events of a parent, newest first. */
export function childPage(rows: readonly Row[], query: URLSearchParams, rules: ListRules): ListAnswer {
  const listed = rows.filter(([, shown]) => shown.listed !== null);
  return onePage(
    listed.toSorted(([a], [b]) => b - a),
    query,
    200,
    rules,
  );
}

function isWanted({ keys, listed }: Shown, query: URLSearchParams): boolean {
  const from = query.get("issueDateFrom");
  const status = query.get("paymentStatus");
  return (
    listed !== null &&
    (from === null || String(keys["issueDate"]) >= from) &&
    (status === null || keys["status"] === status)
  );
}

/** Records of equal keys follow by id, or as they happen to come. */
function sorted(rows: readonly Row[], key: string, sign: 1 | -1, rules: ListRules): Row[] {
  const { shufflesTies, random } = rules;
  const keyed = rows.map((row) => {
    const [id, shown] = row;
    return { row, key: key === "id" ? id : (shown.keys[key] ?? 0), tie: shufflesTies ? random.next() : id };
  });
  keyed.sort((a, b) => sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : a.tie - b.tie));
  return keyed.map(({ row }) => row);
}

function onePage(
  rows: readonly Row[],
  query: URLSearchParams,
  most: number,
  { isStuck }: ListRules,
): ListAnswer {
  const perPage = Number(query.get("perPage") ?? 10);
  const page = Number(query.get("page") ?? 1);
  if (!(perPage >= 1 && perPage <= most))
    return invalid("perPage", `The per page field must not be greater than ${most}.`);
  if (!(page >= 1)) return invalid("page", "The page field must be at least 1.");
  const shownPage = isStuck ? 1 : page;
  const shown = rows.slice((shownPage - 1) * perPage, shownPage * perPage);
  const pages = Math.max(1, Math.ceil(rows.length / perPage));
  const paginator = {
    currentPage: page,
    perPage,
    totalPages: pages,
    totalResults: rows.length,
    nextPageUrl: page < pages ? `https://simulated.example/?page=${page + 1}` : null,
  };
  const data = shown.map(([, { listed }]) => listed).join(",");
  return `{"data":[${data}],"paginator":${JSON.stringify(paginator)}}`;
}
