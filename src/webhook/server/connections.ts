import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { rawRefusal } from "./response.ts";

const statuses: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "the headers are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request took too long"],
};
const invalidRequest = [400, "not an HTTP request"] as const;
const noTunnel = [405, "this server is no proxy"] as const;

/**
 * The server's connections.
 *
 * Guarantee: bytes that are no HTTP request get a response, and their connection ends; complete requests before
 * them on the same connection are answered first, so that responses keep their order. A sender that does not end
 * its side after such a response is cut off after `lingerMs`. `close` ends every connection within its deadline,
 * those that never sent a byte and those that Node no longer counts (CONNECT) included.
 */
export class Connections {
  private readonly server: Server;
  private readonly refused: (status: number, why: string) => void;
  private readonly lingerMs: number;
  private readonly open = new Set<Socket>();
  private readonly latest = new WeakMap<Socket, ServerResponse>();
  private readonly invalid = new WeakSet<Socket>();

  /** `refused` is called for each request that is answered here. */
  constructor(server: Server, lingerMs: number, refused: (status: number, why: string) => void) {
    this.server = server;
    this.lingerMs = lingerMs;
    this.refused = refused;
    server.on("connection", (socket) => {
      this.open.add(socket);
      socket.once("close", () => this.open.delete(socket));
    });
    server.on("clientError", (error: NodeJS.ErrnoException, duplex) =>
      this.answerInvalid(error.code ?? "", duplex as Socket),
    );
    server.on("connect", (_request, duplex) => {
      // Node takes its own listeners off such a socket: without one, a reset would end the process.
      duplex.on("error", () => undefined);
      this.refuseRaw(duplex as Socket, ...noTunnel);
    });
  }

  /** Remembers a complete request's response: nothing is written on the connection before it. */
  track(response: ServerResponse): void {
    this.latest.set(response.req.socket, response);
  }

  /** Stops accepting, waits for responses on their way, and after `graceMs` ends what is left. */
  async close(graceMs: number): Promise<void> {
    const { server } = this;
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    // Node does not count connections that never sent a byte as idle.
    for (const socket of this.open) if (socket.bytesRead === 0) socket.destroy();
    const timer = setTimeout(() => {
      for (const socket of this.open) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(timer);
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
    this.refuseRaw(socket, status, why);
  }

  private refuseRaw(socket: Socket, status: number, why: string): void {
    this.refused(status, why);
    this.afterResponse(socket, () => {
      socket.end(rawRefusal(status, why));
      const timer = setTimeout(() => socket.destroy(), this.lingerMs);
      socket.once("close", () => clearTimeout(timer));
    });
  }

  /** The body of a request right before ends later in this turn. */
  private afterResponse(socket: Socket, step: () => void): void {
    setImmediate(() => {
      const response = this.latest.get(socket);
      if (response && !response.writableFinished) response.once("close", step);
      else step();
    });
  }
}
