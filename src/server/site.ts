import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Log } from "../base/logger.ts";
import type { BodyReader } from "./request-body.ts";
import { refusalPage, renderPage, type Page, type RenderedPage } from "./response.ts";
import type { Clock } from "../base/clock.ts";

export interface SiteRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** `1.1`, or `1.0`, which no browser speaks. */
  readonly httpVersion: string;
  /** What a form sent; null: it was not a POST. */
  readonly form: URLSearchParams | null;
}

export interface Site {
  /** The methods that a path takes, as in the header `Allow`; null: there is no such page. */
  methodsOf(path: string): "GET, HEAD" | "POST" | null;
  answer(request: SiteRequest): Promise<Page>;
}

const mostFormBytes = 4_096;

/** The answer to a request for a page whose path and method were accepted. Never rejects. */
export async function siteAnswer(
  site: Site,
  request: IncomingMessage,
  readBody: BodyReader,
  log: Log,
): Promise<RenderedPage> {
  const { headers, httpVersion, method, url = "" } = request;
  const [path = "", query = ""] = url.split(/\?(.*)/s, 2);
  const form = method === "POST" ? await readForm(readBody, request) : null;
  if (form === "refused") return refusalPage(413, "the form is too long, or took too long");
  return renderPage(
    () => site.answer({ path, query: new URLSearchParams(query), headers, httpVersion, form }),
    log,
  );
}

function readForm(readBody: BodyReader, request: IncomingMessage): Promise<URLSearchParams | "refused"> {
  if (Number(request.headers["content-length"] ?? Infinity) > mostFormBytes)
    return Promise.resolve("refused");
  return new Promise((resolve) =>
    readBody(request, (body) =>
      resolve(typeof body === "string" ? "refused" : new URLSearchParams(body.toString())),
    ),
  );
}

/** For how long a page is kept: so many times as long as making it took, within bounds. */
interface KeptFor {
  readonly factor: number;
  readonly shortestMs: number;
  readonly longestMs: number;
  /** What was spent so far on making pages and all else, ms. */
  readonly costMs: () => number;
}

/** More are not kept: those that were made first are left out. */
const mostPages = 100;

/** Whoever asks while a page is being made gets that one, and for some time after, however many ask. */
export function createKeptPages<Made>(clock: Pick<Clock, "monotonicMs">, keptFor: KeptFor) {
  const { factor, shortestMs, longestMs, costMs } = keptFor;
  const pages = new Map<unknown, { readonly page: Promise<Made>; untilMs: number }>();
  /** The page, made now or lately. Rejects with what `make` rejects with, for as long as a page would be kept. */
  return (key: unknown, make: () => Promise<Made> | Made): Promise<Made> => {
    const known = pages.get(key);
    if (known && clock.monotonicMs() < known.untilMs) return known.page;
    const beforeMs = costMs();
    const made = { page: new Promise<Made>((resolve) => resolve(make())), untilMs: Infinity };
    const rest = () => {
      const restMs = Math.max(shortestMs, (costMs() - beforeMs) * factor);
      made.untilMs = clock.monotonicMs() + Math.min(longestMs, restMs);
    };
    made.page.then(rest, rest);
    pages.delete(key);
    pages.set(key, made);
    const [first] = pages.keys();
    if (pages.size > mostPages && first !== undefined) pages.delete(first);
    return made.page;
  };
}
