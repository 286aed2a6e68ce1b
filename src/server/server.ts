import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { listenFailure } from "../base/errors.ts";
import { isPageHost } from "../config/address.ts";
import { connectionLimits, Connections, type ConnectionCounts } from "./connections.ts";
import type { Answer } from "../webhook/ingest/delivery.ts";
import { Receiver, type AdmittedDelivery, type ReceiverOptions } from "../webhook/receiver.ts";
import { createKeptPages } from "./kept-pages.ts";
import { siteAnswer, type Site } from "./site.ts";
import { bodyLimits, createBodyReader, type BodyReader, type BodyResult } from "./request-body.ts";
import { refusalPage, renderPage, respondAccepted, respondPage } from "./response.ts";
import type { Page, RenderedPage } from "./response.ts";

export interface ServerOptions extends ReceiverOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly pages: Readonly<Record<string, () => Promise<Page> | Page>>;
  /** Pages at other paths. @default none */
  readonly site?: Site;
  /** Names by which pages may be asked for, besides addresses and `localhost`. @default none */
  readonly pageHosts?: () => readonly string[];
  readonly counts?: ConnectionCounts;
  readonly limits?: Partial<ServerLimits>;
}

export type WebhookServer = Awaited<ReturnType<typeof startServer>>;

const defaultLimits = { ...bodyLimits, ...connectionLimits };
type ServerLimits = Readonly<typeof defaultLimits>;

/** Making a page takes a twentieth of the thread's time at most, however often it is asked for. */
const keptFor = { factor: 20, shortestMs: 20, longestMs: 1_000 };
const wrongHost = "this page is not shown under that host name: see serve.hosts in the config";
const noPost: Answer = { status: 405, why: "deliveries take POST", reason: "wrong_method" };
const deliveryPath = /^\/webhooks\/([^/?#%]+)(?:\?|$)/;

/**
 * Starts the HTTP server: paths, methods, limits, deadlines and the order of responses. What a delivery is
 * answered is the receiver's.
 *
 * @throws MirrorError `network` when the address cannot be listened on
 */
export async function startServer(options: ServerOptions) {
  const limits = { ...defaultLimits, ...options.limits };
  const server = createServer({
    headersTimeout: limits.headerDeadlineMs,
    // The body has a deadline of its own; this one is for what never becomes a request.
    requestTimeout: limits.headerDeadlineMs + limits.bodyDeadlineMs + 5_000,
    keepAliveTimeout: limits.keepAliveMs,
    requireHostHeader: false,
    connectionsCheckingInterval: Math.min(500, limits.headerDeadlineMs / 2),
  });
  const handler = new RequestHandler(server, options, limits);
  server.on("request", (_, response) => handler.handle(response, false));
  server.on("checkContinue", (_, response: ServerResponse) => handler.handle(response, true));
  server.on("checkExpectation", (_, response: ServerResponse) => handler.refuseExpectation(response));
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return { port, close: (graceMs: number) => handler.connections.close(graceMs) };
}

class RequestHandler {
  readonly connections: Connections;
  private readonly server: Server;
  private readonly options: ServerOptions;
  private readonly limits: ServerLimits;
  private readonly receiver: Receiver;
  private readonly readBody: BodyReader;
  private readonly kept: ReturnType<typeof createKeptPages<RenderedPage>>;

  constructor(server: Server, options: ServerOptions, limits: ServerLimits) {
    this.server = server;
    this.options = options;
    this.limits = limits;
    this.receiver = new Receiver(options);
    this.readBody = createBodyReader(limits);
    const refused = (status: number, why: string) => void this.refuseRequest(status, why);
    const { clock, log, counts = { dropped: 0 } } = options;
    this.connections = new Connections(server, { limits, counts, clock, log, refused });
    this.kept = createKeptPages(clock, keptFor);
  }

  /** `expectsContinue`: the sender waits for 100 before it sends the body. */
  handle(response: ServerResponse, expectsContinue: boolean): void {
    if (!this.connections.takes(response)) return;
    const { receiver } = this;
    const { url = "", method, rawHeaders } = response.req;
    const company = deliveryPath.exec(url)?.[1];
    if (company === undefined) return this.showPage(response, url);
    if (method !== "POST" && receiver.knows(company))
      return this.refuse(response, receiver.refuse(company, noPost), { allow: "POST" });
    const admission = receiver.admit(company, rawHeaders);
    if ("status" in admission) return this.refuse(response, admission);
    if (this.isAnnouncedTooLong(response)) return this.bodyEnded(response, admission, "large");
    if (expectsContinue) response.writeContinue();
    this.readBody(response.req, (result) => this.bodyEnded(response, admission, result));
  }

  refuseExpectation(response: ServerResponse): void {
    if (!this.connections.takes(response)) return;
    const answer = this.refuseRequest(417, "this Expect header is not supported");
    this.refuse(response, answer, { close: true });
  }

  private refuseRequest(status: number, why: string): Answer {
    return this.receiver.refuse("", { status, why, reason: null });
  }

  private showPage(response: ServerResponse, url: string): void {
    const { method } = response.req;
    const { pages, site } = this.options;
    const [path = ""] = url.split("?", 1);
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    const allow = page ? "GET, HEAD" : (site?.methodsOf(path) ?? null);
    if (allow === null) return this.refuse(response, this.refuseRequest(404, "no such address"));
    if (!allow.split(", ").includes(method ?? "")) {
      const answer = this.refuseRequest(405, `this page takes ${allow.replace(", ", " and ")}`);
      return this.refuse(response, answer, { allow });
    }
    // What comes while a page is being made is kept, chunk by chunk.
    if (method !== "POST" && response.req.headers["transfer-encoding"] !== undefined)
      return this.refuse(response, this.refuseRequest(411, "a page takes no chunks"));
    if (!isPageHost(response.req.headers.host, this.options.pageHosts?.() ?? []))
      return this.refuse(response, this.refuseRequest(421, wrongHost));
    this.connections.track(response);
    const { log } = this.options;
    const respond = (made: RenderedPage) => respondPage(response, made, !this.server.listening);
    if (page) void this.kept(page, () => renderPage(page, log)).then(respond);
    else if (site) void siteAnswer(site, response.req, this.readBody, log).then(respond);
  }

  private bodyEnded(response: ServerResponse, admission: AdmittedDelivery, result: BodyResult): void {
    if (typeof result !== "string") {
      this.connections.track(response);
      this.receiver.deliver(admission, result, (answer) => this.answer(response, answer));
      return;
    }
    const { bodyBytes } = this.limits;
    const reasons = {
      large: [413, `the body is longer than ${bodyBytes} bytes, or in too many short pieces`, "too_large"],
      slow: [408, "the body took too long", "slow_body"],
      full: [503, "too many deliveries are being received; send the delivery again", "too_busy"],
      gone: [499, "the sender closed the connection", "sender_gone"],
    } as const;
    const [status, why, reason] = reasons[result];
    const answer = this.receiver.refuse(admission.company, { status, why, reason });
    if (result !== "gone") this.refuse(response, answer, { close: true });
  }

  private answer(response: ServerResponse, answer: Answer): void {
    if (answer.status === 204) respondAccepted(response, !this.server.listening);
    else this.refuse(response, answer);
  }

  /** A sender that announces more than a delivery may hold has to connect again. */
  private refuse(
    response: ServerResponse,
    { status, why }: Answer,
    { allow, close }: { allow?: string; close?: true } = {},
  ): void {
    this.connections.track(response);
    const closes = close ?? (this.isAnnouncedTooLong(response) || !this.server.listening);
    respondPage(response, refusalPage(status, why, allow), closes);
  }

  private isAnnouncedTooLong({ req }: ServerResponse): boolean {
    return Number(req.headers["content-length"] ?? 0) > this.limits.bodyBytes;
  }
}

function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(listenFailure(host, port, cause)));
    server.listen(port, host, resolve);
  });
}
