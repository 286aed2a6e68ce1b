import type { IncomingMessage } from "node:http";

export type BodyEnd = Buffer | "large" | "slow" | "gone" | "full";

/** Bytes that all bodies on their way may hold together. */
export class BodyRoom {
  private leftBytes: number;

  constructor(mostBytes: number) {
    this.leftBytes = mostBytes;
  }

  take(sizeBytes: number): boolean {
    if (sizeBytes > this.leftBytes) return false;
    this.leftBytes -= sizeBytes;
    return true;
  }

  give(sizeBytes: number): void {
    this.leftBytes += sizeBytes;
  }
}

export interface BodyLimits {
  readonly mostBytes: number;
  /** For the whole body: a slow drip has no more time than silence. */
  readonly deadlineMs: number;
  readonly room: BodyRoom;
}

/** The raw bytes; `ended` is called once. */
export function readBody(request: IncomingMessage, limits: BodyLimits, ended: (end: BodyEnd) => void): void {
  const { mostBytes, deadlineMs, room } = limits;
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let over = false;
  const end = (how: BodyEnd) => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    room.give(sizeBytes);
    request.removeListener("data", onData);
    ended(how);
  };
  const onData = (chunk: Buffer) => {
    if (sizeBytes + chunk.length > mostBytes) {
      end("large");
    } else if (room.take(chunk.length)) {
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
