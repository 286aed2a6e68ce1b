import { z } from "zod";
import type { JsonObject } from "../base/values.ts";
import { list, type Answer } from "../http/answer.ts";
import { basePath } from "../http/request.ts";
import { parse, queryInt } from "../rules/request-shape.ts";
import type { Call } from "./router.ts";

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
