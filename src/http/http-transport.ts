import { eitherSignal } from "../base/cancellation.ts";
import { MirrorError, throwIfAborted } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { backoffMs, retries, type Backoff } from "../retry/retry-limits.ts";
import { Semaphore } from "../base/semaphore.ts";
import { ServiceError } from "../connector/service-errors.ts";
import { transportDefaults, type ServiceAnswer, type ServiceRequest } from "../connector/transport.ts";
import { attemptWithToken, HttpCounters, type PreparedCall, type Wire } from "./exchange.ts";
import { parseBaseUrl, targetOf } from "./base-url.ts";
import { createSafeText } from "./http-errors.ts";
import { requestHeaders, type RequestSender } from "./headers.ts";
import { openPool } from "./pool.ts";

type Own = Pick<Wire, "rateLimiter" | "clock" | "skew">;
/** @default transportDefaults; numbers in the headers; the token is sent as it is */
type OwnDefaulted = Partial<Pick<Wire, "timeoutMs" | "maxResponseBytes" | "protocol" | "accessTokens">>;

export interface HttpOptions extends RequestSender, Own, OwnDefaulted {
  readonly baseUrl: string;
  readonly random: Random;
  readonly log: Log;
  /** @default transportDefaults */
  readonly concurrency?: number;
  /** Of one call; answers 429 are not counted. @default 5 */
  readonly attempts?: number;
  /** Pauses between them. @default 500 ms to 30 s */
  readonly backoff?: Backoff;
  /** Before every path but that of access tokens: `/accounts/acme`. @default none */
  readonly pathPrefix?: string;
  /** Texts besides the token that no message may show. */
  readonly secrets?: readonly string[];
  /**
   * Called in the step that writes a request to its connection: throws a MirrorError where nothing may be sent any more.
   * @default nothing is asked
   */
  readonly assertMaySend?: (() => void) | undefined;
}

export type HttpTransport = ReturnType<typeof createHttpTransport>;

/**
 * Opens a transport.
 *
 * Guarantee: requests go to the origin of `baseUrl` only, each with a permit of the rate limiter (I8) and a
 * deadline; the token is in no error, log line or redirect (I9). Holds no state that a crash could lose.
 */
export function createHttpTransport(options: HttpOptions) {
  const settings = { ...defaults, ...options };
  const { token, secrets, accessTokens, concurrency, timeoutMs, assertMaySend } = settings;
  const closing = new AbortController();
  const base = parseBaseUrl(settings.baseUrl);
  const known = createSafeText(token, secrets);
  const wire: Wire & FullOptions = {
    ...settings,
    base,
    pool: openPool(base.origin, timeoutMs, concurrency, { assertMaySend }),
    connections: new Semaphore(concurrency),
    counters: new HttpCounters(),
    // An access token is redacted, too.
    safeText: accessTokens ? (text, maxLength) => known(accessTokens.redact(text), maxLength) : known,
  };
  return {
    async send(request: ServiceRequest): Promise<ServiceAnswer> {
      const signal = eitherSignal(closing.signal, request.signal);
      return sendUntilDone(wire, await callFor(wire, request, signal));
    },
    stats: (): Readonly<HttpCounters> => structuredClone(wire.counters),
    /** Aborts what is in flight. Nothing can be sent afterwards. */
    close: async () => {
      closing.abort();
      await wire.pool.destroy();
    },
  };
}

const defaults = {
  ...transportDefaults,
  attempts: retries.command.attempts,
  backoff: retries.command,
  secrets: [],
  protocol: {},
  pathPrefix: "",
  accessTokens: null,
};
type FullOptions = HttpOptions & Required<Pick<HttpOptions, keyof typeof defaults>>;

async function sendUntilDone(wire: Wire & FullOptions, call: PreparedCall): Promise<ServiceAnswer> {
  const { where, signal } = call;
  for (let failed = 0, refused = 0; ;) {
    try {
      return await attemptWithToken(wire, call);
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      const { kind, message } = error;
      // The service did not take the request: repeating it is safe for every method.
      const isRateLimited = kind === "rate_limited";
      [failed, refused] = isRateLimited ? [failed, refused + 1] : [failed + 1, 0];
      const retryInMs = retryAfter(error, call, failed, refused, wire);
      if (retryInMs === null) throw error;
      const fields = { request: where, kind, error: message, retry_in_ms: retryInMs };
      // The rate limiter logs answers 429 itself.
      if (!isRateLimited) wire.log.warn("a request failed and is tried again", fields);
      await wire.clock.sleep(retryInMs, signal);
      throwIfAborted(signal, `${where}: stopped before another attempt`);
    }
  }
}

async function callFor(wire: Wire & FullOptions, request: ServiceRequest, signal: AbortSignal) {
  const { method, path, lane = "list", once = false } = request;
  const { headers, body } = await contentOf(request);
  return {
    ...request,
    where: `${method} ${path}`,
    target: targetOf({ ...wire.base, path: wire.base.path + wire.pathPrefix }, request),
    headers: { ...requestHeaders(wire, request), ...headers },
    body,
    lane,
    signal,
    once,
  };
}

/** A form is encoded once, so that another attempt sends the same bytes. */
async function contentOf({ json, form }: ServiceRequest): Promise<Pick<PreparedCall, "headers" | "body">> {
  if (json !== undefined)
    return { headers: { "content-type": "application/json" }, body: JSON.stringify(json) };
  if (!form) return { headers: {}, body: null };
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "multipart/form-data";
  return { headers: { "content-type": type }, body: Buffer.from(await encoded.arrayBuffer()) };
}

/**
 * Pure: the pause before a call is sent again after this failure; null: it is not.
 *
 * @param failed attempts that failed for another reason than 429
 * @param refused answers 429 in a row
 */
function retryAfter(
  error: MirrorError,
  { method, idempotencyKey, once }: Pick<PreparedCall, "method" | "idempotencyKey" | "once">,
  failed: number,
  refused: number,
  { attempts, backoff, random }: FullOptions,
): number | null {
  // Another answer could not be written to the disk either.
  if (once || error.kind === "database") return null;
  if (error.kind === "rate_limited") return refused < retries.command.refusals ? 0 : null;
  const isRepeatable = method === "GET" || idempotencyKey !== undefined;
  if (!error.retryable || !isRepeatable || failed >= attempts) return null;
  const asked = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(Math.min(asked, retries.command.longestAskedMs), backoffMs(failed, backoff, random));
}
