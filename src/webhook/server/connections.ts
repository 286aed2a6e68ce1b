import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import { createRefusalLog, type RefusalLog } from "./delivery-log.ts";
import { rawRefusal } from "./response.ts";

/** Limits of connections. */
export const connectionLimits = {
  /** Open at the same time. */
  connections: 512,
  /** For the header of a request, and for the first byte of a connection. */
  headerDeadlineMs: 10_000,
  /** For reading a response: a sender that does not read gets no more time than this. */
  responseDeadlineMs: 30_000,
  /** From a refusal to the end of its connection, whatever the sender does. */
  lingerMs: 1_500,
  /** For the next request. */
  keepAliveMs: 75_000,
};

/** Counts connections; shared by the server, which adds to it, and the status, which shows it. */
export interface ConnectionCounts {
  /** Since the start: closed because too many were open, or because the sender did not read its response. */
  dropped: number;
}

/** What the connections work with. */
export interface ConnectionOptions {
  readonly limits: typeof connectionLimits;
  readonly counts: ConnectionCounts;
  readonly clock: Clock;
  readonly log: Log;
  /** Called for each request that is refused here. */
  readonly refused: (status: number, why: string) => void;
}

const statuses: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "the headers are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request took too long"],
};
const invalidRequest = [400, "not an HTTP request"] as const;
const noTunnel = [405, "this server is no proxy"] as const;
const dropLogEveryMs = 60_000;
/** Longest time between a deadline and its check. */
const checkEveryMs = 500;

interface Answering {
  readonly response: ServerResponse;
  readonly untilMs: number;
}

/**
 * The server's connections.
 *
 * Guarantee: each one ends, whatever its client does. Bytes that are no HTTP request get a response, unless complete
 * requests before them are still to be answered: those are answered, and nothing else. Where too many connections
 * are open, the one that has been without a complete request for longest is dropped, so that clients that hold
 * connections open keep no delivery out. `close` ends every connection within its deadline, those that never sent a
 * byte and those that Node no longer counts (CONNECT) included.
 */
export class Connections {
  private readonly server: Server;
  private readonly options: ConnectionOptions;
  private readonly logDrop: RefusalLog;
  private readonly open = new Set<Socket>();
  /** Without a complete request, the longest first. */
  private readonly waiting = new Set<Socket>();
  /** With complete requests, by the last of them; the one that ends first is first. */
  private readonly answering = new Map<Socket, Answering>();
  private readonly invalid = new WeakSet<Socket>();
  private readonly deadlines: NodeJS.Timeout;

  constructor(server: Server, options: ConnectionOptions) {
    this.server = server;
    this.options = options;
    this.logDrop = createRefusalLog(options.log, options.clock, dropLogEveryMs);
    this.deadlines = setInterval(() => this.dropUnread(), checkEveryMs).unref();
    server.on("connection", (socket) => this.accept(socket));
    server.on("clientError", (error: NodeJS.ErrnoException, duplex) =>
      this.answerInvalid(error.code ?? "", duplex as Socket),
    );
    server.on("connect", (_request, duplex) => {
      // Node takes its own listeners off such a socket: without one, a reset would end the process.
      duplex.on("error", () => undefined);
      this.options.refused(...noTunnel);
      this.afterResponse(duplex as Socket, () => this.end(duplex as Socket, rawRefusal(...noTunnel)));
    });
  }

  /** Remembers a complete request's response: nothing is written on the connection before it. */
  track(response: ServerResponse): void {
    const { socket } = response.req;
    if (!this.open.has(socket)) return;
    const untilMs = this.options.clock.monotonicMs() + this.options.limits.responseDeadlineMs;
    this.waiting.delete(socket);
    this.answering.delete(socket);
    this.answering.set(socket, { response, untilMs });
    response.on("close", () => this.answered(socket, response));
  }

  /** Stops accepting, waits for responses on their way, and after `graceMs` ends what is left. */
  async close(graceMs: number): Promise<void> {
    const { server } = this;
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    // Node does not count connections that never sent a byte as idle.
    for (const socket of this.waiting) if (socket.bytesRead === 0) socket.destroy();
    const late = Promise.withResolvers<void>();
    const timers = [
      setTimeout(() => this.open.forEach((socket) => socket.destroy()), graceMs),
      setTimeout(late.resolve, graceMs + checkEveryMs),
    ];
    await Promise.race([closed, late.promise]);
    timers.forEach(clearTimeout);
    clearInterval(this.deadlines);
  }

  private accept(socket: Socket): void {
    const { connections } = this.options.limits;
    if (this.open.size >= connections) {
      const [longest = socket] = this.waiting;
      this.drop(longest, `more than ${connections} connections are open`);
      if (longest === socket) return;
    }
    this.open.add(socket);
    this.waiting.add(socket);
    socket.once("close", () => this.forget(socket));
  }

  private answered(socket: Socket, response: ServerResponse): void {
    // Another request is being answered, or the connection is over.
    if (this.answering.get(socket)?.response !== response) return;
    this.answering.delete(socket);
    this.waiting.add(socket);
  }

  private forget(socket: Socket): void {
    this.open.delete(socket);
    this.waiting.delete(socket);
    this.answering.delete(socket);
  }

  private drop(socket: Socket, why: string): void {
    this.forget(socket);
    socket.destroy();
    this.options.counts.dropped++;
    this.logDrop(why, "a connection was dropped", { why, dropped: this.options.counts.dropped });
  }

  private dropUnread(): void {
    const nowMs = this.options.clock.monotonicMs();
    for (const [socket, { untilMs }] of this.answering) {
      if (nowMs < untilMs) return;
      this.drop(socket, "the client does not read its response");
    }
  }

  private answerInvalid(code: string, socket: Socket): void {
    if (this.invalid.has(socket)) return;
    this.invalid.add(socket);
    // The sender ended in the middle of a request; a delivery lost this way is counted where its body is read.
    if (code === "ECONNRESET" || code === "HPE_INVALID_EOF_STATE" || !socket.writable) {
      this.afterResponse(socket, () => socket.destroy());
      return;
    }
    const [status, why] = statuses[code] ?? invalidRequest;
    this.options.refused(status, why);
    // A client that has sent a whole request takes the first response for its own, and the last one, too.
    this.afterResponse(socket, (waited) => this.end(socket, waited ? "" : rawRefusal(status, why)));
  }

  private end(socket: Socket, bytes: string): void {
    socket.end(bytes);
    const timer = setTimeout(() => socket.destroy(), this.options.limits.lingerMs);
    socket.once("close", () => clearTimeout(timer));
  }

  /** Calls `step` when nothing is left to be answered. The body of a request right before ends later in this turn. */
  private afterResponse(socket: Socket, step: (waited: boolean) => void): void {
    const isAnswering = this.answering.has(socket);
    setImmediate(() => {
      const { response } = this.answering.get(socket) ?? {};
      if (response) response.once("close", () => step(true));
      else step(isAnswering);
    });
  }
}
