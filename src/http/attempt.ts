import { MirrorError } from "../base/errors.ts";
import type { ServiceAnswer, ServiceRequest } from "../connector/transport.ts";
import type { BaseUrl } from "./base-url.ts";
import type { BodyCaps } from "./response-body.ts";
import { emptyJson, wrongKind } from "./content.ts";
import { parseErrorBody, type ErrorBody } from "./error-body.ts";
import { exchange, type Head, type Message, type Wire } from "./exchange.ts";
import { errorOfStatus, type Failure } from "./error-answer.ts";
import { retryAfterS } from "./headers.ts";
import { followed, isRedirect } from "./redirect.ts";

export interface Call {
  readonly base: BaseUrl;
  readonly message: Message;
  readonly expect: ServiceRequest["expect"];
  readonly caps: BodyCaps;
}

type Answer = Omit<ServiceAnswer, "attempts">;
export type Outcome = { readonly answer: Answer } | { readonly failure: Failure };
type Reaction = Outcome | { readonly next: string };

const errorBodyBytes = 64_000;
const nothingSaid: ErrorBody = { message: null, fields: {} };

/** One attempt of a call, redirects included: each hop is a request of its own. */
export async function attempt(wire: Wire, call: Call): Promise<Outcome> {
  try {
    let target = call.message.target;
    for (let hops = 0; ; hops++) {
      const message = { ...call.message, target };
      const reaction = await exchange(wire, message, (head) => react(wire, { ...call, message }, head, hops));
      if (!("next" in reaction)) return reaction;
      target = reaction.next;
    }
  } catch (error) {
    if (error instanceof MirrorError) return failed(error);
    throw error;
  }
}

async function react(wire: Wire, call: Call, head: Head, hops: number): Promise<Reaction> {
  if (head.status >= 200 && head.status < 300) return succeeded(wire, call, head);
  if (isRedirect(head.status)) return redirected(wire, call, head, hops);
  return refused(wire, call, head);
}

async function succeeded(wire: Wire, call: Call, head: Head): Promise<Outcome> {
  const success = { where: call.message.where, ...head };
  const wrong = wrongKind(success, call.expect, wire.safeText);
  if (wrong) {
    head.leave();
    return failed(wrong);
  }
  const body = await head.read(call.caps);
  const empty = emptyJson(success, call.expect, body);
  if (empty) return failed(empty);
  const { status, headers, requestId } = head;
  return { answer: { status, headers, body, requestId } };
}

function redirected(wire: Wire, call: Call, head: Head, hops: number): Reaction {
  head.leave();
  const { where, method, target } = call.message;
  const { status, requestId } = head;
  const location = head.headers["location"];
  const next = followed(
    call.base,
    { where, status, requestId, method, location, from: target, hops },
    wire.safeText,
  );
  return typeof next === "string" ? { next } : failed(next);
}

async function refused(wire: Wire, call: Call, head: Head): Promise<Outcome> {
  const { status, requestId, headers } = head;
  const said = await errorBody(wire, head);
  const waitS = retryAfterS(headers, wire.clock.nowMs());
  const error = errorOfStatus({ where: call.message.where, status, requestId, said });
  return failed(error, waitS === null ? null : waitS * 1000);
}

/** The status alone is enough: a body that cannot be read does not hide it, unless the caller stops. */
async function errorBody(wire: Wire, head: Head): Promise<ErrorBody> {
  try {
    return parseErrorBody(
      await head.read({ bytes: errorBodyBytes, wireBytes: errorBodyBytes }),
      wire.safeText,
    );
  } catch (error) {
    if (error instanceof MirrorError && error.kind === "stopped") throw error;
    return nothingSaid;
  }
}

function failed(error: MirrorError, retryAfterMs: number | null = null): { readonly failure: Failure } {
  return { failure: { error, retryAfterMs } };
}
