import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { HttpOptions } from "../../../src/http/http-transport.ts";
import { httpFor, lenientRateLimiter } from "./http-client.ts";
import { closeAll, listen } from "./loopback.ts";

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export type Answering = (answer: ServerResponse, asked: Asked, index: number) => void | Promise<void>;

/** A service on loopback that answers as each test writes it, and remembers what it was asked. */
export async function startService(answering: Answering, host?: string) {
  const asked: Asked[] = [];
  let connections = 0;
  const server = createServer((request, answer) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks) };
      asked.push(one);
      void answering(answer, one, asked.length - 1);
    });
  });
  server.on("connection", (socket) => {
    socket.setNoDelay(true);
    connections++;
  });
  const origin = await originOf(server, host);
  return {
    origin,
    baseUrl: `${origin}/api/v1`,
    asked: asked as readonly Asked[],
    connections: () => connections,
    close: () => closeAll(server),
  };
}

type Talk = (socket: Socket, index: number) => void;

/** A service that speaks bytes, not HTTP: for everything a proper server would not do. */
async function startRawService(talk: Talk) {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    talk(socket, sockets.push(socket) - 1);
  });
  const origin = await originOf(server);
  const close = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  return { baseUrl: `${origin}/api/v1`, connections: () => sockets.length, close };
}

async function originOf(server: Server, host = "127.0.0.1"): Promise<string> {
  const port = await listen(server, host);
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** A port that another server has until the test ends. */
export async function takenPort(): Promise<number> {
  return listen(untilTheEnd(createTcpServer()));
}

export const jsonHead = { "content-type": "application/json" };
const budget = { "x-ratelimit-limit": "120", "x-ratelimit-remaining": "100" };

export function json(answer: ServerResponse, content: unknown, status = 200, headers: object = {}): void {
  const usual = { ...jsonHead, ...budget, "x-request-id": "req-1" };
  answer.writeHead(status, { ...usual, ...headers }).end(JSON.stringify(content));
}

export function untilTheEnd<T extends { close(): unknown }>(part: T): T {
  onTestFinished(async () => void (await part.close()));
  return part;
}

/** A service, and a transport to it with a rate limiter that says yes. */
export async function serviceWith(answering: Answering, options: Partial<HttpOptions> = {}) {
  const service = untilTheEnd(await startService(answering));
  return { service, ...transportTo(service.baseUrl, options) };
}

export async function rawServiceWith(talk: Talk, options: Partial<HttpOptions> = {}) {
  const service = untilTheEnd(await startRawService(talk));
  return { service, ...transportTo(service.baseUrl, options) };
}

function transportTo(baseUrl: string, options: Partial<HttpOptions>) {
  const rateLimiter = lenientRateLimiter();
  return { rateLimiter, http: untilTheEnd(httpFor(baseUrl, { rateLimiter, ...options })) };
}

/** Answers with a page, as a proxy does for a service that is away. */
export function page(answer: ServerResponse, status = 200): void {
  answer.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end("<html>Maintenance</html>");
}
