import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";

/** What every response carries. */
const commonHeaders = ["X-Content-Type-Options", "nosniff", "Cache-Control", "no-store"] as const;
const retryAfterSeconds = 5;
/** How much of a refused request is still read, and for how long. */
const lingerBytes = 4_000_000;
const lingerMs = 2_000;

/** A request together with its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface TextResponse {
  readonly status: number;
  /** Text of this program; never a part of the request. */
  readonly why: string;
  /** Value of the `Allow` header of a 405. */
  readonly allow?: string | undefined;
  /** Closes the connection after this response. */
  readonly close: boolean;
}

export interface Page {
  readonly status: number;
  /** Content type. */
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends 204 without a body. */
export function respondAccepted(response: ServerResponse, close: boolean): void {
  const connection = close ? ["Connection", "close"] : [];
  response.writeHead(204, [commonHeaders[0], commonHeaders[1], ...connection]);
  response.end();
}

/**
 * Sends a short text. While the sender is still sending, the rest of its request is read and dropped for a
 * while: closing the connection at once could lose the response on its way.
 */
export function respondText({ request, response }: Exchange, text: TextResponse): void {
  const body = Buffer.from(`${text.why}\n`);
  response.writeHead(text.status, [...textHeaders(text), "Content-Length", String(body.length)]);
  if (request.complete || isBodiless(request)) {
    response.end(body);
    return;
  }
  response.write(body);
  discard(request, () => response.end());
}

function textHeaders({ status, allow, close }: TextResponse): string[] {
  const headers: string[] = [...commonHeaders, "Content-Type", "text/plain; charset=utf-8"];
  if (status === 503) headers.push("Retry-After", String(retryAfterSeconds));
  if (allow !== undefined) headers.push("Allow", allow);
  if (close) headers.push("Connection", "close");
  return headers;
}

function isBodiless({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] === undefined && (headers["content-length"] ?? "0") === "0";
}

function discard(request: IncomingMessage, done: () => void): void {
  let sizeBytes = 0;
  const timer = setTimeout(() => request.destroy(), lingerMs);
  request.on("data", (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes > lingerBytes) request.destroy();
  });
  request.on("error", () => undefined);
  request.once("end", done);
  request.once("close", () => clearTimeout(timer));
  request.resume();
}

const failedPage: Page = {
  status: 500,
  type: "text/plain; charset=utf-8",
  body: "the page cannot be made now\n",
};

/** Sends a page; a page that throws is logged and answered with 500, without the reason. */
export async function respondPage(
  response: ServerResponse,
  render: () => Promise<Page> | Page,
  log: Log,
  close: boolean,
): Promise<void> {
  let page = failedPage;
  try {
    page = await render();
  } catch (error) {
    log.error("a page could not be made", { error: messageOf(error) });
  }
  response.writeHead(page.status, {
    "Cache-Control": "no-store",
    ...page.headers,
    "X-Content-Type-Options": "nosniff",
    "Content-Type": page.type,
    "Content-Length": Buffer.byteLength(page.body),
    ...(close && { Connection: "close" }),
  });
  response.end(page.body);
}

/** The bytes of a response for a socket without an HTTP request on it. */
export function rawResponse(status: number, why: string): string {
  const text = `${why}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "X-Content-Type-Options: nosniff",
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${text}`;
}
