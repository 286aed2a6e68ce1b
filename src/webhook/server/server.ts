import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { accept, refuseWith } from "./response.ts";
import { BodyRoom, readBody, type BodyEnd } from "./request-body.ts";
import { answerBroken, Unanswered } from "./connections.ts";
import { closeServer, trackSilent } from "./shutdown.ts";
import { showPage, type Page } from "./page-response.ts";
import type { Admission, Answer, Receiver } from "./receiver.ts";

export type { Page } from "./page-response.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly receiver: Receiver;
  /** By path, for GET and HEAD. */
  readonly pages: Readonly<Record<string, () => Promise<Page> | Page>>;
  readonly log: Log;
  readonly limits?: Partial<ListenLimits>;
}

export interface ListenLimits {
  readonly bodyBytes: number;
  /** Of all deliveries that are on their way. */
  readonly bodiesBytes: number;
  readonly headerDeadlineMs: number;
  readonly bodyDeadlineMs: number;
  readonly keepAliveMs: number;
  readonly connections: number;
}

export interface Listener {
  readonly port: number;
  /** Stops accepting, answers what is on its way, and ends what is not done after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const usualLimits: ListenLimits = {
  bodyBytes: 256_000,
  bodiesBytes: 32_000_000,
  headerDeadlineMs: 10_000,
  bodyDeadlineMs: 10_000,
  keepAliveMs: 75_000,
  connections: 512,
};
const mailboxPath = /^\/webhooks\/([^/?#%]+)$/;

/** The HTTP side: paths, methods, limits, deadlines and the order of answers; nothing of what is delivered. */
export async function startServer(options: ListenOptions): Promise<Listener> {
  const limits = { ...usualLimits, ...options.limits };
  const server = createServer({
    headersTimeout: limits.headerDeadlineMs,
    // The body has a deadline of its own; this one is for what never becomes a request.
    requestTimeout: limits.headerDeadlineMs + limits.bodyDeadlineMs + 5_000,
    keepAliveTimeout: limits.keepAliveMs,
    requireHostHeader: false,
    connectionsCheckingInterval: Math.min(500, limits.headerDeadlineMs / 2),
  });
  server.maxConnections = limits.connections;
  const desk = new Desk(server, options, limits);
  server.on("request", (request, response) => desk.receive(request, response, false));
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) =>
    desk.receive(request, response, true),
  );
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
    desk.disappoint(request, response),
  );
  answerBroken(server, desk.unanswered, (status, why) => options.receiver.refuse("", status, why));
  const endSilent = trackSilent(server);
  await opened(server, options);
  const { port } = server.address() as AddressInfo;
  return { port, close: (graceMs) => closeServer(server, endSilent, graceMs) };
}

class Desk {
  readonly unanswered = new Unanswered();
  private readonly server: Server;
  private readonly options: ListenOptions;
  private readonly limits: ListenLimits;
  private readonly room: BodyRoom;

  constructor(server: Server, options: ListenOptions, limits: ListenLimits) {
    this.server = server;
    this.options = options;
    this.limits = limits;
    this.room = new BodyRoom(limits.bodiesBytes);
  }

  receive(request: IncomingMessage, response: ServerResponse, waitsForGo: boolean): void {
    const { receiver, pages, log } = this.options;
    const { url = "", method } = request;
    const company = mailboxPath.exec(url)?.[1];
    if (company === undefined) {
      const [path = ""] = url.split("?", 1);
      const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
      if (!page) this.refuse(request, response, receiver.refuse("", 404, "there is nothing here"));
      else if (method !== "GET" && method !== "HEAD")
        this.refuse(request, response, receiver.refuse("", 405, "this is a page to look at"), "GET, HEAD");
      else {
        this.unanswered.note(request, response);
        void showPage(response, page, log, !this.server.listening);
      }
      return;
    }
    if (method !== "POST" && receiver.find(company) !== null) {
      const answer = receiver.refuse(company, 405, "deliveries come by POST");
      this.refuse(request, response, answer, "POST");
      return;
    }
    const admission = receiver.admit(company, request.rawHeaders);
    if ("status" in admission) this.refuse(request, response, admission);
    else this.take(request, response, admission, waitsForGo);
  }

  /** An `Expect` that is not about the body. */
  disappoint(request: IncomingMessage, response: ServerResponse): void {
    const answer = this.options.receiver.refuse("", 417, "that cannot be expected here");
    this.refuse(request, response, answer, undefined, true);
  }

  private take(
    request: IncomingMessage,
    response: ServerResponse,
    admission: Admission,
    waitsForGo: boolean,
  ): void {
    const announced = Number(request.headers["content-length"] ?? 0);
    const { bodyBytes: mostBytes, bodyDeadlineMs: deadlineMs } = this.limits;
    if (announced > mostBytes) {
      this.ended(request, response, admission, "large");
      return;
    }
    if (waitsForGo) response.writeContinue();
    readBody(request, { mostBytes, deadlineMs, room: this.room }, (end) =>
      this.ended(request, response, admission, end),
    );
  }

  private ended(
    request: IncomingMessage,
    response: ServerResponse,
    admission: Admission,
    end: BodyEnd,
  ): void {
    const { receiver } = this.options;
    const { company } = admission;
    if (typeof end !== "string") {
      this.unanswered.note(request, response);
      receiver.deliver(admission, end, (answer) => this.answer(request, response, answer));
      return;
    }
    const reasons = {
      large: [413, `the body is longer than ${this.limits.bodyBytes} bytes`],
      slow: [408, "the body took too long"],
      full: [503, "too many deliveries are on their way"],
      gone: [499, "the sender went away"],
    } as const;
    const [status, why] = reasons[end];
    const answer = receiver.refuse(company, status, why);
    if (end !== "gone") this.refuse(request, response, answer, undefined, true);
  }

  private answer(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
    if (answer.status === 204) accept(response, !this.server.listening);
    else this.refuse(request, response, answer);
  }

  /** Whoever has more to send than a delivery may hold has to connect again. */
  private refuse(
    request: IncomingMessage,
    response: ServerResponse,
    { status, why }: Answer,
    allow?: string,
    last = false,
  ): void {
    const announced = Number(request.headers["content-length"] ?? 0);
    this.unanswered.note(request, response);
    const close = last || !this.server.listening || announced > this.limits.bodyBytes;
    refuseWith(request, response, { status, why, close, ...(allow !== undefined && { allow }) });
  }
}

function opened(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new MirrorError("network", `cannot listen on ${host}:${port}: ${messageOf(error)}`, {
          hint: "Another program may use the port; choose one with serve.listen.",
          cause: error,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}
