import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { AnsweredRecord } from "../base/values.ts";
import type { ActiveFaults } from "./faults.ts";
import type { Encoded } from "./messages.ts";

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

/** The JSON of a record, or of a list with its records, as the faults have it. */
export function alteredText(body: object, faults: ActiveFaults): string {
  const named = Object.entries(rewrites).filter(([kind]) => faults.has(kind));
  const own = faults.get("rewrite")?.rewrite;
  const textOf = (record: AnsweredRecord) => {
    const text = named.reduce((before, [, rewrite]) => rewrite(before), JSON.stringify(record));
    return own ? own(record, text) : text;
  };
  const { data, paginator } = body as { data?: readonly AnsweredRecord[]; paginator?: AnsweredRecord };
  if (!data) return textOf(body as AnsweredRecord);
  const lines = data.map(textOf);
  const sent = faults.has("duplicate_ids") ? [...lines.slice(0, 1), ...lines] : lines;
  const end = paginator ? `,"paginator":${JSON.stringify(alteredPaginator(paginator, faults))}` : "";
  return `{"data":[${sent.join(",")}]${end}}`;
}

function alteredPaginator(paginator: AnsweredRecord, faults: ActiveFaults): AnsweredRecord {
  const next = Number(paginator["currentPage"]) + 1;
  if (faults.has("wrong_page")) return { ...paginator, currentPage: next };
  if (!faults.has("endless_pages")) return paginator;
  const nextPageUrl = String(paginator["firstPageUrl"]).replace(/page=\d+/, `page=${next}`);
  return { ...paginator, totalPages: next, nextPageUrl };
}

/** Applies faults whose answers arrive whole, but are not what the interface describes. */
export function alteredReply(encoded: Encoded, faults: ActiveFaults, authorization: string): Encoded {
  const as = (contentType: string, body: string, status = encoded.status): Encoded => {
    return { status, headers: { ...encoded.headers, "Content-Type": contentType }, body: Buffer.from(body) };
  };
  if (faults.has("html"))
    return as("text/html; charset=UTF-8", "<!doctype html><title>Maintenance</title><h1>Hneď sme späť…</h1>");
  if (!faults.has("echo_token")) return encoded;
  // A careless error page that prints the request.
  const token = authorization.replace(/^Bearer +/i, "");
  const message = `Server Error while handling Authorization: ${authorization}`;
  return as("application/json", JSON.stringify({ message, token }), 500);
}

/**
 * Applies faults whose answers never arrive whole: connections that break, hang or never end.
 *
 * @returns true when the fault has sent the answer, so that nobody else may
 */
export async function breakConnection(
  response: ServerResponse,
  encoded: Encoded,
  faults: ActiveFaults,
): Promise<boolean> {
  const { status, headers, body } = encoded;
  const kinds = ["reset", "hang", "huge_body", "gzip_bomb"];
  const fault = kinds.map((kind) => faults.get(kind)).find(Boolean);
  if (!fault) return false;
  const { kind, when = "before", sizeBytes } = fault;
  if (sizeBytes !== undefined) await sendSpaces(response, encoded, sizeBytes, kind === "gzip_bomb");
  else if (when !== "before") {
    response.writeHead(status, { ...headers, "Content-Length": String(body.length) });
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
async function sendSpaces(
  response: ServerResponse,
  { status, headers }: Encoded,
  sizeBytes: number,
  isZipped: boolean,
): Promise<void> {
  response.writeHead(status, { ...headers, ...(isZipped && { "Content-Encoding": "gzip" }) });
  const spaces = Readable.from(spacesIn(sizeBytes));
  try {
    await (isZipped ? pipeline(spaces, createGzip({ level: 9 }), response) : pipeline(spaces, response));
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
