import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import type { Encoded } from "./encode.ts";

const zip = promisify(gzip);

/** A smaller body is sent as it is; a body above the second size is streamed and compressed on the way. */
const compressFromBytes = 4_096;
const streamFromBytes = 8_000_000;

/** Sends the answer, compressed where the client accepts it; a huge one no faster than the client reads. */
export async function send(
  response: ServerResponse,
  encoded: Encoded,
  acceptEncoding: string,
): Promise<void> {
  const sizeBytes = encoded.pieces.reduce((sum, { length }) => sum + length, 0);
  const isText = /json|text/.test(encoded.headers["Content-Type"] ?? "");
  const zipped = isText && sizeBytes >= compressFromBytes && /\bgzip\b/.test(acceptEncoding);
  if (sizeBytes > streamFromBytes) {
    await stream(response, encoded, zipped ? null : sizeBytes);
    return;
  }
  const whole = Buffer.concat(encoded.pieces);
  const body = zipped ? await zip(whole, { level: 4 }) : whole;
  response.writeHead(encoded.status, {
    ...encoded.headers,
    ...(zipped && { "Content-Encoding": "gzip", Vary: "Accept-Encoding" }),
    ...(encoded.status !== 204 && { "Content-Length": String(body.length) }),
  });
  response.end(body);
}

async function stream(response: ServerResponse, encoded: Encoded, sizeBytes: number | null): Promise<void> {
  const length =
    sizeBytes === null ? { "Content-Encoding": "gzip" } : { "Content-Length": String(sizeBytes) };
  response.writeHead(encoded.status, { ...encoded.headers, ...length });
  const sink = sizeBytes === null ? createGzip({ level: 1 }) : response;
  if (sink !== response) sink.pipe(response);
  for (const piece of encoded.pieces) {
    if (response.destroyed) return;
    if (!sink.write(piece)) await drained(sink, response);
  }
  sink.end();
}

/** Resolves when `sink` accepts more data, or when the client has gone away. */
export function drained(sink: NodeJS.WritableStream, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      sink.removeListener("drain", done);
      response.removeListener("close", done);
      resolve();
    };
    sink.once("drain", done);
    response.once("close", done);
  });
}
