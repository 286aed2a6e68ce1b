import { createHash } from "node:crypto";
import { z } from "zod";
import { isObject } from "../../json/literal.ts";
import { ProtocolError } from "../service-errors.ts";
import { boolean, integer, json, orNull, record, stated, text } from "../record-schema.ts";

/** Its addresses are data: pages are asked for by number, never by a URL out of an answer. */
export const paginator = record({
  currentPage: stated(integer()),
  perPage: stated(integer()),
  totalPages: stated(integer()),
  totalResults: stated(integer()),
  currentFrom: stated(integer()),
  currentTo: stated(integer()),
  firstPageUrl: stated(text()),
  lastPageUrl: stated(text()),
  nextPageUrl: stated(orNull(text())),
  previousPageUrl: stated(orNull(text())),
  links: stated(json(z.array(record({ url: orNull(text()), label: text(), active: boolean() })))),
});

export interface Page<T> {
  readonly data: readonly T[];
  readonly paginator: z.output<typeof paginator>;
}

/** Two and a half million records at the smallest useful page; a longer list is a list without end. */
const maxPages = 50_000;

/**
 * Page after page, by number. Ends with the last page as the service counts, with an empty page, and
 * with one that was given before; so a paginator that lies cannot hold the reader for ever.
 */
export async function* readPages<T>(
  read: (page: number) => Promise<Page<T>>,
  firstPage: number,
): AsyncGenerator<Page<T>, void, undefined> {
  const seen = new Set<string>();
  for (let page = firstPage; page < firstPage + maxPages; page++) {
    const answer = await read(page);
    const print = fingerprint(answer.data);
    if (answer.data.length === 0 || seen.has(print)) return;
    seen.add(print);
    yield answer;
    if (page >= answer.paginator.totalPages) return;
  }
  throw new ProtocolError(`the list does not end after ${maxPages} pages`);
}

/** By the records' ids: labels may change between two answers, the set of records makes the page. */
function fingerprint(data: readonly unknown[]): string {
  const ids = data.map((one) => (isObject(one) && "id" in one ? one["id"] : one));
  return createHash("sha1").update(JSON.stringify(ids)).digest("base64");
}
