import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";

/** What every response carries. */
const always = ["X-Content-Type-Options", "nosniff", "Cache-Control", "no-store"] as const;
const retryAfterSeconds = 5;
const lingerBytes = 4_000_000;
const lingerMs = 2_000;

export interface Words {
  readonly status: number;
  readonly why: string;
  /** Methods that would do, for 405. */
  readonly allow?: string;
  /** Says good-bye to the connection. */
  readonly close: boolean;
}

export function accept(response: ServerResponse, close: boolean): void {
  const more = close ? ["Connection", "close"] : [];
  response.writeHead(204, [always[0], always[1], ...more]);
  response.end();
}

/**
 * A short text of our own. Where the sender is still sending, what comes is thrown away for a while: a
 * connection closed in its face could cost it the answer.
 */
export function refuseWith(request: IncomingMessage, response: ServerResponse, words: Words): void {
  const text = Buffer.from(`${words.why}\n`);
  response.writeHead(words.status, [...headersOf(words), "Content-Length", String(text.length)]);
  if (request.complete || isBodiless(request)) {
    response.end(text);
    return;
  }
  response.write(text);
  discard(request, () => response.end());
}

function headersOf({ status, allow, close }: Words): string[] {
  const headers: string[] = [...always, "Content-Type", "text/plain; charset=utf-8"];
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

/** The answer to what was no HTTP: written onto the bare connection. */
export function bareAnswer(status: number, why: string): string {
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
