import type { ServerResponse } from "node:http";
import { createGzip } from "node:zlib";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Encoded } from "../http/encode.ts";
import type { Moment } from "./fault.ts";
import type { Struck } from "./fault-plan.ts";

/**
 * Answers that never arrive whole: connections that break, hang, drip or never end.
 * True when the fault took the answer over, so that nobody else writes it.
 */
export async function broken(
  response: ServerResponse,
  encoded: Encoded,
  struck: Struck,
  clock: Clock,
): Promise<boolean> {
  const reset = struck.get("reset");
  const hang = struck.get("hang");
  const drip = struck.get("drip");
  const huge = struck.get("huge_body");
  const bomb = struck.get("gzip_bomb");
  if (reset) await stopAt(response, encoded, reset.when ?? "before", () => response.destroy());
  else if (hang) await stopAt(response, encoded, hang.when ?? "before", () => undefined);
  else if (drip) await dripOut(response, encoded, drip.chunkBytes ?? 16, drip.everyMs ?? 50, clock);
  else if (huge) await pour(response, response, encoded, huge.sizeBytes);
  else if (bomb) await explode(response, encoded, bomb.sizeBytes);
  else return false;
  return true;
}

/** Writes as much as the moment allows, then does what is left to do. */
function stopAt(response: ServerResponse, encoded: Encoded, when: Moment, then: () => void): Promise<void> {
  if (when === "before") {
    then();
    return Promise.resolve();
  }
  const body = Buffer.concat(encoded.pieces);
  response.writeHead(encoded.status, { ...encoded.headers, "Content-Length": String(body.length) });
  response.flushHeaders();
  return new Promise((resolve) => {
    const finish = () => {
      then();
      resolve();
    };
    if (when === "headers") setImmediate(finish);
    else response.write(body.subarray(0, Math.max(1, body.length >> 1)), () => setImmediate(finish));
  });
}

async function dripOut(
  response: ServerResponse,
  encoded: Encoded,
  chunkBytes: number,
  everyMs: number,
  clock: Clock,
): Promise<void> {
  const body = Buffer.concat(encoded.pieces);
  response.writeHead(encoded.status, { ...encoded.headers, "Content-Length": String(body.length) });
  for (let at = 0; at < body.length && !response.destroyed; at += chunkBytes) {
    response.write(body.subarray(at, at + chunkBytes));
    await clock.sleep(everyMs);
  }
  response.end();
}

async function explode(response: ServerResponse, encoded: Encoded, sizeBytes: number): Promise<void> {
  const sink = createGzip({ level: 9 });
  sink.pipe(response);
  await pour(
    response,
    sink,
    { ...encoded, headers: { ...encoded.headers, "Content-Encoding": "gzip" } },
    sizeBytes,
  );
}

/** Well-formed JSON of any size: one long text of spaces. */
async function pour(
  response: ServerResponse,
  sink: NodeJS.WritableStream,
  encoded: Encoded,
  sizeBytes: number,
): Promise<void> {
  response.writeHead(encoded.status, encoded.headers);
  const block = Buffer.alloc(65_536, " ");
  sink.write('{"data":[{"id":1,"name":"');
  for (let left = sizeBytes; left > 0 && !response.destroyed; left -= block.length) {
    if (!sink.write(block.subarray(0, Math.min(left, block.length)))) await roomIn(sink, response);
  }
  sink.end('"}]}');
}

function roomIn(sink: NodeJS.WritableStream, response: ServerResponse): Promise<void> {
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
