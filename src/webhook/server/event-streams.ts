import type { ServerResponse } from "node:http";
import type { Connections } from "./connections.ts";

/** Server-sent events for one reader. */
export interface EventStream {
  /** Gets what sends a message, whole with its empty line; gives the end of it. */
  readonly follow: (send: (message: string) => void) => () => void;
}

/** Limits of streams. */
export const streamLimits = {
  /** Open at the same time: a part of all connections. */
  streams: 64,
  /** Then a stream ends, and its reader connects again: none outlives its reader for long. */
  streamMs: 10 * 60_000,
  heartbeatMs: 15_000,
  /** Waiting for a reader that does not read; beyond, or where a heartbeat finds it unread twice, it is dropped. */
  unreadBytes: 1_000_000,
};

const retryMs = 3_000;

/**
 * The streams of a server.
 *
 * Guarantee: each one ends: with its reader, when it is not read, after its time, or with `endAll`. Their number and what
 * waits in each of them are bounded.
 */
export class EventStreams {
  private readonly connections: Pick<Connections, "trackStream">;
  private readonly limits: typeof streamLimits;
  private readonly ends = new Set<() => void>();

  constructor(connections: Pick<Connections, "trackStream">, limits: typeof streamLimits) {
    this.connections = connections;
    this.limits = limits;
  }

  get isFull(): boolean {
    return this.ends.size >= this.limits.streams;
  }

  /** The caller has looked whether there is room. */
  open(response: ServerResponse, { follow }: EventStream): void {
    const { streamMs, heartbeatMs, unreadBytes } = this.limits;
    this.connections.trackStream(response);
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Accel-Buffering": "no",
      "X-Content-Type-Options": "nosniff",
    });
    let wasUnread = false;
    const send = (message: string) => {
      if (response.writableEnded) return;
      response.write(message);
      if (response.writableLength > unreadBytes) response.destroy();
    };
    send(`retry: ${retryMs}\n\n`);
    const heartbeat = setInterval(() => {
      const isUnread = response.writableLength > 0;
      if (isUnread && wasUnread) response.destroy();
      else send(": still here\n\n");
      wasUnread = isUnread;
    }, heartbeatMs);
    const end = () => response.end();
    const lifetime = setTimeout(end, streamMs);
    const stop = follow(send);
    this.ends.add(end);
    response.once("close", () => {
      clearInterval(heartbeat);
      clearTimeout(lifetime);
      this.ends.delete(end);
      stop();
    });
  }

  /** Ends all of them: their readers connect again later. */
  endAll(): void {
    for (const end of this.ends) end();
  }
}
