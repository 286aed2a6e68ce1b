import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Random } from "../../../../src/base/random.ts";
import { boundedLog } from "../base/values.ts";
import { negotiate } from "../lookups/lookup-lists.ts";
import type { Company } from "../model/company.ts";
import { breakOff, type Fault, type FaultPlan } from "./faults.ts";
import { limitHeaders, type Limiter } from "./limiter.ts";
import { answerTo, error, parseFiles, parseJsonBody, readRequest, send, replyWith } from "./messages.ts";
import type { Reply, Router, WholeRequest } from "./messages.ts";

export interface ServiceParts {
  readonly router: Router;
  /** Whose each token is, and what it allows. One that is removed stops working at once. */
  readonly tokens: Map<string, { company: Company; limiter: Limiter; scope: "read" | "write" }>;
  readonly faults: FaultPlan;
  readonly clock: Clock;
  readonly random: Random;
  readonly latencyMs: number;
}

type ServedRequest = ReturnType<HttpService["visit"]>;

/** Longer than a limiter's window: a client that waits for the next one finds its connection still open. */
const keepAliveMs = 75_000;

/** The sandbox's HTTP server: limits, answers, breaks and logs requests. All its state is in memory. */
export class HttpService {
  /** The last 20,000 requests: status 0 where no answer was sent, company null without a valid token. */
  readonly requests = boundedLog<
    Pick<ServedRequest, "method" | "path" | "query"> & { status: number; company: number | null }
  >(20_000);
  readonly failures: unknown[] = [];
  /** Answers paths below `/sandbox/`, outside of the API: no token, no budget, no faults, no log. */
  controlServer: ((incoming: WholeRequest) => Promise<Reply>) | null = null;
  private readonly parts: ServiceParts;
  private readonly server = createServer({ keepAlive: true, noDelay: true }, (request, response) =>
    this.answer(request, response),
  );
  private readonly closing = new AbortController();
  /** First answers by company and idempotency key, with what they answer. */
  private readonly kept = new Map<string, { readonly fingerprint: string; readonly reply: Reply }>();

  constructor(parts: ServiceParts) {
    this.parts = parts;
    this.server.keepAliveTimeout = keepAliveMs;
  }

  /** Listens on 127.0.0.1 and gives the port; 0 takes a free one. */
  async listen(port: number): Promise<number> {
    await once(this.server.listen(port, "127.0.0.1"), "listening");
    return (this.server.address() as AddressInfo).port;
  }

  /** Answers a request, also one that another server of this process received. */
  answer(request: IncomingMessage, response: ServerResponse): void {
    this.serve(request, response).catch((cause: unknown) => {
      if (!response.destroyed) this.failures.push(cause);
      response.destroy();
    });
  }

  /** Ends at once; connections that hang are closed. */
  async close(): Promise<void> {
    this.closing.abort();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => response.destroy());
    const incoming = await readRequest(request);
    const { host = "127.0.0.1", authorization = "" } = request.headers;
    // Not reached through a tunnel, nor by a web page under a name of its own.
    const isLocal = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);
    if (this.controlServer && incoming.fullPath.startsWith("/sandbox/") && isLocal)
      return send(response, await this.controlServer(incoming));
    const { clock, latencyMs } = this.parts;
    const visit = this.visit(incoming, request);
    const { faults, requestId, language, match, bearer } = visit;
    // Only requests that reach a company through a known route are counted, and the limiter does not see some refusals.
    const isSeen = match && ![401, 429, 503].includes(faults.get("status")?.status ?? 0);
    const permit = isSeen ? bearer?.limiter.count() : undefined;
    const pauseMs = latencyMs + (faults.get("latency")?.latencyMs ?? 0);
    const pause = async () => {
      if (pauseMs > 0) await clock.sleep(pauseMs / 2, this.closing.signal);
    };
    await pause();
    // The records are as they were when they were read; the rate headers are those of the reply.
    const reply = permit?.allowed === false ? refusal(429) : await this.reply(visit);
    await pause();
    const active = [...faults.values()];
    const altered = active.reduce((whole, { answer }) => answer?.(whole, authorization) ?? whole, reply);
    const own = { "X-Request-Id": requestId, "Content-Language": language.tag, ...permit?.headers() };
    const full = { ...altered, headers: { ...own, ...altered.headers } };
    const broken = faults.get("reset") ?? faults.get("hang");
    const { method, path, query } = visit;
    const status = broken ? 0 : full.status;
    this.requests.add({ method, path, query, status, company: bearer?.company.index ?? null });
    if (response.destroyed) return;
    if (broken) return breakOff(response, full, broken);
    send(response, full);
  }

  private visit(incoming: WholeRequest, { headers }: IncomingMessage) {
    const { router, tokens, faults, random } = this.parts;
    const { method, fullPath } = incoming;
    const path = incoming.path ?? fullPath;
    const bearer = tokens.get(/^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "") ?? null;
    return {
      ...incoming,
      path,
      headers,
      bearer,
      language: negotiate(headers["accept-language"]),
      requestId: `req_${random.uuid().replaceAll("-", "")}`,
      faults: faults.faultsFor(method, path),
      match: incoming.path === null ? null : router(method, path),
    };
  }

  private async reply(visit: ServedRequest): Promise<Reply> {
    const { method, match, bearer, language, headers, body, query, fullPath, faults } = visit;
    const fault = faults.get("status");
    if (fault) return this.faultReply(fault, bearer?.limiter.limit);
    if (!match) return error(404, `The route ${fullPath.slice(1)} could not be found.`);
    if (!bearer) return refusal(401);
    const { handle: answer, id } = match;
    if (method !== "GET" && bearer.scope === "read") return refusal(403);
    const files = await parseFiles(body, headers["content-type"] ?? "");
    const input = files ? {} : parseJsonBody(body);
    const { company } = bearer;
    const handle = () => {
      try {
        const call = { company, language, id, query, input, files: files ?? [], shuffle: null };
        return answerTo(language, () => answer(call));
      } catch (cause) {
        this.failures.push(cause);
        return refusal(500);
      }
    };
    const key = headers["idempotency-key"];
    if (method !== "POST" || typeof key !== "string" || key === "") return handle();
    return this.once(company, key, `${method} ${fullPath} ${JSON.stringify(input)}`, handle);
  }

  private faultReply({ status = 500, retryAfterS = 1 }: Fault, limit = 0): Reply {
    const reply = refusal(status);
    if (status !== 429) return reply;
    return { ...reply, headers: limitHeaders(limit, this.parts.clock.nowMs(), retryAfterS) };
  }

  /** The same request under the same key gets the first answer again, another one a refusal. */
  private once({ index }: Company, key: string, fingerprint: string, handle: () => Reply): Reply {
    const name = `${index}/${key}`;
    const known = this.kept.get(name);
    if (known && known.fingerprint !== fingerprint)
      return replyWith({ error: "Idempotency-Key reused with different request payload" }, 422);
    const reply = known?.reply ?? handle();
    if (!known && reply.status < 300) this.kept.set(name, { fingerprint, reply });
    const status = known ? "Repeated" : "Original";
    return { ...reply, headers: { ...reply.headers, "Idempotency-Key": key, "Idempotency-Status": status } };
  }
}

const statusTexts: Readonly<Record<number, string>> = {
  401: "Unauthenticated.",
  403: "This action is unauthorized.",
  429: "Too Many Attempts.",
  503: "Service Unavailable",
};
const refusal = (status: number) => error(status, statusTexts[status] ?? "Server Error");
