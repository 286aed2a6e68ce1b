import type { IncomingMessage } from "node:http";

/** The bytes of a body, or why it was not read to its end. */
export type BodyResult = Buffer | "large" | "slow" | "gone" | "full";

/** Memory that all bodies being read may hold together. */
export class BodyMemory {
  private freeBytes: number;

  constructor(limitBytes: number) {
    this.freeBytes = limitBytes;
  }

  /** False: not so much is free, and nothing was taken. */
  acquire(sizeBytes: number): boolean {
    if (sizeBytes > this.freeBytes) return false;
    this.freeBytes -= sizeBytes;
    return true;
  }

  release(sizeBytes: number): void {
    this.freeBytes += sizeBytes;
  }
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** For the whole body: sending slowly gives no more time than sending nothing. */
  readonly deadlineMs: number;
  readonly memory: BodyMemory;
}

/** Reads the raw bytes of a request's body; calls `done` exactly once. */
export function readRequestBody(
  request: IncomingMessage,
  { maxBytes, deadlineMs, memory }: BodyLimits,
  done: (result: BodyResult) => void,
): void {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let over = false;
  const end = (result: BodyResult) => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    memory.release(sizeBytes);
    request.removeListener("data", onData);
    done(result);
  };
  const onData = (chunk: Buffer) => {
    if (sizeBytes + chunk.length > maxBytes) {
      end("large");
    } else if (memory.acquire(chunk.length)) {
      sizeBytes += chunk.length;
      chunks.push(chunk);
    } else {
      end("full");
    }
  };
  const timer = setTimeout(() => end("slow"), deadlineMs);
  request.on("data", onData);
  request.once("end", () => end(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  request.once("close", () => end("gone"));
  request.on("error", () => end("gone"));
}
