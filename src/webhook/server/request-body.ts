import type { IncomingMessage } from "node:http";

/** The bytes of a body, or why it was not read to its end. */
export type BodyResult = Buffer | "large" | "slow" | "gone" | "full";

/** Reads the raw bytes of a request's body; calls `done` exactly once. */
export type BodyReader = (request: IncomingMessage, done: (result: BodyResult) => void) => void;

/** Limits for bodies of requests. */
export interface BodyLimits {
  /** Of one body. */
  readonly bodyBytes: number;
  /** Of all bodies being read. */
  readonly bodiesBytes: number;
  /** For a whole body: sending slowly gives no more time than sending nothing. */
  readonly bodyDeadlineMs: number;
}

/** Creates a reader whose bodies share one limit of memory. */
export function createBodyReader({ bodyBytes, bodiesBytes, bodyDeadlineMs }: BodyLimits): BodyReader {
  let freeBytes = bodiesBytes;
  return (request, done) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    let over = false;
    const end = (result: BodyResult) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      freeBytes += sizeBytes;
      request.removeListener("data", onData);
      done(result);
    };
    const onData = (chunk: Buffer) => {
      if (sizeBytes + chunk.length > bodyBytes) {
        end("large");
      } else if (chunk.length > freeBytes) {
        end("full");
      } else {
        freeBytes -= chunk.length;
        sizeBytes += chunk.length;
        chunks.push(chunk);
      }
    };
    const timer = setTimeout(() => end("slow"), bodyDeadlineMs);
    request.on("data", onData);
    request.once("end", () => end(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once("close", () => end("gone"));
    request.on("error", () => end("gone"));
  };
}
