import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { JsonObject } from "../base/values.ts";

/** What a route answers, before it becomes bytes: faults can still change single records of it. */
export interface Answer {
  readonly status: number;
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
}

type Body =
  | { readonly kind: "nothing" }
  | { readonly kind: "value"; readonly value: object }
  | { readonly kind: "record"; readonly record: JsonObject }
  | { readonly kind: "list"; readonly records: Iterable<JsonObject>; readonly paginator?: JsonObject }
  | { readonly kind: "file"; readonly mediaType: string; readonly name: string; readonly content: Buffer };

/** One record; faults that change records apply to it. */
export function oneRecord(view: JsonObject, status = 200): Answer {
  return { status, body: { kind: "record", record: view } };
}

/** `{ data, paginator }`, or `{ data }` where the list has no pages. */
export function list(records: Iterable<JsonObject>, paginator?: JsonObject): Answer {
  return { status: 200, body: paginator ? { kind: "list", records, paginator } : { kind: "list", records } };
}

/** JSON that is no record, so that no fault changes it. */
export function value(body: object, status = 200): Answer {
  return { status, body: { kind: "value", value: body } };
}

/** No body. */
export function nothing(status = 204): Answer {
  return { status, body: { kind: "nothing" } };
}

/** A download under a file name. */
export function file(mediaType: string, name: string, content: Buffer): Answer {
  return { status: 200, body: { kind: "file", mediaType, name, content } };
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
  readonly rewrite: Rewrite | null;
  readonly paginator: ((paginator: JsonObject) => JsonObject) | null;
  readonly emptyList: boolean;
  readonly duplicateFirst: boolean;
}

const unchanged: BodyChanges = { rewrite: null, paginator: null, emptyList: false, duplicateFirst: false };

/** Writes the answer's body with its headers, `changes` applied. */
export function encode({ status, headers = {}, body }: Answer, changes = unchanged): Encoded {
  if (body.kind === "nothing") return { status, headers, body: Buffer.alloc(0) };
  if (body.kind === "file") {
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(body.name)}`;
    const named = { ...headers, "Content-Type": body.mediaType, "Content-Disposition": disposition };
    return { status, headers: named, body: body.content };
  }
  const json = { ...headers, "Content-Type": "application/json" };
  if (body.kind === "list")
    return { status, headers: json, body: encodeList(body.records, body.paginator, changes) };
  const text = body.kind === "value" ? JSON.stringify(body.value) : recordText(body.record, changes.rewrite);
  return { status, headers: json, body: Buffer.from(text) };
}

function recordText(one: JsonObject, rewrite: Rewrite | null): string {
  const text = JSON.stringify(one);
  return rewrite ? rewrite(one, text) : text;
}

const pieceChars = 1_000_000;

/** A list may be longer than a string can be: it is collected in pieces. */
function encodeList(
  records: Iterable<JsonObject>,
  paginator: JsonObject | undefined,
  { rewrite, emptyList, duplicateFirst, paginator: changed }: BodyChanges,
): Buffer {
  const pieces: Buffer[] = [];
  let text = '{"data":[';
  let separator = "";
  for (const one of emptyList ? [] : records) {
    const line = recordText(one, rewrite);
    text += separator + (duplicateFirst && separator === "" ? `${line},${line}` : line);
    separator = ",";
    if (text.length < pieceChars) continue;
    pieces.push(Buffer.from(text));
    text = "";
  }
  const sent = paginator && changed ? changed(paginator) : paginator;
  text += sent ? `],"paginator":${JSON.stringify(sent)}}` : "]}";
  return Buffer.concat([...pieces, Buffer.from(text)]);
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
