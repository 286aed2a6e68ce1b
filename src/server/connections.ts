import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { waitAtMost } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { createSeldomLog, type Log, type SeldomLog } from "../base/logger.ts";
import { rawRefusal, stopParsing } from "./response.ts";

export const connectionLimits = {
  connections: 512,
  /** For the header of a request, and for the first byte of a connection. */
  headerDeadlineMs: 10_000,
  /** For reading a response: a sender that does not read gets no more time than this. */
  responseDeadlineMs: 30_000,
  /** From a refusal to the end of its connection, whatever the sender does. */
  lingerMs: 1_500,
  keepAliveMs: 75_000,
  /** Requests of one connection that do not wait for responses. No sender of deliveries, and no proxy, has two. */
  unwaited: 8,
};

/** Counts connections; shared by the server, which adds to it, and the status, which shows it. */
export interface ConnectionCounts {
  /** Since the start: closed because too many were open, or because the sender did not wait for or read responses. */
  dropped: number;
}

interface ConnectionSettings {
  readonly limits: typeof connectionLimits;
  readonly counts: ConnectionCounts;
  readonly clock: Clock;
  readonly log: Log;
  readonly refused: (status: number, why: string) => void;
}

const statuses: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "the headers are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request took too long"],
};
const invalidRequest = [400, "not an HTTP request"] as const;
const noTunnel = [405, "this server is no proxy"] as const;
const dropLogEveryMs = 60_000;
const checkEveryMs = 500;

/**
 * One connection. What changes with each request stands in here: what leaves a map or set that changes so often stays
 * in memory until the next large collection.
 */
const openConnection = (waitsSince: number) => ({
  /** To the last complete request; null: there is none to be answered. */
  response: null as ServerResponse | null,
  /** Until when it has to be read, monotonic. */
  untilMs: Infinity,
  pending: 0,
  /** Requests that came together: in one turn of the event loop, or before earlier ones had their responses. */
  unwaited: 0,
  turn: -1,
  /** Counts on with each connection that begins to wait for its client: for a request, or to read a response. */
  waitsSince,
});

/**
 * The server's connections.
 *
 * Guarantee: each one ends, whatever its client does. Bytes that are no HTTP request get a response, unless complete
 * requests before them are still to be answered: those are answered, and nothing else. Where too many connections
 * are open, the one that has waited for its client for longest is dropped, so that clients that hold connections open
 * keep no delivery out. One that sends on and on without waiting for responses is dropped, too: others wait while
 * thousands of requests in one packet are worked on. `close` ends every connection within its deadline, those that
 * never sent a byte and those that Node no longer counts (CONNECT) included.
 */
export class Connections {
  private readonly server: Server;
  private readonly options: ConnectionSettings;
  private readonly logDrop: SeldomLog;
  private readonly open = new Map<Socket, ReturnType<typeof openConnection>>();
  private waits = 0;
  /** Turn of the event loop, as far as requests came in it. */
  private turn = 0;
  private turnEnd: NodeJS.Immediate | null = null;
  private readonly invalid = new WeakSet<Socket>();
  private readonly deadlines: NodeJS.Timeout;

  constructor(server: Server, options: ConnectionSettings) {
    this.server = server;
    this.options = options;
    this.logDrop = createSeldomLog(options.log, options.clock, dropLogEveryMs);
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
    const connection = this.open.get(socket);
    if (!connection) return;
    connection.response = response;
    connection.waitsSince = ++this.waits;
    connection.untilMs = this.options.clock.monotonicMs() + this.options.limits.responseDeadlineMs;
  }

  /** Is a request to be handled? Not if its connection was dropped, now or before: one that waits for no response. */
  takes(response: ServerResponse): boolean {
    const { socket } = response.req;
    const connection = this.open.get(socket);
    if (!connection) return false;
    if (connection.pending === 0 && connection.turn !== this.turn) connection.unwaited = 0;
    connection.turn = this.turn;
    this.turnEnd ??= setImmediate(() => {
      this.turn++;
      this.turnEnd = null;
    });
    const { unwaited } = this.options.limits;
    if (++connection.unwaited > unwaited) {
      this.drop(socket, `more than ${unwaited} requests came without waiting for responses`);
      stopParsing(socket);
      return false;
    }
    connection.pending++;
    response.on("close", () => {
      connection.pending--;
      // Otherwise another request is being answered.
      if (connection.response !== response) return;
      connection.response = null;
      connection.waitsSince = ++this.waits;
    });
    return true;
  }

  /** Stops accepting, waits for responses on their way, and after `graceMs` ends what is left. */
  async close(graceMs: number): Promise<void> {
    const { server } = this;
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    // Node does not count connections that never sent a byte as idle.
    for (const socket of this.open.keys()) if (socket.bytesRead === 0) socket.destroy();
    const ending = setTimeout(() => this.open.forEach((_, socket) => socket.destroy()), graceMs);
    await waitAtMost(graceMs + checkEveryMs, closed);
    clearTimeout(ending);
    clearInterval(this.deadlines);
  }

  private accept(socket: Socket): void {
    const { connections } = this.options.limits;
    if (this.open.size >= connections) {
      const longest = this.longestWaiting() ?? socket;
      this.drop(longest, `more than ${connections} connections are open`);
      if (longest === socket) return;
    }
    this.open.set(socket, openConnection(++this.waits));
    socket.once("close", () => this.open.delete(socket));
  }

  /**
   * The connection that has waited for its client for longest: without a complete request, or with a response that
   * is written and not read. Null: each is being answered.
   */
  private longestWaiting(): Socket | null {
    let longest: Socket | null = null;
    let since = Infinity;
    for (const [socket, { response, waitsSince }] of this.open) {
      if ((response !== null && !response.headersSent) || waitsSince > since) continue;
      [longest, since] = [socket, waitsSince];
    }
    return longest;
  }

  private drop(socket: Socket, why: string): void {
    this.open.delete(socket);
    socket.destroy();
    this.options.counts.dropped++;
    this.logDrop(why, "a connection was dropped", { why, dropped: this.options.counts.dropped });
  }

  private dropUnread(): void {
    const nowMs = this.options.clock.monotonicMs();
    for (const [socket, { response, untilMs }] of this.open)
      if (response !== null && nowMs >= untilMs) this.drop(socket, "the client does not read its response");
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
    const responseTo = () => this.open.get(socket)?.response ?? null;
    const isAnswering = responseTo() !== null;
    setImmediate(() => {
      const response = responseTo();
      if (response) response.once("close", () => step(true));
      else step(isAnswering);
    });
  }
}
