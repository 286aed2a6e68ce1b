import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isoTime, type Clock } from "../../../../src/base/clock.ts";
import type { Random } from "../../../../src/base/random.ts";
import { BoundedLog } from "../base/values.ts";
import { alterAnswer, bodyChangesOf } from "../faults/altered-answer.ts";
import { breakConnection } from "../faults/broken-connection.ts";
import type { ActiveFaults, FaultPlan } from "../faults/service-fault.ts";
import { parseFiles, parseJsonBody, readRequest, type Incoming } from "../http/request.ts";
import type { Call, RouteMatch, Router } from "../http/router.ts";
import { encode, error, send, value, type Answer } from "../http/service-answer.ts";
import { negotiate, type Language } from "../lookups/languages.ts";
import type { Company } from "../model/company-state.ts";
import { errorMap, Invalid, message, Missing } from "../rules/problems.ts";
import { emptyToNull } from "../rules/request-shape.ts";
import { limitHeaders, type Limiter, type Permit } from "./limiter.ts";

/** What answers requests. */
export interface ServiceParts {
  readonly router: Router;
  /** Whose they are; a token that is removed stops working at once. */
  readonly tokens: Map<string, Bearer>;
  /** One for each company. */
  readonly limiters: readonly Limiter[];
  readonly faults: FaultPlan;
  readonly clock: Clock;
  readonly random: Random;
  /** Of answers to requests that name none. */
  readonly language: Language;
  /** From and to. */
  readonly latencyMs: readonly [number, number];
  /** Collects bugs of the sandbox itself. */
  readonly failures: unknown[];
}

/** Who sends a request, and what the token allows. */
export interface Bearer {
  readonly company: Company;
  readonly scope: "read" | "write";
}

/** One request on its way through the service. */
interface Visit {
  readonly incoming: Incoming;
  readonly request: IncomingMessage;
  readonly language: Language;
  readonly requestId: string;
  readonly faults: ActiveFaults;
  readonly bearer: Bearer | null;
  readonly match: RouteMatch;
}

/** One request as it was answered: status 0 where no answer was sent, company null without a valid token. */
interface LoggedRequest extends Pick<Incoming, "method" | "query"> {
  readonly at: string;
  readonly path: string;
  readonly status: number;
  readonly company: number | null;
  readonly requestId: string;
}

/** Longer than a limiter's window: a client that waits for the next one finds its connection still open. */
const keepAliveMs = 75_000;

/** The sandbox's HTTP server: limits, answers, breaks and logs requests. All its state is in memory. */
export class Service {
  /** The last 20,000 requests. */
  readonly requests = new BoundedLog<LoggedRequest>(20_000);
  /** Answers paths below `/sandbox/`, outside of the API: no token, no budget, no faults, no log. */
  controlServer: ((incoming: Incoming) => Promise<Answer>) | null = null;
  readonly #parts: ServiceParts;
  readonly #server: Server;
  readonly #closing = new AbortController();
  /** First answers by company and idempotency key, with what they answer. */
  readonly #kept = new Map<string, { readonly fingerprint: string; readonly answer: Answer }>();
  #served = 0;
  #shuffles = 0;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#server = createServer({ keepAlive: true, noDelay: true }, (request, response) =>
      this.answer(request, response),
    );
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

  /** Answers a request, also one that another server of this process received. */
  answer(request: IncomingMessage, response: ServerResponse): void {
    this.#serve(request, response).catch((cause: unknown) => {
      if (!response.destroyed) this.#parts.failures.push(cause);
      response.destroy();
    });
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
    const answer = refused ? error(429, "Too Many Attempts.") : await this.#answer(visit);
    // The records are as they were when they were read; the rate headers are those of the reply.
    const encoded = encode(answer, bodyChangesOf(visit.faults, this.#served));
    await this.#sleep(pauseMs / 2);
    const { faults, requestId, language } = visit;
    const { host = "127.0.0.1", authorization = "", "accept-encoding": coding = "" } = request.headers;
    const url = `http://${host}${incoming.fullPath}`;
    const altered = alterAnswer(encoded, faults, { authorization, url });
    const own = { "X-Request-Id": requestId, "Content-Language": language.tag, ...permit?.headers() };
    const full = { ...altered, headers: { ...own, ...altered.headers } };
    this.#log(visit, faults.has("reset") || faults.has("hang") ? 0 : full.status);
    if (response.destroyed || (await breakConnection(response, full, faults, this.#parts.clock))) return;
    await send(response, full, incoming.method === "HEAD" ? "" : coding);
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
      match: incoming.path === null ? null : router(method, path),
    };
  }

  /** Only requests that reach a company through a known route are counted; null for the others. */
  #permit({ match, bearer, faults }: Visit): Permit | null {
    const fault = faults.get("status");
    const counted = fault?.counted ?? (fault?.status !== 401 && fault?.status !== 503);
    if (!bearer || !match || !counted || fault?.status === 429) return null;
    return this.#parts.limiters[bearer.company.index]?.count() ?? null;
  }

  /** The answer to a request that the limiter lets pass. */
  async #answer(visit: Visit): Promise<Answer> {
    const fault = visit.faults.get("status");
    if (fault) return this.#faultAnswer(visit, fault.status ?? 500, fault.retryAfterS);
    const { request, incoming, bearer, match, language } = visit;
    if (!match) return error(404, `The route ${incoming.fullPath.slice(1)} could not be found.`);
    if (!bearer) return error(401, "Unauthenticated.");
    const { route, id } = match;
    if (route.method !== "GET" && bearer.scope === "read") return error(403, "This action is unauthorized.");
    const files = await parseFiles(incoming.body, request.headers["content-type"] ?? "");
    const input = files ? {} : emptyToNull(parseJsonBody(incoming.body));
    const shuffle = visit.faults.has("shuffled_ties") ? ++this.#shuffles : null;
    const { company } = bearer;
    const call = { company, language, id, query: incoming.query, input, files: files ?? [], shuffle };
    const handle = () => this.#guarded(call, route.handle);
    const key = request.headers["idempotency-key"];
    if (!route.idempotent || typeof key !== "string" || key === "") return handle();
    return this.#once(key, `${route.method} ${incoming.fullPath}`, call, handle);
  }

  /** A status that a fault demands. */
  #faultAnswer({ bearer }: Visit, status: number, retryAfterS: number | null = 1): Answer {
    const answer = error(status, statusTexts[status] ?? "Server Error");
    if (status !== 429) return answer;
    const { limiters, clock } = this.#parts;
    const limit = limiters[bearer?.company.index ?? 0]?.limit ?? 0;
    return { ...answer, headers: limitHeaders(limit, clock.nowMs(), retryAfterS) };
  }

  /** The same request under the same key gets the first answer again, another one a refusal. */
  #once(key: string, target: string, { company, input }: Call, handle: () => Answer): Answer {
    const name = `${company.index}/${key}`;
    const fingerprint = `${target} ${JSON.stringify(input)}`;
    const known = this.#kept.get(name);
    if (known && known.fingerprint !== fingerprint)
      return value({ error: "Idempotency-Key reused with different request payload" }, 422);
    const answer = known?.answer ?? handle();
    if (!known && answer.status < 300) this.#kept.set(name, { fingerprint, answer });
    const status = known ? "Repeated" : "Original";
    return {
      ...answer,
      headers: { ...answer.headers, "Idempotency-Key": key, "Idempotency-Status": status },
    };
  }

  /** Turns what a route throws into the service's answer. */
  #guarded(call: Call, handle: (call: Call) => Answer): Answer {
    try {
      return handle(call);
    } catch (cause) {
      if (cause instanceof Missing) return error(404, cause.message);
      if (cause instanceof Invalid) {
        const { code } = call.language;
        return value({ message: message("given", code), errors: errorMap(cause.problems, code) }, 422);
      }
      this.#parts.failures.push(cause);
      return error(500, "Server Error");
    }
  }

  #log({ incoming, bearer, requestId }: Visit, status: number): void {
    const { method, fullPath, path, query } = incoming;
    const at = isoTime(this.#parts.clock.nowMs());
    const company = bearer?.company.index ?? null;
    this.requests.add({ at, method, path: path ?? fullPath, query, status, company, requestId });
    this.#served++;
  }

  #pauseMs(faults: ActiveFaults): number {
    const [least, most] = this.#parts.latencyMs;
    const usualMs = least + (most > least ? this.#parts.random.next() * (most - least) : 0);
    return usualMs + (faults.get("latency")?.latencyMs ?? 0);
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0) await this.#parts.clock.sleep(ms, this.#closing.signal);
  }
}

/** Not reached through a tunnel, nor by a web page under a name of its own. */
function namesLoopback({ headers }: IncomingMessage): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(headers.host ?? "");
}

const statusTexts: Readonly<Record<number, string>> = {
  401: "Unauthenticated.",
  403: "This action is unauthorized.",
  404: "No query results for model.",
  422: "The given data was invalid.",
  429: "Too Many Attempts.",
  503: "Service Unavailable",
};
