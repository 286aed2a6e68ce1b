import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Encoded } from "../http/answer.ts";
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
  else if (huge) await sendSpaces(response, encoded, huge.sizeBytes, false);
  else if (bomb) await sendSpaces(response, encoded, bomb.sizeBytes, true);
  else return false;
  return true;
}

function writeHead(response: ServerResponse, { status, headers, body }: Encoded): void {
  response.writeHead(status, { ...headers, "Content-Length": String(body.length) });
}

async function sendUntil(response: ServerResponse, encoded: Encoded, when: Moment): Promise<void> {
  if (when === "before") return;
  const { body } = encoded;
  writeHead(response, encoded);
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
  const { body } = encoded;
  writeHead(response, encoded);
  for (let at = 0; at < body.length && !response.destroyed; at += chunkBytes) {
    response.write(body.subarray(at, at + chunkBytes));
    await clock.sleep(everyMs);
  }
  response.end();
}

/** Valid JSON of any size: one long text of spaces, made no faster than the client reads it. */
async function sendSpaces(
  response: ServerResponse,
  encoded: Encoded,
  sizeBytes: number,
  zipped: boolean,
): Promise<void> {
  const encoding = zipped ? { "Content-Encoding": "gzip" } : {};
  response.writeHead(encoded.status, { ...encoded.headers, ...encoding });
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
