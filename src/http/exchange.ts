import type { Dispatcher } from "undici";
import { ended } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import { laneRank } from "../base/lane.ts";
import type { Semaphore } from "../base/semaphore.ts";
import type { Protocol } from "../connector/service-protocol.ts";
import type { ServiceRequest } from "../connector/transport.ts";
import type { Permit, RateLimiter } from "../rate-limit/permit.ts";
import type { AccessTokens } from "./access-tokens.ts";
import type { BaseUrl } from "./base-url.ts";
import type { ClockSkew } from "./clock-skew.ts";
import { networkErrorOf, timeoutError } from "./http-errors.ts";
import type { AnswerHead, BrokenRequest, SafeText } from "./http-errors.ts";
import { answerHeaders, budgetHeaders, type AnswerHeaders } from "./headers.ts";
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
    /** `GET /invoices/7` */
    readonly where: string;
    readonly target: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | Buffer | null;
  };

/** An answer whose head has arrived. Exactly one of `read` and `discard` is called. */
export interface ReceivedHead extends AnswerHead {
  readonly headers: AnswerHeaders;
  /** Gives the body; empty where it was written into a file. */
  read(capBytes: number, into?: string): Promise<Buffer>;
  discard(): void;
}

/**
 * One exchange: a permit, a connection, a deadline over head and body. Whatever happens, the permit is finished,
 * the connection released and the timer stopped. Throws MirrorErrors only.
 */
export async function exchange<T>(
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
  const { where } = call;
  const { counters, safeText, clock } = wire;
  const sentMs = clock.monotonicMs();
  const { method, target: path, headers: sent, body: content } = call;
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
