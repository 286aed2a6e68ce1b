import type { Readable } from "node:stream";
import type { Pool } from "undici";
import type { Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import { laneRank, type Lane } from "../base/lane.ts";
import type { ServiceRequest } from "../connector/transport.ts";
import type { RateLimiter, Permit } from "../rate-limit/permit.ts";
import { discardBody, readResponseBody, type BodyCaps } from "./response-body.ts";
import { startDeadline, type Deadline } from "./deadline.ts";
import { answerHeaders, budgetHeaders, type AnswerHeaders } from "./headers.ts";
import { networkErrorOf, timeoutError } from "./network-errors.ts";
import type { Release, Semaphore } from "../base/semaphore.ts";
import type { Counter } from "./stats.ts";
import type { SafeText } from "./safe-text.ts";

/** What an exchange needs of its surroundings. */
export interface Wire {
  readonly pool: Pool;
  readonly rateLimiter: RateLimiter;
  readonly slots: Semaphore;
  readonly clock: Clock;
  readonly counter: Counter;
  readonly safeText: SafeText;
  readonly timeoutMs: number;
}

/** One request as it goes over the wire. */
export interface Message {
  readonly where: string;
  readonly method: ServiceRequest["method"];
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer | null;
  readonly lane: Lane;
  readonly signal: AbortSignal;
  readonly onSent: (() => void) | undefined;
}

/** An answer whose head has come. `read` takes its body, `leave` lets it go; one of them is called. */
export interface Head {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly requestId: string | null;
  read(caps: BodyCaps): Promise<Buffer>;
  leave(): void;
}

/**
 * One exchange: a permit, a connection, a deadline over head and body. Whatever happens, the permit is
 * settled, the connection given back and the timer stopped. Throws MirrorErrors only.
 */
export async function exchange<T>(wire: Wire, message: Message, use: (head: Head) => Promise<T>): Promise<T> {
  const permit = await permitFor(wire, message);
  const release = await slotFor(wire, message, permit);
  const deadline = startDeadline(wire.clock, wire.timeoutMs, message.signal);
  try {
    return await use(await headOf(wire, message, permit, deadline));
  } finally {
    deadline.release();
    release();
  }
}

/** A wait that was broken off was a wait, too. */
async function permitFor({ rateLimiter, clock, counter }: Wire, { lane, signal }: Message): Promise<Permit> {
  const askedMs = clock.monotonicMs();
  try {
    return await rateLimiter.admit(lane, signal);
  } finally {
    counter.waited(clock.monotonicMs() - askedMs);
  }
}

async function slotFor(wire: Wire, { lane, signal }: Message, permit: Permit): Promise<Release> {
  const release = await wire.slots.acquire(signal, laneRank(lane));
  if (release) return release;
  permit.lost();
  throw new MirrorError("stopped", "stopped while waiting for a free connection");
}

async function headOf(wire: Wire, message: Message, permit: Permit, deadline: Deadline): Promise<Head> {
  let answered = false;
  try {
    message.onSent?.();
    wire.counter.sent();
    const {
      statusCode: status,
      headers: raw,
      body,
    } = await wire.pool.request({
      method: message.method,
      path: message.target,
      headers: message.headers,
      body: message.body,
      signal: deadline.signal,
    });
    const headers = answerHeaders(raw);
    answered = true;
    permit.answered(status, budgetHeaders(headers, wire.clock.nowMs()));
    wire.counter.status(status);
    return headFrom(wire, message, deadline, { status, headers, body });
  } catch (error) {
    if (!answered) {
      permit.lost();
      wire.counter.unanswered();
    }
    throw brokenOff(wire, message, deadline, error, null);
  }
}

interface Arrived {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Readable;
}

function headFrom(wire: Wire, message: Message, deadline: Deadline, arrived: Arrived): Head {
  const { status, headers, body } = arrived;
  const said = headers["x-request-id"];
  const requestId = said ? wire.safeText(said, 128) : null;
  return {
    status,
    headers,
    requestId,
    read: (caps) =>
      readResponseBody(body, headers, caps).catch((error: unknown) => {
        throw brokenOff(wire, message, deadline, error, requestId);
      }),
    leave: () => discardBody(body),
  };
}

function brokenOff(
  wire: Wire,
  message: Message,
  deadline: Deadline,
  error: unknown,
  requestId: string | null,
) {
  const broken = { where: message.where, requestId, timeoutMs: wire.timeoutMs };
  if (deadline.ended() === "deadline") return timeoutError(broken);
  if (deadline.ended() === "stopped") return new MirrorError("stopped", `${message.where}: stopped`);
  return networkErrorOf(error, broken, wire.safeText);
}
