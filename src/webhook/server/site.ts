import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Log } from "../../base/logger.ts";
import type { BodyReader } from "./request-body.ts";
import type { EventStream, EventStreams } from "./event-streams.ts";
import { refusalPage, renderPage, respondPage, type Page, type RenderedPage } from "./response.ts";

/** A request for one of the site's pages. */
export interface SiteRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** `1.1`, or `1.0`, which no browser speaks. */
  readonly httpVersion: string;
  /** What a form sent; null: it was not a POST. */
  readonly form: URLSearchParams | null;
}

/** Pages whose content depends on the request. */
export interface Site {
  /** The methods that a path takes, as in the header `Allow`; null: there is no such page. */
  methodsOf(path: string): "GET, HEAD" | "POST" | null;
  answer(request: SiteRequest): Promise<Page | EventStream>;
}

/** What the pages are answered with. */
export interface SiteParts {
  readonly site: Site;
  readonly streams: EventStreams;
  readonly readBody: BodyReader;
  readonly log: Log;
  readonly isListening: () => boolean;
}

/** Of a form. */
const mostFormBytes = 4_096;

/** Answers a request for a page whose path and method were accepted. Never rejects. */
export async function answerSite(parts: SiteParts, response: ServerResponse, url: string): Promise<void> {
  const { req } = response;
  const { log, streams } = parts;
  const [path = "", query = ""] = url.split(/\?(.*)/s, 2);
  const form = req.method === "POST" ? await readForm(parts, response) : null;
  const respond = (page: RenderedPage) => respondPage(response, page, !parts.isListening());
  if (form === "refused") return respond(refusalPage(413, "the form is too long, or took too long"));
  let stream: EventStream | null = null;
  const { headers, httpVersion } = req;
  const request = { path, query: new URLSearchParams(query), headers, httpVersion, form };
  const page = await renderPage(async () => {
    const answer = await parts.site.answer(request);
    if (!("follow" in answer)) return answer;
    stream = answer;
    return { status: 200, type: "text/event-stream; charset=utf-8", body: "" };
  }, log);
  if (stream === null || req.method === "HEAD") return respond(page);
  if (streams.isFull || !parts.isListening())
    return respond(refusalPage(503, "too many pages are looked at now"));
  if (!response.destroyed) streams.open(response, stream);
}

function readForm({ readBody }: SiteParts, { req }: ServerResponse): Promise<URLSearchParams | "refused"> {
  if (Number(req.headers["content-length"] ?? Infinity) > mostFormBytes) return Promise.resolve("refused");
  return new Promise((resolve) =>
    readBody(req, (body) =>
      resolve(typeof body === "string" ? "refused" : new URLSearchParams(body.toString())),
    ),
  );
}
