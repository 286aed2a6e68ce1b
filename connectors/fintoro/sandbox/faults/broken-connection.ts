import type { ServerResponse } from "node:http";
import { createGzip } from "node:zlib";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Encoded } from "../http/encode.ts";
import { drained } from "../http/send.ts";
import type { ActiveFaults, Moment } from "./fault.ts";

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
  const reset = faults.get("reset");
  const hang = faults.get("hang");
  const drip = faults.get("drip");
  const huge = faults.get("huge_body");
  const bomb = faults.get("gzip_bomb");
  if (reset) {
    await sendUntil(response, encoded, reset.when ?? "before");
    response.destroy();
  } else if (hang) await sendUntil(response, encoded, hang.when ?? "before");
  else if (drip) await sendSlowly(response, encoded, drip.chunkBytes ?? 16, drip.everyMs ?? 50, clock);
  else if (huge) await sendSpaces(response, response, encoded, huge.sizeBytes);
  else if (bomb) await sendCompressedSpaces(response, encoded, bomb.sizeBytes);
  else return false;
  return true;
}

function writeHead(response: ServerResponse, encoded: Encoded): Buffer {
  const body = Buffer.concat(encoded.pieces);
  response.writeHead(encoded.status, { ...encoded.headers, "Content-Length": String(body.length) });
  return body;
}

async function sendUntil(response: ServerResponse, encoded: Encoded, when: Moment): Promise<void> {
  if (when === "before") return;
  const body = writeHead(response, encoded);
  response.flushHeaders();
  await new Promise<void>((resolve) => {
    if (when === "headers") setImmediate(resolve);
    else response.write(body.subarray(0, Math.max(1, body.length >> 1)), () => setImmediate(resolve));
  });
}

async function sendSlowly(
  response: ServerResponse,
  encoded: Encoded,
  chunkBytes: number,
  everyMs: number,
  clock: Clock,
): Promise<void> {
  const body = writeHead(response, encoded);
  for (let at = 0; at < body.length && !response.destroyed; at += chunkBytes) {
    response.write(body.subarray(at, at + chunkBytes));
    await clock.sleep(everyMs);
  }
  response.end();
}

async function sendCompressedSpaces(response: ServerResponse, encoded: Encoded, sizeBytes: number) {
  const sink = createGzip({ level: 9 });
  sink.pipe(response);
  const headers = { ...encoded.headers, "Content-Encoding": "gzip" };
  await sendSpaces(response, sink, { ...encoded, headers }, sizeBytes);
}

/** Valid JSON of any size: one long text of spaces. */
async function sendSpaces(
  response: ServerResponse,
  sink: NodeJS.WritableStream,
  encoded: Encoded,
  sizeBytes: number,
): Promise<void> {
  response.writeHead(encoded.status, encoded.headers);
  const block = Buffer.alloc(65_536, " ");
  sink.write('{"data":[{"id":1,"name":"');
  for (let left = sizeBytes; left > 0 && !response.destroyed; left -= block.length) {
    if (!sink.write(block.subarray(0, Math.min(left, block.length)))) await drained(sink, response);
  }
  sink.end('"}]}');
}
