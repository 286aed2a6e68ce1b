import { Pool } from "undici";
import type { Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import type { ServiceAnswer, ServiceRequest, Transport } from "../connector/transport.ts";
import type { RateLimiter } from "../rate-limit/permit.ts";
import { attempt, type Call } from "./attempt.ts";
import { parseBaseUrl, targetOf, type BaseUrl } from "./base-url.ts";
import type { BodyCaps } from "./response-body.ts";
import type { Wire } from "./exchange.ts";
import type { Failure } from "./error-answer.ts";
import { requestHeaders, type Identity } from "./headers.ts";
import { isRateLimited, nextAttempt, type RetryRules } from "./retry-rules.ts";
import { Semaphore } from "../base/semaphore.ts";
import { linkSignals } from "../base/cancellation.ts";
import { createCounter, type HttpStats } from "./stats.ts";
import { createSafeText } from "./safe-text.ts";

export interface HttpOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly language: string;
  readonly rateLimiter: RateLimiter;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly userAgent: string;
  /** Of one attempt, head and body together. */
  readonly timeoutMs?: number;
  readonly maxResponseBytes?: number;
  /** Before inflating; the same when not given. */
  readonly maxWireBytes?: number;
  readonly attempts?: number;
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number };
  readonly concurrency?: number;
  /** Never shown, beside the token. */
  readonly secrets?: readonly string[];
}

export type { HttpStats };

export interface HttpTransport extends Transport {
  stats(): HttpStats;
  /** Breaks off what is under way; nothing can be sent afterwards. */
  close(): Promise<void>;
}

const refusalsInARow = 10;
const longestRetryAfterMs = 120_000;

/**
 * Guarantee: requests go to base_url's origin only, each with a permit of the rate limiter and a deadline;
 * the token is in no error, log line or redirect. Holds no state that a crash could lose.
 */
export function createHttpTransport(options: HttpOptions): HttpTransport {
  const base = parseBaseUrl(options.baseUrl);
  const closing = new AbortController();
  const wire = wireFor(base, options);
  return {
    send: (request) => send({ wire, base, options }, request, closing.signal),
    stats: () => wire.counter.read(),
    close: async () => {
      closing.abort();
      await wire.pool.destroy();
    },
  };
}

function wireFor(base: BaseUrl, options: HttpOptions): Wire {
  const { rateLimiter, clock, timeoutMs = 30_000, concurrency = 6 } = options;
  const pool = new Pool(base.origin, {
    connections: concurrency,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: timeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
  });
  return {
    pool,
    rateLimiter,
    clock,
    timeoutMs,
    slots: new Semaphore(concurrency),
    counter: createCounter(),
    safeText: createSafeText([options.token, ...(options.secrets ?? [])]),
  };
}

interface Service {
  readonly wire: Wire;
  readonly base: BaseUrl;
  readonly options: HttpOptions;
}

async function send(service: Service, request: ServiceRequest, closing: AbortSignal): Promise<ServiceAnswer> {
  const stop = linkSignals(request.signal, closing);
  try {
    const call = await callFor(service, request, stop.signal);
    return await untilDone(service, call, request.repeatable ?? request.method === "GET");
  } finally {
    stop.release();
  }
}

async function untilDone(
  { wire, options }: Service,
  call: Call,
  repeatable: boolean,
): Promise<ServiceAnswer> {
  const { where, signal } = call.message;
  const rules = retryRules(options);
  for (let attempts = 1, failed = 0, refused = 0; ; attempts++) {
    const outcome = await attempt(wire, call);
    if ("answer" in outcome) return { ...outcome.answer, attempts };
    const { failure } = outcome;
    [failed, refused] = isRateLimited(failure) ? [failed, refused + 1] : [failed + 1, 0];
    const step = nextAttempt(failure, { failed, refused }, repeatable, rules, options.random);
    if (step === "give_up") throw failure.error;
    tell(options.log, where, failure, step.retryInMs);
    await wire.clock.sleep(step.retryInMs, signal);
    if (signal.aborted) throw new MirrorError("stopped", `${where}: stopped before another attempt`);
    wire.counter.retried();
  }
}

async function callFor(
  { base, options }: Service,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<Call> {
  const identity: Identity = options;
  const content = await contentOf(request);
  return {
    base,
    expect: request.expect,
    caps: capsOf(options),
    message: {
      where: `${request.method} ${request.path}`,
      method: request.method,
      target: targetOf(base, request),
      headers: { ...requestHeaders(identity, request), ...content.headers },
      body: content.body,
      lane: request.lane ?? "list",
      signal,
      onSent: request.onSent,
    },
  };
}

interface Content {
  readonly headers: Record<string, string>;
  readonly body: string | Buffer | null;
}

/** A form is put into bytes once, so that another attempt sends the same. */
async function contentOf({ json, form }: ServiceRequest): Promise<Content> {
  if (json !== undefined)
    return { headers: { "content-type": "application/json" }, body: JSON.stringify(json) };
  if (!form) return { headers: {}, body: null };
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "multipart/form-data";
  return { headers: { "content-type": type }, body: Buffer.from(await encoded.arrayBuffer()) };
}

function capsOf({ maxResponseBytes = 256_000_000, maxWireBytes = maxResponseBytes }: HttpOptions): BodyCaps {
  return { bytes: maxResponseBytes, wireBytes: maxWireBytes };
}

function retryRules({ attempts = 5, backoff }: HttpOptions): RetryRules {
  const { baseMs, maxMs } = backoff ?? { baseMs: 500, maxMs: 30_000 };
  return { attempts, refusals: refusalsInARow, baseMs, maxMs, longestRetryAfterMs };
}

/** The rate limiter tells of refusals itself. */
function tell(log: Log, where: string, failure: Failure, retryInMs: number): void {
  if (isRateLimited(failure)) return;
  const { kind, message } = failure.error;
  log.warn("a request failed and is tried again", {
    request: where,
    kind,
    error: message,
    retry_in_ms: retryInMs,
  });
}
