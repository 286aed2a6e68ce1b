import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isoTime } from "../../../../src/base/clock.ts";
import { BoundedLog } from "../base/bounded-log.ts";
import { alterAnswer, bodyChangesOf } from "../faults/altered-answer.ts";
import { breakConnection } from "../faults/broken-connection.ts";
import type { ActiveFaults } from "../faults/service-fault.ts";
import { readRequest, type Incoming } from "../http/request.ts";
import { encode, error, send, type Answer, type Encoded } from "../http/service-answer.ts";
import { negotiate } from "../lookups/languages.ts";
import type { Permit } from "./limiter.ts";
import { Responder, type ServiceParts, type Visit } from "./responder.ts";

/** Longer than a limiter's window: a client that waits for the next one finds its connection still open. */
const keepAliveMs = 75_000;

/** The sandbox's HTTP server: limits, answers, breaks and logs requests. All its state is in memory. */
export class Service {
  /** The last 20,000 requests. */
  readonly requests = new BoundedLog<ReturnType<typeof logOf>>(20_000);
  /** Answers paths below `/sandbox/`, outside of the API: no token, no budget, no faults, no log. */
  controlServer: ((incoming: Incoming) => Promise<Answer>) | null = null;
  readonly #parts: ServiceParts;
  readonly #responder: Responder;
  readonly #server: Server;
  readonly #closing = new AbortController();
  #served = 0;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#responder = new Responder(parts);
    this.#server = createServer({ keepAlive: true, noDelay: true }, (request, response) => {
      this.#serve(request, response).catch((cause: unknown) => {
        if (!response.destroyed) parts.failures.push(cause);
        response.destroy();
      });
    });
    this.#server.keepAliveTimeout = keepAliveMs;
  }

  /** Listens on 127.0.0.1 and gives the port; 0 takes a free one. */
  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends at once; connections that hang are closed. */
  async close(): Promise<void> {
    this.#closing.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => response.destroy());
    const incoming = await readRequest(request);
    if (this.controlServer && incoming.fullPath.startsWith("/sandbox/") && namesLoopback(request)) {
      await send(response, encode(await this.controlServer(incoming)), "");
      return;
    }
    const visit = this.#visit(incoming, request);
    const permit = this.#permit(visit);
    const pauseMs = this.#pauseMs(visit.faults);
    await this.#sleep(pauseMs / 2);
    const refused = permit !== null && !permit.allowed;
    const answer = refused ? error(429, "Too Many Attempts.") : await this.#responder.answer(visit);
    const encoded = this.#encode(visit, answer);
    await this.#sleep(pauseMs / 2);
    await this.#reply(visit, encoded, permit, response);
  }

  #visit(incoming: Incoming, request: IncomingMessage): Visit {
    const { router, tokens, faults, random, language } = this.#parts;
    const { method, fullPath } = incoming;
    const path = incoming.path ?? fullPath;
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const bearer = tokens.get(token) ?? null;
    return {
      incoming,
      request,
      language: negotiate(request.headers["accept-language"], language),
      requestId: `req_${random.uuid().replaceAll("-", "")}`,
      faults: faults.faultsFor({ method, path, company: bearer?.company.index ?? null }),
      bearer,
      match: incoming.path === null ? { allowed: [] } : router(method, path),
    };
  }

  /** Only requests that reach a company through a known route are counted; null for the others. */
  #permit({ match, bearer, faults }: Visit): Permit | null {
    const fault = faults.get("status");
    const counted = fault?.counted ?? (fault?.status !== 401 && fault?.status !== 503);
    if (!bearer || !("route" in match) || !counted || fault?.status === 429) return null;
    return this.#parts.limiters[bearer.company.index]?.count() ?? null;
  }

  #encode({ faults, request, incoming }: Visit, answer: Answer): Encoded {
    const encoded = encode(answer, bodyChangesOf(faults, this.#served));
    const { host = "127.0.0.1", authorization = "" } = request.headers;
    return alterAnswer(encoded, faults, { authorization, url: `http://${host}${incoming.fullPath}` });
  }

  /** The rate headers are those of this moment; the records are as they were when they were read. */
  async #reply(visit: Visit, encoded: Encoded, permit: Permit | null, response: ServerResponse) {
    const { faults, requestId, language, incoming, request } = visit;
    const own = { "X-Request-Id": requestId, "Content-Language": language.tag, ...permit?.headers() };
    const full = { ...encoded, headers: { ...own, ...encoded.headers } };
    const status = faults.has("reset") || faults.has("hang") ? 0 : full.status;
    this.requests.add(logOf(visit, status, isoTime(this.#parts.clock.nowMs())));
    this.#served++;
    if (response.destroyed) return;
    if (await breakConnection({ response, encoded: full }, faults, this.#parts.clock)) return;
    await send(response, full, incoming.method === "HEAD" ? "" : (request.headers["accept-encoding"] ?? ""));
  }

  #pauseMs(faults: ActiveFaults): number {
    const [least, most] = this.#parts.latencyMs;
    const usualMs = least + (most > least ? this.#parts.random.next() * (most - least) : 0);
    return faults.all("latency").reduce((sum, { latencyMs }) => sum + latencyMs, usualMs);
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0) await this.#parts.clock.sleep(ms, this.#closing.signal);
  }
}

/** Not reached through a tunnel, nor by a web page under a name of its own. */
function namesLoopback({ headers }: IncomingMessage): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(headers.host ?? "");
}

/** One request as it was answered: status 0 where no answer was sent, company null without a valid token. */
function logOf({ incoming, bearer, requestId }: Visit, status: number, at: string) {
  const { method, fullPath, path, query } = incoming;
  const company = bearer?.company.index ?? null;
  return { at, method, path: path ?? fullPath, query, status, company, requestId };
}
