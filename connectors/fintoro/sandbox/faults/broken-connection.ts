import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Encoded } from "../http/service-answer.ts";
import type { ActiveFaults, Fault } from "./service-fault.ts";

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
  const [reset, hang, drip] = [faults.get("reset"), faults.get("hang"), faults.get("drip")];
  const [huge, bomb] = [faults.get("huge_body"), faults.get("gzip_bomb")];
  const ends = reset ?? hang;
  if (ends) await sendUntil(response, encoded, ends);
  else if (drip) await sendSlowly(response, encoded, drip, clock);
  else if (huge ?? bomb) await sendSpaces(response, encoded, (huge ?? bomb)?.sizeBytes ?? 0, !huge);
  if (reset) response.destroy();
  return (ends ?? drip ?? huge ?? bomb) !== undefined;
}

function writeHead(response: ServerResponse, { status, headers, body }: Encoded): void {
  response.writeHead(status, { ...headers, "Content-Length": String(body.length) });
}

async function sendUntil(
  response: ServerResponse,
  encoded: Encoded,
  { when = "before" }: Fault,
): Promise<void> {
  if (when === "before") return;
  writeHead(response, encoded);
  response.flushHeaders();
  const half = encoded.body.subarray(0, Math.max(1, encoded.body.length >> 1));
  await new Promise<void>((resolve) => {
    if (when === "headers") setImmediate(resolve);
    else response.write(half, () => setImmediate(resolve));
  });
}

async function sendSlowly(
  response: ServerResponse,
  encoded: Encoded,
  { chunkBytes = 16, everyMs = 50 }: Fault,
  clock: Clock,
): Promise<void> {
  writeHead(response, encoded);
  for (let at = 0; at < encoded.body.length && !response.destroyed; at += chunkBytes) {
    response.write(encoded.body.subarray(at, at + chunkBytes));
    await clock.sleep(everyMs);
  }
  response.end();
}

/** Valid JSON of any size: one long text of spaces, made no faster than the client reads it. */
async function sendSpaces(
  response: ServerResponse,
  { status, headers }: Encoded,
  sizeBytes: number,
  zipped: boolean,
) {
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
