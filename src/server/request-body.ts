import type { IncomingMessage } from "node:http";
import { areTooShort } from "./response.ts";

export type BodyResult = Buffer | "large" | "slow" | "gone" | "full";

/** Reads the raw bytes of a request's body; calls `done` exactly once. */
export type BodyReader = (request: IncomingMessage, done: (result: BodyResult) => void) => void;

export const bodyLimits = {
  bodyBytes: 256_000,
  bodiesBytes: 32_000_000,
  /** For a whole body: sending slowly gives no more time than sending nothing. */
  bodyDeadlineMs: 10_000,
};

/**
 * Creates a reader whose bodies share one limit of memory. Where it is reached, the body that has been read for
 * longest ends as `full`: who sends slowly keeps no other sender out.
 */
export function createBodyReader(limits: typeof bodyLimits): BodyReader {
  const { bodyBytes, bodiesBytes, bodyDeadlineMs } = limits;
  let freeBytes = bodiesBytes;
  /**
   * Ends each body of which a part has come, the oldest first. One that comes whole is never in here: what leaves a set
   * that changes with each delivery stays in memory until the next large collection.
   */
  const reading = new Set<(result: BodyResult) => void>();
  const makeRoom = (sizeBytes: number) => {
    for (const endOldest of reading) {
      if (sizeBytes <= freeBytes) return;
      endOldest("full");
    }
  };
  return (request, done) => {
    const chunks: Buffer[] = [];
    const expectedBytes = Number(request.headers["content-length"] ?? Infinity);
    let sizeBytes = 0;
    let over = false;
    const end = (result: BodyResult) => {
      if (over) return;
      over = true;
      reading.delete(end);
      clearTimeout(timer);
      freeBytes += sizeBytes;
      if (typeof result === "string") request.removeListener("data", onData);
      done(result);
    };
    const onData = (chunk: Buffer) => {
      if (sizeBytes + chunk.length > bodyBytes || areTooShort(chunks.length, sizeBytes)) return end("large");
      if (chunk.length > freeBytes) makeRoom(chunk.length);
      if (over) return;
      if (chunk.length > freeBytes) return end("full");
      freeBytes -= chunk.length;
      sizeBytes += chunk.length;
      chunks.push(chunk);
      if (sizeBytes < expectedBytes) reading.add(end);
    };
    let timer: NodeJS.Timeout | undefined;
    // Most bodies come in one packet with their header, and need none.
    setImmediate(() => {
      if (!over) timer = setTimeout(() => end("slow"), bodyDeadlineMs);
    });
    request.on("data", onData);
    request.on("end", () => end(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on("close", () => end("gone"));
    request.on("error", () => end("gone"));
  };
}
