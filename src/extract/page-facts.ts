import type { Resource } from "../connector/resource.ts";
import { ContradictionError } from "../connector/service-errors.ts";

/** A million records at ten a page. A longer list would fill the queue. */
const mostPages = 100_000;

/** What an answer says about the whole list that it is a page of. */
export interface PageFacts {
  readonly page: number;
  readonly perPage: number;
  /** From the total, not from `totalPages`, which a broken paginator may raise without end. */
  readonly pages: number;
  readonly total: number;
  /** Does the paginator promise more pages than its total fills? */
  readonly overstated: boolean;
}

/** Pure. Throws a ContradictionError when the paginator is missing, unreadable or of another page. */
export function pageFacts(paginator: unknown, askedPage: number): PageFacts {
  if (typeof paginator !== "object" || paginator === null)
    throw new ContradictionError("returned no paginator");
  const page = count(paginator, "currentPage");
  const perPage = count(paginator, "perPage");
  const total = count(paginator, "totalResults");
  if (page !== askedPage) throw new ContradictionError(`returned page ${page}`);
  if (perPage < 1) throw new ContradictionError("returned a paginator of 0 records per page");
  const pages = Math.max(1, Math.ceil(total / perPage));
  if (pages > mostPages)
    throw new ContradictionError(`returned a paginator of ${pages} pages, more than ${mostPages}`);
  const promised = "totalPages" in paginator ? wholeNumber(paginator.totalPages) : null;
  return { page, perPage, pages, total, overstated: (promised ?? pages) > pages };
}

/**
 * The facts of a page of a list without a total. A full one is followed by another; how many records fill it is what page 1
 * shows, since a service may show fewer than it documents.
 *
 * @param pageSize as documented
 * @param asked.perPage records of a full page, as seen before; absent: one record may fill it
 */
export function walkedFacts(
  { page, perPage = 1 }: { readonly page: number; readonly perPage?: number },
  pageSize: number,
  records: number,
): PageFacts {
  const pages = records < perPage ? page : page + 1;
  const shown = page === 1 ? Math.max(1, Math.min(records, pageSize)) : perPage;
  return { page, perPage: shown, pages, total: records, overstated: false };
}

/** Did page 1 of a list without a total show fewer records than the service documents of a page? */
export function isShortPage({ list }: Resource, { perPage }: Pick<PageFacts, "perPage">): boolean {
  return list.kind === "walked" && perPage < list.pageSize;
}

/** The facts of a list that comes in one answer. */
export function wholeFacts(records: number): PageFacts {
  return { page: 1, perPage: 0, pages: 1, total: records, overstated: false };
}

function count(paginator: object, key: string): number {
  const value: unknown = Reflect.get(paginator, key);
  const number = wholeNumber(value);
  if (number !== null) return number;
  const text = JSON.stringify(value) ?? "missing";
  throw new ContradictionError(`returned a paginator whose ${key} is ${text.slice(0, 100)}`);
}

/** PHP may give numbers as strings. */
function wholeNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : null;
}
