import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Encoded } from "../http/service-answer.ts";
import type { ActiveFaults, FaultDetails, Moment } from "./service-fault.ts";

/** An answer, and where it is to be sent. */
interface Reply {
  readonly response: ServerResponse;
  readonly encoded: Encoded;
}

/**
 * Applies faults whose answers never arrive whole: connections that break, hang, drip or never end.
 *
 * @returns true when the fault has sent the answer, so that nobody else may
 */
export async function breakConnection(reply: Reply, faults: ActiveFaults, clock: Clock): Promise<boolean> {
  const reset = faults.get("reset");
  const hang = faults.get("hang");
  const drip = faults.get("drip");
  const huge = faults.get("huge_body");
  const bomb = faults.get("gzip_bomb");
  if (reset) {
    await sendUntil(reply, reset.when ?? "before");
    reply.response.destroy();
  } else if (hang) await sendUntil(reply, hang.when ?? "before");
  else if (drip) await sendSlowly(reply, drip, clock);
  else if (huge) await sendSpaces(reply, huge.sizeBytes, false);
  else if (bomb) await sendSpaces(reply, bomb.sizeBytes, true);
  else return false;
  return true;
}

function writeHead({ response, encoded: { status, headers, body } }: Reply): void {
  response.writeHead(status, { ...headers, "Content-Length": String(body.length) });
}

async function sendUntil(reply: Reply, when: Moment): Promise<void> {
  if (when === "before") return;
  const { response, encoded } = reply;
  writeHead(reply);
  response.flushHeaders();
  const half = encoded.body.subarray(0, Math.max(1, encoded.body.length >> 1));
  await new Promise<void>((resolve) => {
    if (when === "headers") setImmediate(resolve);
    else response.write(half, () => setImmediate(resolve));
  });
}

async function sendSlowly(reply: Reply, drip: FaultDetails["drip"], clock: Clock): Promise<void> {
  const { chunkBytes = 16, everyMs = 50 } = drip;
  const { response, encoded } = reply;
  writeHead(reply);
  for (let at = 0; at < encoded.body.length && !response.destroyed; at += chunkBytes) {
    response.write(encoded.body.subarray(at, at + chunkBytes));
    await clock.sleep(everyMs);
  }
  response.end();
}

/** Valid JSON of any size: one long text of spaces, made no faster than the client reads it. */
async function sendSpaces({ response, encoded }: Reply, sizeBytes: number, zipped: boolean): Promise<void> {
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
