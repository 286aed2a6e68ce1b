import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { AnsweredRecord } from "../base/values.ts";

/** What a route answers, before it becomes bytes: faults can still change single records of it. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON that no fault changes. */
  readonly value?: object;
  /** One record, or the records of a list, which has no paginator where it has no pages. */
  readonly record?: AnsweredRecord;
  readonly records?: Iterable<AnsweredRecord>;
  readonly paginator?: AnsweredRecord | undefined;
  readonly file?: { readonly mediaType: string; readonly name: string; readonly content: Buffer };
}

export const oneRecord = (record: AnsweredRecord, status = 200): Reply => ({ status, record });
export const list = (records: Iterable<AnsweredRecord>, paginator?: AnsweredRecord): Reply => ({
  status: 200,
  records,
  paginator,
});
export const value = (body: object, status = 200): Reply => ({ status, value: body });
export const nothing = (status = 204): Reply => ({ status });
/** A download under a file name. */
export const file = (mediaType: string, name: string, content: Buffer): Reply => {
  return { status: 200, file: { mediaType, name, content } };
};
/** A refusal in the service's form. */
export const error = (status: number, message: string): Reply => value({ message }, status);

export interface Encoded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface BodyChanges {
  /** Rewrites one record's JSON text; `text` is what would be sent. */
  readonly rewrite: (record: AnsweredRecord, text: string) => string;
  readonly paginator: (paginator: AnsweredRecord) => AnsweredRecord;
  /** Of the texts of a list's records. */
  readonly lines: (lines: readonly string[]) => readonly string[];
}

const unchanged: BodyChanges = {
  rewrite: (_, text) => text,
  paginator: (paginator) => paginator,
  lines: (lines) => lines,
};

/** Writes the answer's body with its headers, `changes` applied. */
export function encode({ status, headers = {}, ...reply }: Reply, changes = unchanged): Encoded {
  const { value: plain, record, records, paginator, file: download } = reply;
  if (download) {
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(download.name)}`;
    const named = { ...headers, "Content-Type": download.mediaType, "Content-Disposition": disposition };
    return { status, headers: named, body: download.content };
  }
  const json = (text: string) => {
    return { status, headers: { ...headers, "Content-Type": "application/json" }, body: Buffer.from(text) };
  };
  if (records) {
    const lines = Array.from(records, (one) => changes.rewrite(one, JSON.stringify(one)));
    const end = paginator ? `,"paginator":${JSON.stringify(changes.paginator(paginator))}}` : "}";
    return json(`{"data":[${changes.lines(lines).join(",")}]${end}`);
  }
  if (record) return json(changes.rewrite(record, JSON.stringify(record)));
  return plain ? json(JSON.stringify(plain)) : { status, headers, body: Buffer.alloc(0) };
}

const compress = promisify(gzip);

/** A smaller body is sent as it is; one above the second size is compressed fast instead of well. */
const compressFromBytes = 4_096;
const fastFromBytes = 8_000_000;

/** Sends the answer, compressed where the client accepts it. */
export async function send(
  response: ServerResponse,
  encoded: Encoded,
  acceptEncoding: string,
): Promise<void> {
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
