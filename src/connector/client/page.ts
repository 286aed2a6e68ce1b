import { createHash } from "node:crypto";
import { z } from "zod";
import { isObject } from "../../json/literal.ts";
import { ProtocolError } from "../service-errors.ts";
import { boolean, each, integer, json, orNull, record, stated, text } from "../record-schema.ts";

/** The paginator of a page. Its URLs are never followed: pages are requested by number. */
export const paginator = record({
  ...each("currentPage perPage totalPages totalResults currentFrom currentTo", stated(integer())),
  ...each("firstPageUrl lastPageUrl", stated(text())),
  ...each("nextPageUrl previousPageUrl", stated(orNull(text()))),
  links: stated(json(z.array(record({ url: orNull(text()), label: text(), active: boolean() })))),
});

export interface ListPage<T> {
  readonly data: readonly T[];
  readonly paginator: z.output<typeof paginator>;
}

/** A longer list is taken for an endless one. */
const maxPages = 50_000;

/**
 * Reads page after page, by number, to the last one by the paginator. Also ends with an empty page and with one that
 * came before, so that a wrong paginator cannot keep it reading. Throws a ProtocolError for an endless list.
 */
export async function* readPages<T>(
  read: (page: number) => Promise<ListPage<T>>,
  firstPage: number,
): AsyncGenerator<ListPage<T>, void, undefined> {
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

/** The ids of the page's records: labels may change between two answers. */
function fingerprint(data: readonly unknown[]): string {
  const ids = data.map((one) => (isObject(one) && "id" in one ? one["id"] : one));
  return createHash("sha1").update(JSON.stringify(ids)).digest("base64");
}
