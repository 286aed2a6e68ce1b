import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Log } from "../base/logger.ts";
import type { BodyReader } from "./request-body.ts";
import { refusalPage, renderPage, type Page, type RenderedPage } from "./response.ts";

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
