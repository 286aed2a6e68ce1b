import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import type { Encoded } from "./encode.ts";

const zip = promisify(gzip);

/** Below this a compressed body is not worth it; above the second it is compressed as it goes. */
const worthBytes = 4_096;
const streamBytes = 8_000_000;

/** Sends the answer: one piece while that is reasonable, in turn with the reader when it is huge. */
export async function send(
  response: ServerResponse,
  encoded: Encoded,
  acceptEncoding: string,
): Promise<void> {
  const zipped = encoded.sizeBytes >= worthBytes && /\bgzip\b/.test(acceptEncoding) && isText(encoded);
  if (encoded.sizeBytes > streamBytes) {
    await sendLong(response, encoded, zipped);
    return;
  }
  const whole =
    encoded.pieces.length === 1 && encoded.pieces[0] ? encoded.pieces[0] : Buffer.concat(encoded.pieces);
  const body = zipped ? await zip(whole, { level: 4 }) : whole;
  const headers = {
    ...encoded.headers,
    ...(zipped && { "Content-Encoding": "gzip", Vary: "Accept-Encoding" }),
  };
  if (encoded.status !== 204) Object.assign(headers, { "Content-Length": String(body.length) });
  response.writeHead(encoded.status, headers);
  response.end(body);
}

function isText({ headers }: Encoded): boolean {
  return /json|text/.test(headers["Content-Type"] ?? "");
}

async function sendLong(response: ServerResponse, encoded: Encoded, zipped: boolean): Promise<void> {
  const length = zipped ? { "Content-Encoding": "gzip" } : { "Content-Length": String(encoded.sizeBytes) };
  response.writeHead(encoded.status, { ...encoded.headers, ...length });
  const sink = zipped ? createGzip({ level: 1 }) : response;
  if (sink !== response) sink.pipe(response);
  for (const piece of encoded.pieces) {
    if (response.destroyed) return;
    if (!sink.write(piece)) await drained(sink, response);
  }
  sink.end();
}

/** Or the reader went away. */
function drained(sink: NodeJS.WritableStream, response: ServerResponse): Promise<void> {
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
