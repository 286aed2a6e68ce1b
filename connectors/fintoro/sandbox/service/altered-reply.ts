import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "../../../../src/base/clock.ts";
import type { AnsweredRecord } from "../base/values.ts";
import type { ActiveFaults, Fault } from "./faults.ts";
import type { BodyChanges, Encoded } from "./messages.ts";

/** Beyond 2^53, and one apart for neighbours: two of them are the same number as doubles. */
const hugeId = (id: string) => String(9_007_199_254_740_992n + BigInt(id));

function withFields(text: string, fields: string): string {
  return text === "{}" ? `{${fields}}` : `${text.slice(0, -1)},${fields}}`;
}

const rewrites: Readonly<Record<string, (text: string) => string>> = {
  missing_ids: (text) => text.replace(/^\{"id":[^,}]+,?/, "{"),
  huge_ids: (text) => text.replace(/^\{"id":(\d+)/, (_, id: string) => `{"id":${hugeId(id)}`),
  unknown_values: (text) => text.replace(/"(type|status)":"[^"]*"/g, '"$1":"brand_new_value"'),
  unknown_fields: (text) => withFields(text, '"brandNewField":{"deep":[1,"ň",null]},"snowman ☃":true'),
  missing_fields: (text) => text.replace(/"(number|name)":"(?:[^"\\]|\\.)*",?/, ""),
  proto_key: (text) =>
    withFields(text, '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}'),
  // Numbers of the usual kinds, written in ways that only the text preserves.
  number_literals: (text) =>
    withFields(
      text
        .replace(/"total":-?[\d.]+/, '"total":1e3')
        .replace(/"totalWithVat":-?[\d.]+/, '"totalWithVat":0.10'),
      '"bigNumber":9007199254740993,"longNumber":0.1000000000000000055511151231257827',
    ),
};

/** What the faults do to the JSON of records and lists. `turn` grows with each request. */
export function bodyChangesOf(faults: ActiveFaults, turn: number): BodyChanges {
  const named = Object.entries(rewrites).filter(([kind]) => faults.has(kind));
  const own = faults.get("rewrite")?.rewrite;
  return {
    rewrite: (record, text) => {
      const written = named.reduce((before, [, rewrite]) => rewrite(before), text);
      return own ? own(record, written) : written;
    },
    paginator: (paginator) => alterPaginator(paginator, faults, turn),
    lines: (lines) => {
      if (faults.has("empty_list")) return [];
      return faults.has("duplicate_ids") ? [...lines.slice(0, 1), ...lines] : lines;
    },
  };
}

function alterPaginator(paginator: AnsweredRecord, faults: ActiveFaults, turn: number): AnsweredRecord {
  const [page, total] = [Number(paginator["currentPage"]), Number(paginator["totalResults"])];
  if (faults.has("wrong_page")) return { ...paginator, currentPage: page + 1 };
  if (faults.has("changing_totals")) return { ...paginator, totalResults: total + ((turn + 1) % 2) };
  if (!faults.has("endless_pages")) return paginator;
  const nextPageUrl = String(paginator["firstPageUrl"]).replace(/page=\d+/, `page=${page + 1}`);
  return { ...paginator, totalPages: page + 1, nextPageUrl };
}

/** Applies faults whose answers arrive whole, but are not what the interface describes. `url` is the request's. */
export function alterReply(encoded: Encoded, faults: ActiveFaults, authorization: string, url: string) {
  const elsewhere = faults.has("redirect") ? "https://elsewhere.example/" : url;
  const moved = { Location: elsewhere, "Content-Type": "text/html" };
  if (faults.has("redirect") || faults.has("redirect_same"))
    return { status: 302, headers: moved, body: Buffer.alloc(0) };
  const as = (contentType: string, body: Buffer | string = encoded.body): Encoded => {
    const headers = { ...encoded.headers, "Content-Type": contentType };
    return { ...encoded, headers, body: Buffer.from(body) };
  };
  if (faults.has("html"))
    return as("text/html; charset=UTF-8", "<!doctype html><title>Maintenance</title><h1>Hneď sme späť…</h1>");
  if (faults.has("echo_token")) {
    // A careless error page that prints the request.
    const token = authorization.replace(/^Bearer +/i, "");
    const message = `Server Error while handling Authorization: ${authorization}`;
    return { ...as("application/json", JSON.stringify({ message, token })), status: 500 };
  }
  const typed = faults.has("content_type") ? as("text/plain; charset=utf-8") : encoded;
  const { body } = typed;
  if (faults.has("truncated")) return { ...typed, body: body.subarray(0, Math.floor(body.length * 0.7)) };
  if (faults.has("invalid_json"))
    return { ...typed, body: Buffer.concat([body, Buffer.from(",,}]\n<!-- -->")]) };
  return typed;
}

/**
 * Applies faults whose answers never arrive whole: connections that break, hang, drip or never end.
 *
 * @returns true when the fault has sent the answer, so that nobody else may
 */
export async function breakConnection(
  response: ServerResponse,
  encoded: Encoded,
  faults: ActiveFaults,
  clock: Clock,
): Promise<boolean> {
  const { status, headers, body } = encoded;
  const fault = ["reset", "hang", "drip", "huge_body", "gzip_bomb"]
    .map((kind) => faults.get(kind))
    .find(Boolean);
  if (!fault) return false;
  const { kind, when = "before", chunkBytes = 16, everyMs = 50 } = fault;
  const isBig = kind === "huge_body" || kind === "gzip_bomb";
  if (isBig) await sendSpaces(response, encoded, fault);
  else if (kind === "drip" || when !== "before")
    response.writeHead(status, { ...headers, "Content-Length": String(body.length) });
  if (kind === "drip") {
    for (let at = 0; at < body.length && !response.destroyed; at += chunkBytes) {
      response.write(body.subarray(at, at + chunkBytes));
      await clock.sleep(everyMs);
    }
    response.end();
  } else if (!isBig && when !== "before") {
    response.flushHeaders();
    const half = body.subarray(0, Math.max(1, body.length >> 1));
    await new Promise<void>((resolve) => {
      if (when === "headers") setImmediate(resolve);
      else response.write(half, () => setImmediate(resolve));
    });
  }
  if (kind === "reset") response.destroy();
  return true;
}

/** Valid JSON of any size: one long text of spaces, made no faster than the client reads it. */
async function sendSpaces(response: ServerResponse, { status, headers }: Encoded, fault: Fault) {
  const { kind, sizeBytes = 0 } = fault;
  const zipped = kind === "gzip_bomb";
  response.writeHead(status, { ...headers, ...(zipped && { "Content-Encoding": "gzip" }) });
  const spaces = Readable.from(spacesIn(sizeBytes));
  try {
    await (zipped ? pipeline(spaces, createGzip({ level: 9 }), response) : pipeline(spaces, response));
  } catch {
    response.destroy();
  }
}

function* spacesIn(sizeBytes: number): Generator<Buffer> {
  const block = Buffer.alloc(65_536, " ");
  yield Buffer.from('{"data":[{"id":1,"name":"');
  for (let left = sizeBytes; left > 0; left -= block.length)
    yield block.subarray(0, Math.min(left, block.length));
  yield Buffer.from('"}]}');
}
