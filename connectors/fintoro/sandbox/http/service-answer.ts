import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { JsonObject } from "../base/values.ts";

/** What a route answers, before it becomes bytes: faults can still change single records of it. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON that no fault changes. */
  readonly value?: object;
  /** One record, or the records of a list, which has no paginator where it has no pages. */
  readonly record?: JsonObject;
  readonly records?: Iterable<JsonObject>;
  readonly paginator?: JsonObject | undefined;
  readonly file?: { readonly mediaType: string; readonly name: string; readonly content: Buffer };
}

/** One record; faults that change records apply to it. */
export function oneRecord(record: JsonObject, status = 200): Answer {
  return { status, record };
}

/** `{ data, paginator }`, or `{ data }` where the list has no pages. */
export function list(records: Iterable<JsonObject>, paginator?: JsonObject): Answer {
  return { status: 200, records, paginator };
}

/** JSON that is no record, so that no fault changes it. */
export function value(body: object, status = 200): Answer {
  return { status, value: body };
}

/** No body. */
export function nothing(status = 204): Answer {
  return { status };
}

/** A download under a file name. */
export function file(mediaType: string, name: string, content: Buffer): Answer {
  return { status: 200, file: { mediaType, name, content } };
}

/** A refusal in the service's form: `{ message }`. */
export function error(status: number, message: string): Answer {
  return value({ message }, status);
}

/** An answer as it is sent. */
export interface Encoded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Rewrites one record's JSON text; `text` is what would be sent. */
export type Rewrite = (record: JsonObject, text: string) => string;

/** What faults change in the JSON of a record or a list. */
export interface BodyChanges {
  readonly rewrite: Rewrite;
  readonly paginator: (paginator: JsonObject) => JsonObject;
  readonly emptyList: boolean;
  readonly duplicateFirst: boolean;
}

const unchanged: BodyChanges = {
  rewrite: (_, text) => text,
  paginator: (paginator) => paginator,
  emptyList: false,
  duplicateFirst: false,
};

/** Writes the answer's body with its headers, `changes` applied. */
export function encode({ status, headers = {}, ...answer }: Answer, changes = unchanged): Encoded {
  const { value: plain, record, records, file: download } = answer;
  if (download) {
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(download.name)}`;
    const named = { ...headers, "Content-Type": download.mediaType, "Content-Disposition": disposition };
    return { status, headers: named, body: download.content };
  }
  const json = { ...headers, "Content-Type": "application/json" };
  if (records) return { status, headers: json, body: encodeList(records, answer.paginator, changes) };
  if (record)
    return { status, headers: json, body: Buffer.from(changes.rewrite(record, JSON.stringify(record))) };
  if (plain) return { status, headers: json, body: Buffer.from(JSON.stringify(plain)) };
  return { status, headers, body: Buffer.alloc(0) };
}

function encodeList(
  records: Iterable<JsonObject>,
  paginator: JsonObject | undefined,
  { rewrite, emptyList, duplicateFirst, paginator: changed }: BodyChanges,
): Buffer {
  const lines = Array.from(emptyList ? [] : records, (one) => rewrite(one, JSON.stringify(one)));
  const data = `{"data":[${[...(duplicateFirst ? lines.slice(0, 1) : []), ...lines].join(",")}]`;
  return Buffer.from(paginator ? `${data},"paginator":${JSON.stringify(changed(paginator))}}` : `${data}}`);
}

const compress = promisify(gzip);

/** A smaller body is sent as it is; one above the second size is compressed fast instead of well. */
const compressFromBytes = 4_096;
const fastFromBytes = 8_000_000;

/** Sends the answer, compressed where the client accepts it. */
export async function send(response: ServerResponse, encoded: Encoded, acceptEncoding: string) {
  const { status, headers, body } = encoded;
  const isText = /json|text/.test(headers["Content-Type"] ?? "");
  const zipped = isText && body.length >= compressFromBytes && /\bgzip\b/.test(acceptEncoding);
  const sent = zipped ? await compress(body, { level: body.length > fastFromBytes ? 1 : 4 }) : body;
  response.writeHead(status, {
    ...headers,
    ...(zipped && { "Content-Encoding": "gzip", Vary: "Accept-Encoding" }),
    ...(status !== 204 && { "Content-Length": String(sent.length) }),
  });
  response.end(sent);
}
