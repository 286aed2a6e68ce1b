import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Encoded } from "./service-answer.ts";

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
