import type { Dispatcher } from "undici";
import { ended } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import { laneRank } from "../base/lane.ts";
import type { Semaphore } from "../base/semaphore.ts";
import { ProtocolError, UnauthenticatedError, type ServiceError } from "../connector/service-errors.ts";
import type { Protocol } from "../connector/service-protocol.ts";
import type { ServiceAnswer, ServiceRequest } from "../connector/transport.ts";
import type { Permit, RateLimiter } from "../rate-limit/permit.ts";
import type { AccessTokens } from "./access-tokens.ts";
import type { BaseUrl } from "./base-url.ts";
import type { ClockSkew } from "./clock-skew.ts";
import { errorOfStatus, networkErrorOf, parseErrorBody, timeoutError } from "./http-errors.ts";
import type { BrokenRequest, ErrorBody, SafeText } from "./http-errors.ts";
import { answerHeaders, budgetHeaders, isJson, mediaType, retryAfterS } from "./headers.ts";
import { discardBody, readResponseBody } from "./response-body.ts";

/** Counts of a transport, for reports and metrics. */
export class HttpCounters {
  /** Requests given to a connection, repeated ones too, and those that lost their right in that very step. */
  requests = 0;
  /** A map: an object with the key 404 gets room for all numbers below it, 5 kB for each company. */
  readonly byStatus = new Map<number, number>();
  rateLimited = 0;
  unanswered = 0;
  waitedMs = 0;
}

export interface Wire {
  readonly base: BaseUrl;
  readonly pool: Dispatcher;
  readonly rateLimiter: RateLimiter;
  /** One place for each exchange in progress, head and body. */
  readonly connections: Semaphore;
  readonly clock: Clock;
  readonly counters: HttpCounters;
  readonly skew?: ClockSkew;
  readonly safeText: SafeText;
  /** For one exchange, head and body together. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly protocol: Protocol;
  /** Gets access tokens for the token, which is then what they are asked for with. Null: it is sent itself. */
  readonly accessTokens: AccessTokens | null;
}

export type PreparedCall = ServiceRequest &
  Required<Pick<ServiceRequest, "lane" | "signal" | "once">> & {
    readonly where: string;
    readonly target: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | Buffer | null;
  };

/** An answer whose head has arrived. Exactly one of `read` and `discard` is called. */
type ReceivedHead = Awaited<ReturnType<typeof headOf>>;

const mostRedirects = 3;
const errorBodyBytes = 64_000;

/** One attempt of a call. Each redirect is a request of its own, with a permit of its own. Throws MirrorErrors. */
export async function attempt(wire: Wire, call: PreparedCall): Promise<ServiceAnswer> {
  let { target } = call;
  for (let redirects = 0; ; redirects++) {
    const hop = { ...call, target };
    const result = await exchange(wire, hop, (head) => react(wire, hop, head, redirects));
    if (typeof result !== "string") return result;
    target = result;
  }
}

/** Tried for a call: one that has ended, a new one, and what another process has stored that ended the new one. */
const mostTokens = 3;

/** One attempt of a call. Where there are access tokens it is made again with the next one where the service refuses the token. */
export async function attemptWithToken(wire: Wire, call: PreparedCall): Promise<ServiceAnswer> {
  const { accessTokens } = wire;
  if (!accessTokens) return attempt(wire, call);
  const ask = (authorization: string) => askForToken(wire, call, authorization);
  for (let tried = 1; ; tried++) {
    const token = await accessTokens.current(ask, call);
    const headers = { ...call.headers, authorization: `Bearer ${token}` };
    try {
      return await attempt(wire, { ...call, headers });
    } catch (error) {
      if (!(error instanceof UnauthenticatedError) || error.status !== 401) throw error;
      const isAnotherThere = accessTokens.refuse(token);
      if (tried === mostTokens || (tried > 1 && !isAnotherThere)) throw error;
    }
  }
}

/** Asks for an access token in the lane of the call that needs it. Throws what the attempt ended with. */
async function askForToken(wire: Wire, call: PreparedCall, authorization: string): Promise<Buffer> {
  const { access } = wire.protocol;
  const path = access?.kind === "client_credentials" ? access.tokenPath : "";
  const type = { accept: "application/json", "content-type": "application/json" };
  const { body } = await attempt(wire, {
    method: "POST",
    path,
    where: `POST ${path}`,
    target: wire.base.path + path,
    headers: { ...call.headers, ...type, authorization },
    body: JSON.stringify({ grant_type: "client_credentials" }),
    expect: "json",
    lane: call.lane,
    signal: call.signal,
    once: true,
  });
  return body;
}

/** The outcome, or the path and query that the service redirects to. */
async function react(wire: Wire, call: PreparedCall, head: ReceivedHead, redirects: number) {
  if (head.status >= 200 && head.status < 300) return succeed(wire, call, head);
  if (![301, 302, 303, 307, 308].includes(head.status)) throw await errorOf(wire, head);
  head.discard();
  return redirectTarget(wire, call, head, redirects);
}

async function succeed(wire: Wire, call: PreparedCall, head: ReceivedHead): Promise<ServiceAnswer> {
  const unexpected = unexpectedContent(call.expect, head, wire.safeText);
  if (unexpected !== null) {
    head.discard();
    throw contentError(head, unexpected);
  }
  const body = await head.read(wire.maxResponseBytes, call.into);
  if (call.expect === "json" && body.length === 0) throw contentError(head, "an empty answer");
  const { status, requestId } = head;
  return { status, body, requestId };
}

/** What came in place of the expected kind of answer, known by its head; null: nothing is wrong. */
function unexpectedContent(expect: PreparedCall["expect"], head: ReceivedHead, safeText: SafeText) {
  const { status, headers } = head;
  if (status === 204) return expect === "nothing" ? null : "no content";
  const type = mediaType(headers);
  const isEmpty = type === "" || headers["content-length"] === "0";
  const fits = { json: isJson(type), bytes: type !== "text/html", nothing: isJson(type) || isEmpty };
  if (fits[expect]) return null;
  return type === "" ? "no content type" : `content type ${JSON.stringify(safeText(type, 60))}`;
}

/** A page of a proxy or a maintenance page. Retryable: it may be gone in a moment. */
function contentError({ where, status, requestId }: ReceivedHead, got: string): ProtocolError {
  return new ProtocolError(`${where}: ${status} with ${got} in place of what the interface promises`, {
    status,
    requestId,
    retryable: true,
    hint: "a proxy or a maintenance page may be answering for the service; check base_url if it stays",
  });
}

/** Only reads are redirected, and only within the service's own origin: the token goes nowhere else (I9). */
function redirectTarget(
  { base, safeText }: Wire,
  { method, target: current }: PreparedCall,
  head: ReceivedHead,
  redirects: number,
): string {
  const here = base.origin + current;
  const { location } = head.headers;
  if (location === undefined || !URL.canParse(location, here)) throw redirectError(head, "nowhere");
  const target = new URL(location, here);
  if (target.origin !== base.origin || target.username || target.password)
    throw redirectError(head, `to ${safeText(target.origin, 100)}, where the token must not go`);
  if (method !== "GET") throw redirectError(head, "of a call that is not a read");
  if (redirects >= mostRedirects) throw redirectError(head, `more than ${mostRedirects} times`);
  return target.pathname + target.search;
}

function redirectError({ where, status, requestId }: ReceivedHead, what: string): ProtocolError {
  return new ProtocolError(`${where}: redirected ${what} (${status})`, {
    status,
    requestId,
    hint: "check base_url: it must be the address that answers itself",
  });
}

async function errorOf(wire: Wire, head: ReceivedHead): Promise<ServiceError> {
  const waitS = retryAfterS(head.headers, wire.clock.nowMs());
  const read = await readErrorBody(wire, head);
  const isOwn = head.headers[wire.protocol.ownHeader ?? ""] !== undefined;
  const body = isOwn ? { ...read, message: read.message ?? "no message" } : read;
  return errorOfStatus(head, body, waitS === null ? null : waitS * 1000);
}

/** The status alone is enough: a body that cannot be read does not hide it, unless the caller stops. */
async function readErrorBody(wire: Wire, head: ReceivedHead): Promise<ErrorBody> {
  try {
    return parseErrorBody(await head.read(errorBodyBytes), wire.safeText);
  } catch (error) {
    if (error instanceof MirrorError && error.kind === "stopped") throw error;
    return { message: null, fields: {} };
  }
}

/**
 * One exchange: a permit, a connection, a deadline over head and body. Whatever happens, the permit is finished,
 * the connection released and the timer stopped. Throws MirrorErrors only.
 */
async function exchange<T>(
  wire: Wire,
  call: PreparedCall,
  use: (head: ReceivedHead) => Promise<T>,
): Promise<T> {
  const permit = await waitForPermit(wire, call);
  const release = await waitForConnection(wire, call, permit);
  const deadline = startDeadline(wire, call.signal);
  try {
    return await use(await headOf(wire, call, permit, deadline));
  } finally {
    deadline.stop();
    release();
  }
}

/** Aborted waits are counted too. */
async function waitForPermit({ rateLimiter, clock, counters }: Wire, { lane, signal }: PreparedCall) {
  const askedMs = clock.monotonicMs();
  try {
    return await rateLimiter.admit(lane, signal);
  } finally {
    counters.waitedMs += clock.monotonicMs() - askedMs;
  }
}

async function waitForConnection(wire: Wire, { lane, signal }: PreparedCall, permit: Permit) {
  const release = await wire.connections.acquire(signal, laneRank(lane));
  if (release) return release;
  permit.lost();
  throw new MirrorError("stopped", "stopped while waiting for a free connection");
}

async function headOf(wire: Wire, call: PreparedCall, permit: Permit, deadline: Deadline) {
  const { counters, safeText, clock } = wire;
  const sentMs = clock.monotonicMs();
  const { where, method, target: path, headers: sent, body: content } = call;
  const request = { origin: wire.base.origin, method, path, headers: sent, body: content };
  const send = async () => {
    call.onSent?.();
    counters.requests++;
    return wire.pool.request({ ...request, signal: deadline.signal });
  };
  const answer = await send().catch((error: unknown) => {
    permit.lost(deadline.signal.aborted);
    counters.unanswered++;
    throw errorOfExchange(error, wire, { where, requestId: null }, deadline);
  });
  const { statusCode: status, body } = answer;
  const headers = answerHeaders(answer.headers);
  wire.skew?.sample(headers["date"], sentMs, clock.monotonicMs());
  permit.answered(status, budgetHeaders(headers, clock.nowMs(), wire.protocol.budgetHeaders));
  counters.byStatus.set(status, (counters.byStatus.get(status) ?? 0) + 1);
  if (status === 429) counters.rateLimited++;
  const idHeader = headers["x-request-id"];
  const requestId = idHeader ? safeText(idHeader, 128) : null;
  /** Gives the body; empty where it was written into a file. */
  const read = (capBytes: number, into?: string) =>
    readResponseBody(body, headers, capBytes, into).catch((error: unknown) => {
      throw errorOfExchange(error, wire, { where, requestId }, deadline);
    });
  return { where, status, headers, requestId, read, discard: () => discardBody(body) };
}

function errorOfExchange(error: unknown, wire: Wire, request: BrokenRequest, deadline: Deadline) {
  // Nothing was sent, because it must not be.
  if (error instanceof MirrorError) return error;
  if (deadline.isTimeout()) return timeoutError(request, wire.timeoutMs);
  if (deadline.signal.aborted) return new MirrorError("stopped", `${request.where}: stopped`);
  return networkErrorOf(error, request, wire.safeText);
}

type Deadline = ReturnType<typeof startDeadline>;

/** Aborts one exchange as a whole: when its time is over, however slowly bytes come, or when the caller stops. */
function startDeadline({ clock, timeoutMs }: Wire, caller: AbortSignal) {
  const [end, timer] = [new AbortController(), new AbortController()];
  let isOver = false;
  const stopped = () => end.abort(caller.reason);
  const watch = async () => {
    await clock.sleep(timeoutMs, timer.signal);
    if (timer.signal.aborted || caller.aborted) return;
    isOver = true;
    end.abort();
  };
  caller.addEventListener("abort", stopped);
  if (caller.aborted) stopped();
  void watch();
  return {
    signal: end.signal,
    isTimeout: () => isOver,
    stop: () => {
      caller.removeEventListener("abort", stopped);
      timer.abort(ended);
    },
  };
}
