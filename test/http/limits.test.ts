import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { HttpOptions } from "../../src/http/http-transport.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { get } from "../support/http/http-client.ts";
import { rejectionOf } from "../support/errors.ts";
import { json, jsonHead, rawServiceWith, serviceWith, type Answering } from "../support/http/http.ts";

/** Writes until the reader has gone or the size is reached; says how much it got rid of. */
async function pour(answer: Writable, sizeBytes: number): Promise<number> {
  let writtenBytes = 0;
  const pieces = function* () {
    for (const piece = Buffer.alloc(65_536, 32); writtenBytes < sizeBytes; writtenBytes += piece.length)
      yield piece;
  };
  await pipeline(pieces, answer).catch(() => undefined);
  return writtenBytes;
}

const serviceOnce = (options: Partial<HttpOptions>, answering: Answering) =>
  serviceWith(answering, { attempts: 1, ...options });

const packedHead = { ...jsonHead, "content-encoding": "gzip" };
const sending = (packed: Buffer) => (answer: ServerResponse) =>
  void answer.writeHead(200, packedHead).end(packed);

describe("the deadline covers the whole attempt", () => {
  // Fault: network | no answer at all | a server in the service's place | ended at the deadline; the permit counts as lost
  test("a service that never answers", async () => {
    const { http, rateLimiter } = await serviceOnce({ timeoutMs: 60 }, () => undefined);
    expect(await rejectionOf(http.send(get("/x")))).toMatchObject({
      kind: "network",
      message: "GET /x: no complete answer within 60 ms",
    });
    expect([rateLimiter.open(), rateLimiter.lost(), rateLimiter.mayArrive()]).toEqual([0, 1, 1]);
  });

  // Fault: network | a connection that is accepted and then silent | a raw server in the service's place | ended at the deadline; the next attempt uses a new connection
  test("a connection that is accepted and then silent (half open)", async () => {
    const { service, http } = await rawServiceWith(() => undefined, { timeoutMs: 60, attempts: 2 });
    await expect(http.send(get("/x"))).rejects.toThrow("no complete answer within 60 ms");
    expect(service.connections()).toBe(2);
  });

  // Fault: network | a body that drips for ever, each chunk in time | a server in the service's place | ended at the deadline of the whole attempt, and the connection closed
  test("a body that never ends, though each chunk is in time", async () => {
    let left = false;
    const { http, rateLimiter } = await serviceOnce({ timeoutMs: 1_000 }, (answer) => {
      answer.writeHead(200, jsonHead);
      const drip = setInterval(() => answer.write(" "), 5);
      answer.on("close", () => {
        clearInterval(drip);
        left = true;
      });
    });
    await expect(http.send(get("/x"))).rejects.toThrow("no complete answer within 1000 ms");
    await expect.poll(() => left).toBe(true);
    // On a busy machine the head may come after the deadline.
    expect([rateLimiter.open(), rateLimiter.lost() + rateLimiter.reports.length]).toEqual([0, 1]);
  });

  // Fault: network | a compressed body that stalls | a server in the service's place | ended at the deadline
  test("a compressed body that stalls", async () => {
    const { http } = await serviceOnce({ timeoutMs: 60 }, (answer) => {
      answer.writeHead(200, packedHead);
      answer.write(gzipSync("x".repeat(5_000)).subarray(0, 20));
    });
    await expect(http.send(get("/x"))).rejects.toThrow("no complete answer within 60 ms");
  });

  test("ends with the attempt, whatever its outcome: no timer is left", async () => {
    const clock = new DrivenClock();
    const { http } = await serviceOnce({ clock }, (answer, _, index) =>
      json(answer, {}, [200, 404, 503][index]),
    );
    for (let i = 0; i < 3; i++) await http.send(get("/x")).catch(() => undefined);
    expect(clock.sleeping).toBe(0);
  });
});

describe("no answer is larger than allowed", () => {
  // Fault: service | a Content-Length over the cap | a server in the service's place | refused without waiting for the body
  test("a Content-Length over the cap is refused without waiting for the body", async () => {
    const { http } = await serviceOnce({ maxResponseBytes: 1_000_000 }, (answer) => {
      answer.writeHead(200, { ...jsonHead, "content-length": "50000000" });
      answer.flushHeaders();
    });
    expect(await rejectionOf(http.send(get("/x")))).toMatchObject({
      kind: "protocol",
      retryable: false,
      message: "GET /x: the answer is larger than 1000000 bytes",
    });
  });

  // Fault: service | a body without an end | a server in the service's place | abandoned at the cap
  test("an endless stream is abandoned at the cap", async () => {
    let poured = Promise.resolve(0);
    const { http } = await serviceOnce({ maxResponseBytes: 1_000_000 }, (answer) => {
      answer.writeHead(200, jsonHead);
      poured = pour(answer, 300_000_000);
    });
    await expect(http.send(get("/x"))).rejects.toThrow("larger than 1000000 bytes");
    expect(await poured).toBeLessThan(20_000_000);
  });

  // Fault: service | a gzip bomb of 100 MB | a server in the service's place | stopped at the cap, within 60 MB of memory
  test("a gzip bomb stops at the cap, not at its end", async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    expect(bomb.length).toBeLessThan(120_000);
    const { http } = await serviceOnce({ maxResponseBytes: 1_000_000 }, sending(bomb));
    const beforeBytes = process.memoryUsage().rss;
    await expect(http.send(get("/x"))).rejects.toThrow("larger than 1000000 bytes");
    expect(process.memoryUsage().rss - beforeBytes).toBeLessThan(60_000_000);
  });

  test("the bytes on the wire have the same cap as the content", async () => {
    const noise = Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 251));
    const packed = gzipSync(noise, { level: 0 });
    const { http } = await serviceOnce({ maxResponseBytes: 20_000 }, sending(packed));
    await expect(http.send(get("/x"))).rejects.toThrow("larger than 20000 bytes");
  });
});

/** The most memory in use while the work was done, beyond what was in use before. */
async function peakDuring(work: () => Promise<unknown>): Promise<number> {
  const beforeBytes = process.memoryUsage().rss;
  let peakBytes = beforeBytes;
  const look = () => (peakBytes = Math.max(peakBytes, process.memoryUsage().rss));
  const watch = setInterval(look, 5);
  await work();
  look();
  clearInterval(watch);
  return peakBytes - beforeBytes;
}

describe("a large answer is held once", () => {
  const sizeBytes = 104_857_600;
  test("150 MB are read into one buffer of that size", async () => {
    const total = 150 * 1_048_576;
    const limits = { maxResponseBytes: 400_000_000, timeoutMs: 60_000 };
    const { http } = await serviceOnce(limits, (answer) => {
      answer.writeHead(200, { ...jsonHead, "content-length": String(total) });
      void pour(answer, total);
    });
    const peakBytes = await peakDuring(async () => {
      const { body } = await http.send(get("/x"));
      expect(body).toHaveLength(total);
      expect([body[0], body[total - 1]]).toEqual([32, 32]);
    });
    // Chunks that are not collected yet may come on top: twice as much would be a second copy.
    expect(peakBytes).toBeLessThan(total * 1.6);
  });

  test("also without a Content-Length, compressed", async () => {
    const { http } = await serviceOnce({ timeoutMs: 60_000 }, (answer) => {
      answer.writeHead(200, packedHead);
      const gzip = createGzip({ level: 1 });
      gzip.pipe(answer);
      void pour(gzip, sizeBytes);
    });
    const peakBytes = await peakDuring(async () => {
      expect((await http.send(get("/x"))).body).toHaveLength(sizeBytes);
    });
    expect(peakBytes).toBeLessThan(sizeBytes * 2);
  });
});
