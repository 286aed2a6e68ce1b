import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { bareAnswer } from "./response.ts";

const statuses: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "the headers are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request took too long"],
};

const noTunnel = "this is no proxy";
const usual = [400, "this is no HTTP request"] as const;

/**
 * What is no HTTP gets an answer, and its connection ends. A request that came whole before it on the same
 * connection is answered first: an answer out of order would be taken for its own.
 */
export class Unanswered {
  private readonly latest = new WeakMap<Socket, ServerResponse>();

  /** A request came whole. */
  note({ socket }: IncomingMessage, response: ServerResponse): void {
    this.latest.set(socket, response);
  }

  onceAnswered(socket: Socket, step: () => void): void {
    const response = this.latest.get(socket);
    if (response && !response.writableFinished) response.once("close", step);
    else step();
  }
}

export function answerBroken(
  server: Server,
  unanswered: Unanswered,
  refused: (status: number, why: string) => void,
): void {
  const broken = new WeakSet<Socket>();
  server.on("clientError", (error: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    if (broken.has(socket)) return;
    broken.add(socket);
    const { code = "" } = error;
    // The sender itself has ended in the middle: where a delivery is lost by it, that is told elsewhere.
    if (code === "ECONNRESET" || code === "HPE_INVALID_EOF_STATE" || !socket.writable) {
      unanswered.onceAnswered(socket, () => socket.destroy());
      return;
    }
    const [status, why] = statuses[code] ?? usual;
    refused(status, why);
    unanswered.onceAnswered(socket, () => socket.end(bareAnswer(status, why)));
  });
  server.on("connect", (_request, duplex) => {
    refused(405, noTunnel);
    duplex.end(bareAnswer(405, noTunnel));
  });
}
