import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../../../src/base/clock.ts";
import { isoTime } from "../../../../src/base/clock.ts";
import type { Random } from "../../../../src/base/random.ts";
import { alter } from "../faults/altered-answer.ts";
import { broken } from "../faults/broken-connection.ts";
import type { FaultPlan, Struck } from "../faults/fault-plan.ts";
import { lieOf, rewriteOf } from "../faults/rewritten-records.ts";
import { languageNamed, negotiate, type Language } from "../lookups/languages.ts";
import { errorMap, message } from "../rules/messages.ts";
import { Invalid, Missing } from "../rules/refusals.ts";
import { emptyToNull } from "../rules/request-shape.ts";
import { error, value, type Answer } from "../http/answer.ts";
import { encode, type Encoded } from "../http/encode.ts";
import { Idempotency } from "./idempotency.ts";
import type { Hit, Limiter } from "./limiter.ts";
import { RequestRing } from "./request-log.ts";
import { filesOf, jsonOf, readRequest, type Incoming } from "../http/request.ts";
import type { Route, Router } from "../routes/router.ts";
import { send } from "../http/send.ts";
import type { Bearer, Tokens } from "./tokens.ts";

export interface ServiceParts {
  readonly router: Router;
  readonly tokens: Tokens;
  readonly limiters: readonly Limiter[];
  readonly faults: FaultPlan;
  readonly clock: Clock;
  readonly random: Random;
  readonly language: string;
  readonly latencyMs: readonly [number, number];
}

/** One request on its way through the service. */
interface Visit {
  readonly incoming: Incoming;
  readonly request: IncomingMessage;
  readonly language: Language;
  readonly requestId: string;
  readonly struck: Struck;
  readonly bearer: Bearer | null;
  readonly route: Route | null;
  readonly id: number;
}

const english: Language = { id: 2, code: "en", tag: "en" };

/** Longer than a limiter's window, so that who waits for the next one finds the connection still there. */
const keepAliveMs = 75_000;

/** The HTTP face of the sandbox. Everything it knows lives in memory and dies with the process. */
export class Service {
  readonly requests = new RequestRing();
  /** Faults of the sandbox itself; a test that finds one here found a bug. */
  readonly failures: unknown[] = [];
  /** Answers what is below `/sandbox/`, outside of the API: no token, no budget, no faults, no log. */
  sideDoor: ((incoming: Incoming) => Promise<Answer>) | null = null;
  readonly #parts: ServiceParts;
  readonly #idempotency = new Idempotency();
  readonly #server: Server;
  readonly #closing = new AbortController();
  #turn = 0;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#server = createServer({ keepAlive: true, noDelay: true }, (request, response) => {
      this.#serve(request, response).catch((cause: unknown) => {
        if (!response.destroyed) this.failures.push(cause);
        response.destroy();
      });
    });
    this.#server.keepAliveTimeout = keepAliveMs;
  }

  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends at once, also for those who hang. */
  async close(): Promise<void> {
    this.#closing.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => response.destroy());
    const incoming = await readRequest(request);
    if (this.sideDoor && incoming.fullPath.startsWith("/sandbox/") && namesLoopback(request)) {
      await send(response, encode(await this.sideDoor(incoming)), "");
      return;
    }
    const visit = this.#receive(incoming, request);
    const hit = this.#count(visit);
    const pauseMs = this.#pauseMs(visit.struck);
    await this.#sleep(pauseMs / 2);
    const answer = hit && !hit.allowed ? error(429, "Too Many Attempts.") : await this.#answer(visit);
    const encoded = this.#encoded(visit, answer);
    await this.#sleep(pauseMs / 2);
    await this.#reply(visit, encoded, hit, response);
  }

  #receive(incoming: Incoming, request: IncomingMessage): Visit {
    const { router, tokens, faults, random, language } = this.#parts;
    const match = incoming.path === null ? null : router.find(incoming.method, incoming.path);
    const bearer = tokens.bearer(request.headers.authorization);
    const target = {
      method: incoming.method,
      path: incoming.path ?? incoming.fullPath,
      company: bearer?.company.index ?? null,
    };
    return {
      incoming,
      request,
      language: negotiate(request.headers["accept-language"], languageNamed(language) ?? english),
      requestId: `req_${random.uuid().replaceAll("-", "")}`,
      struck: faults.strike(target),
      bearer,
      route: match && "route" in match ? match.route : null,
      id: match && "route" in match ? match.id : Number.NaN,
    };
  }

  /** Only requests that reach a company through a known route are counted. */
  #count({ route, bearer, struck }: Visit): Hit | null {
    const status = struck.get("status");
    const counted =
      status?.counted ?? (status === undefined || (status.status !== 401 && status.status !== 503));
    const limiter = route && bearer && counted ? this.#parts.limiters[bearer.company.index] : undefined;
    return limiter && !(status?.status === 429) ? limiter.hit() : null;
  }

  async #answer(visit: Visit): Promise<Answer> {
    const fault = visit.struck.get("status");
    if (fault) return this.#faulty(visit, fault.status, fault.retryAfterS);
    const refused = this.#refusal(visit);
    if (refused) return refused;
    const { request, incoming, bearer, route, language } = visit;
    if (!bearer || !route) throw new Error("broken promise: a request without route or token was refused");
    const files = await filesOf(incoming.body, request.headers["content-type"] ?? "");
    const input = files ? {} : emptyToNull(jsonOf(incoming.body));
    const disorder = visit.struck.has("shuffled_ties") ? ++this.#turn : null;
    const call = {
      company: bearer.company,
      language,
      id: visit.id,
      query: incoming.query,
      input,
      files: files ?? [],
      disorder,
    };
    const make = () => this.#guarded(() => route.handle(call), language);
    const key = request.headers["idempotency-key"];
    if (!route.idempotent || typeof key !== "string" || key === "") return make();
    return this.#idempotency.answer(bearer.company, key, route, incoming.fullPath, input, make);
  }

  /** A status that the sandbox was told to answer. */
  #faulty({ bearer }: Visit, status: number, retryAfterS: number | null | undefined): Answer {
    const answer = error(status, texts[status] ?? "Server Error");
    if (status !== 429) return answer;
    const seconds = retryAfterS === undefined ? 1 : retryAfterS;
    const limit = this.#parts.limiters[bearer?.company.index ?? 0]?.limit ?? 0;
    const resetAt = Math.floor(this.#parts.clock.nowMs() / 1000) + (seconds ?? 1);
    return {
      ...answer,
      headers: {
        "X-RateLimit-Limit": String(limit),
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": String(resetAt),
        ...(seconds !== null && { "Retry-After": String(seconds) }),
      },
    };
  }

  #refusal({ incoming, bearer, route }: Visit): Answer | null {
    const shown = incoming.fullPath.slice(1);
    if (!route) {
      const match = incoming.path === null ? null : this.#parts.router.find(incoming.method, incoming.path);
      if (!match || "route" in match) return error(404, `The route ${shown} could not be found.`);
      const allowed = match.allowed.join(", ");
      const told = `The ${incoming.method} method is not supported for route ${shown}. Supported methods: ${allowed}.`;
      return { ...error(405, told), headers: { Allow: allowed } };
    }
    if (!bearer) return error(401, "Unauthenticated.");
    return route.scope === "write" && bearer.scope === "read"
      ? error(403, "This action is unauthorized.")
      : null;
  }

  /** What a route throws, as the service would answer it. */
  #guarded(handle: () => Answer, language: Language): Answer {
    try {
      return handle();
    } catch (cause) {
      if (cause instanceof Missing) return error(404, cause.message);
      if (cause instanceof Invalid) {
        const errors = errorMap(cause.problems, language.code);
        return value({ message: message("given", language.code), errors }, 422);
      }
      this.failures.push(cause);
      return error(500, "Server Error");
    }
  }

  /** The budget is told as it is now, at the end; the records are as they were when they were read. */
  async #reply(visit: Visit, encoded: Encoded, hit: Hit | null, response: ServerResponse): Promise<void> {
    const { struck, requestId, language, incoming, request } = visit;
    const told = { "X-Request-Id": requestId, "Content-Language": language.tag, ...hit?.headers() };
    const headers = { ...told, ...encoded.headers };
    const full = { ...encoded, headers };
    this.#log(visit, struck.has("reset") || struck.has("hang") ? 0 : full.status);
    if (response.destroyed) return;
    if (await broken(response, full, struck, this.#parts.clock)) return;
    const accepted = incoming.method === "HEAD" ? "" : (request.headers["accept-encoding"] ?? "");
    await send(response, full, accepted);
  }

  #encoded({ struck, request, incoming }: Visit, answer: Answer): Encoded {
    const encoded = encode(answer, {
      rewrite: rewriteOf(struck),
      lie: lieOf(struck, this.requests.total),
      emptyList: struck.has("empty_list"),
      duplicate: struck.has("duplicate_ids"),
    });
    const url = `http://${request.headers.host ?? "127.0.0.1"}${incoming.fullPath}`;
    return alter(encoded, struck, { authorization: request.headers.authorization ?? "", url });
  }

  #log({ incoming, bearer, requestId }: Visit, status: number): void {
    this.requests.add({
      at: isoTime(this.#parts.clock.nowMs()),
      method: incoming.method,
      path: incoming.path ?? incoming.fullPath,
      query: incoming.query,
      status,
      company: bearer?.company.index ?? null,
      requestId,
    });
  }

  #pauseMs(struck: Struck): number {
    const [least, most] = this.#parts.latencyMs;
    return struck.latencyMs + least + (most > least ? this.#parts.random.next() * (most - least) : 0);
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0) await this.#parts.clock.sleep(ms, this.#closing.signal);
  }
}

/** Not reached through a tunnel, nor by a web page under a name of its own. */
function namesLoopback({ headers }: IncomingMessage): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(headers.host ?? "");
}

const texts: Readonly<Record<number, string>> = {
  401: "Unauthenticated.",
  403: "This action is unauthorized.",
  404: "No query results for model.",
  422: "The given data was invalid.",
  429: "Too Many Attempts.",
  500: "Server Error",
  503: "Service Unavailable",
};
