import { ProtocolError } from "../connector/service-errors.ts";

/** A million records at ten a page; a longer list is a lie, and following it would fill the queue. */
const mostPages = 100_000;

/** What an answer said of the whole list it is a page of. */
export interface PageFacts {
  readonly page: number;
  readonly perPage: number;
  /** From the total, not from `totalPages`: a paginator that promises pages for ever is not followed. */
  readonly pages: number;
  readonly total: number;
  /** Does the paginator agree with itself and with the records beside it? */
  readonly consistent: boolean;
}

/** Throws ProtocolError (retryable) when the paginator is missing, unreadable or of another page. Pure. */
export function pageFacts(paginator: unknown, askedPage: number, records: number): PageFacts {
  if (typeof paginator !== "object" || paginator === null) throw lie("the answer has no paginator");
  const page = count(paginator, "currentPage");
  const perPage = count(paginator, "perPage");
  const total = count(paginator, "totalResults");
  if (page !== askedPage) throw lie(`page ${askedPage} was asked for, and page ${page} came`);
  if (perPage < 1) throw lie("the paginator says 0 records per page");
  const pages = Math.max(1, Math.ceil(total / perPage));
  if (pages > mostPages) throw lie(`it promises ${pages} pages`);
  const expected = page < pages ? perPage : page === pages ? total - (pages - 1) * perPage : 0;
  const said = "totalPages" in paginator ? paginator.totalPages : pages;
  const pagesAgree = said === pages || (total === 0 && said === 0);
  return { page, perPage, pages, total, consistent: records === expected && pagesAgree };
}

/** Of a list that comes in one answer: it is all there is. */
export function wholeFacts(records: number): PageFacts {
  return { page: 1, perPage: 0, pages: 1, total: records, consistent: true };
}

function count(paginator: object, key: string): number {
  const value: unknown = Reflect.get(paginator, key);
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw lie(`the paginator's ${key} is ${JSON.stringify(value) ?? "missing"}`);
}

function lie(what: string): ProtocolError {
  return new ProtocolError(`the list cannot be trusted: ${what}`, {
    retryable: true,
    hint: "If it persists, the service's paginator is broken; nothing is deleted on its word.",
  });
}
