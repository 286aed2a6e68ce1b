import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";

const textType = "text/plain; charset=utf-8";
const retryAfterSeconds = 5;
/** How much of a refused request is still read, and for how long. */
const lingerBytes = 4_000_000;
const lingerMs = 2_000;

export interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A page whose body is encoded: many responses share its bytes. */
export type RenderedPage = Omit<Page, "body"> & { readonly body: Buffer };

/** Sends 204 without a body; `close` ends the connection after it. */
export function respondAccepted(response: ServerResponse, close: boolean): void {
  const connection = close ? ["Connection", "close"] : [];
  response.writeHead(204, ["X-Content-Type-Options", "nosniff", ...connection]);
  response.end();
}

/** The page of a refusal: a short text of this program. `allow`: value of the header `Allow`, for 405. */
export function refusalPage(status: number, why: string, allow?: string): RenderedPage {
  const headers: Record<string, string> = {};
  if (status === 503) headers["Retry-After"] = String(retryAfterSeconds);
  if (allow !== undefined) headers["Allow"] = allow;
  return encoded({ status, type: textType, body: `${why}\n`, headers });
}

/** Makes a page; one that throws is logged and becomes a 500 without the reason. Never rejects. */
export async function renderPage(render: () => Promise<Page> | Page, log: Log): Promise<RenderedPage> {
  try {
    return encoded(await render());
  } catch (error) {
    log.error("a page could not be made", { error: messageOf(error) });
    return encoded({ status: 500, type: textType, body: "the page cannot be made now\n" });
  }
}

function encoded(page: Page): RenderedPage {
  return { ...page, body: Buffer.from(page.body) };
}

/**
 * Sends a page, or 304 where the client names its tag (`ETag`); `close` ends the connection after it. While the sender is still sending, the rest of its request is
 * read and dropped for a while: closing the connection at once could lose the response on its way.
 */
export function respondPage(response: ServerResponse, page: RenderedPage, close: boolean): void {
  const request = response.req;
  const tag = page.status === 200 ? page.headers?.["ETag"] : undefined;
  const isKnown = tag !== undefined && request.headers["if-none-match"]?.includes(tag) === true;
  const body = isKnown ? "" : page.body;
  response.writeHead(isKnown ? 304 : page.status, {
    "Cache-Control": "no-store",
    ...page.headers,
    "X-Content-Type-Options": "nosniff",
    "Content-Type": page.type,
    ...(!isKnown && { "Content-Length": body.length }),
    ...(close && { Connection: "close" }),
  });
  const { "transfer-encoding": coding, "content-length": length = "0" } = request.headers;
  if (request.complete || (coding === undefined && length === "0")) {
    response.end(body);
    return;
  }
  response.write(body);
  discard(request, () => response.end());
}

function discard(request: IncomingMessage, done: () => void): void {
  let [sizeBytes, pieces] = [0, 0];
  const timer = setTimeout(() => request.destroy(), lingerMs);
  request.on("data", (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes <= lingerBytes && !areTooShort(++pieces, sizeBytes)) return;
    stopParsing(request.socket);
    request.destroy();
  });
  request.on("error", () => undefined);
  request.once("end", done);
  request.once("close", () => clearTimeout(timer));
  request.resume();
}

/**
 * So many pieces of a body may be shorter than what a packet of TCP holds: each costs time, however short it is. A delivery
 * has a few hundred bytes, and may come byte by byte.
 */
const shortPieces = 512;
const leastPieceBytes = 500;

export function areTooShort(pieces: number, sizeBytes: number): boolean {
  return pieces > shortPieces + sizeBytes / leastPieceBytes;
}

const kOnBody = 3;

/**
 * Has Node make nothing more of what came on a connection that was just ended: a packet of 64 kB holds a thousand
 * requests or ten thousand chunks, and each would be made an object. There is no public way; a Node whose parser is
 * another one goes on to the end of the packet.
 */
export function stopParsing(socket: Socket): void {
  const { parser } = socket as { parser?: Record<string | number, unknown> | null };
  const onBody = parser?.[kOnBody];
  if (!parser || !onBody) return;
  // As Node's own answers 2 for a request after which no HTTP follows.
  parser["onIncoming"] = () => 2;
  parser[kOnBody] = null;
  // Before the connection's close event, with which Node takes the parser for another connection.
  setImmediate(() => (parser[kOnBody] = onBody));
}

export function rawRefusal(status: number, why: string): string {
  const text = `${why}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "X-Content-Type-Options: nosniff",
    `Content-Type: ${textType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${text}`;
}
