import type { Server } from "node:http";
import type { Socket } from "node:net";
import { bareAnswer } from "./listen-answer.ts";

const statuses: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "the headers are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request took too long"],
};

/**
 * What is no HTTP gets an answer, and its connection ends. Requests that came whole before it on the same
 * connection are answered first: an answer out of order would be taken for theirs.
 */
export function answerBroken(server: Server, refused: (status: number, why: string) => void): void {
  const unanswered = new WeakMap<Socket, number>();
  const doomed = new WeakMap<Socket, string>();
  const count = (socket: Socket, change: number) => {
    const left = (unanswered.get(socket) ?? 0) + change;
    unanswered.set(socket, left);
    return left;
  };
  server.on("request", (request, response) => {
    const { socket } = request;
    let isWhole = false;
    request.once("end", () => {
      isWhole = true;
      count(socket, 1);
    });
    response.once("close", () => {
      const words = doomed.get(socket);
      if (isWhole && count(socket, -1) === 0 && words !== undefined) socket.end(words);
    });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    if (doomed.has(socket)) return;
    const known = statuses[error.code ?? ""] ?? [400, "this is no HTTP request"];
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const [status, why] = known;
    refused(status, why);
    const words = bareAnswer(status, why);
    doomed.set(socket, words);
    if ((unanswered.get(socket) ?? 0) === 0) socket.end(words);
  });
}
