import { MirrorError } from "../base/errors.ts";
import { ProtocolError } from "../connector/service-errors.ts";
import type { ServiceAnswer, ServiceRequest } from "../connector/transport.ts";
import type { BaseUrl } from "./base-url.ts";
import { errorOfStatus, parseErrorBody, type AnswerHead, type ErrorBody } from "./error-answer.ts";
import { exchange, type Head, type Message, type Wire } from "./exchange.ts";
import { isJson, mediaType, retryAfterS } from "./headers.ts";
import type { BodyCaps } from "./response-body.ts";
import type { SafeText } from "./safe-text.ts";

/** A request ready to be sent, as often as needed. */
export interface Call {
  readonly base: BaseUrl;
  readonly message: Message;
  readonly expect: ServiceRequest["expect"];
  readonly caps: BodyCaps;
}

/** One attempt that gave no 2xx answer. */
export interface Failure {
  readonly error: MirrorError;
  /** What the service asks to wait; null when it does not. */
  readonly retryAfterMs: number | null;
}

/** The end of one attempt. */
export type Outcome = { readonly answer: Omit<ServiceAnswer, "attempts"> } | { readonly failure: Failure };

const mostRedirects = 3;
const errorBodyBytes = 64_000;
const emptyBody: ErrorBody = { message: null, fields: {} };

/** One attempt of a call. Each redirect is a request of its own, with a permit of its own. */
export async function attempt(wire: Wire, call: Call): Promise<Outcome> {
  try {
    let target = call.message.target;
    for (let redirects = 0; ; redirects++) {
      const hop = { ...call, message: { ...call.message, target } };
      const result = await exchange(wire, hop.message, (head) => react(wire, hop, head, redirects));
      if (typeof result !== "string") return result;
      target = result;
    }
  } catch (error) {
    if (error instanceof MirrorError) return { failure: { error, retryAfterMs: null } };
    throw error;
  }
}

/** The outcome, or the path and query that the service redirects to. */
async function react(wire: Wire, call: Call, head: Head, redirects: number): Promise<Outcome | string> {
  const { status, requestId } = head;
  const named: AnswerHead = { where: call.message.where, status, requestId };
  if (status >= 200 && status < 300) return succeed(wire, call, head, named);
  if ([301, 302, 303, 307, 308].includes(status)) {
    head.discard();
    const redirection = { location: head.headers["location"], redirects };
    return redirectTarget(call, redirection, (what) => redirectError(named, what), wire.safeText);
  }
  return fail(wire, head, named);
}

async function succeed(wire: Wire, call: Call, head: Head, named: AnswerHead): Promise<Outcome> {
  const unexpected = unexpectedContent(call.expect, head, wire.safeText);
  if (unexpected !== null) {
    head.discard();
    throw contentError(named, unexpected);
  }
  const body = await head.read(call.caps);
  if (call.expect === "json" && body.length === 0) throw contentError(named, "an empty answer");
  const { status, headers, requestId } = head;
  return { answer: { status, headers, body, requestId } };
}

/** What came in place of the expected kind of answer, known by its head; null: nothing is wrong. */
function unexpectedContent(expect: Call["expect"], head: Head, safeText: SafeText): string | null {
  const { status, headers } = head;
  if (status === 204) return expect === "nothing" ? null : "no content";
  const type = mediaType(headers);
  const isEmpty = type === "" || headers["content-length"] === "0";
  const fits = {
    json: isJson(type),
    bytes: type !== "text/html",
    nothing: isJson(type) || isEmpty,
  };
  if (fits[expect]) return null;
  return type === "" ? "no content type" : `content type ${JSON.stringify(safeText(type, 60))}`;
}

/** A page of a proxy or a maintenance page. Retryable: it may be gone in a moment. */
function contentError({ where, status, requestId }: AnswerHead, got: string): ProtocolError {
  return new ProtocolError(`${where}: ${status} with ${got} in place of what the interface promises`, {
    status,
    requestId,
    retryable: true,
    hint: "a proxy or a maintenance page may be answering for the service; check base_url if it stays",
  });
}

/** Only reads are redirected, and only within the service's own origin: the token goes nowhere else (I9). */
function redirectTarget(
  { base, message }: Call,
  { location, redirects }: { readonly location: string | undefined; readonly redirects: number },
  refused: (what: string) => ProtocolError,
  safeText: SafeText,
): string {
  const here = base.origin + message.target;
  if (location === undefined || !URL.canParse(location, here)) throw refused("nowhere");
  const target = new URL(location, here);
  if (target.origin !== base.origin || target.username || target.password)
    throw refused(`to ${safeText(target.origin, 100)}, where the token must not go`);
  if (message.method !== "GET") throw refused("of a call that is not a read");
  if (redirects >= mostRedirects) throw refused(`more than ${mostRedirects} times`);
  return target.pathname + target.search;
}

function redirectError({ where, status, requestId }: AnswerHead, what: string): ProtocolError {
  return new ProtocolError(`${where}: redirected ${what} (${status})`, {
    status,
    requestId,
    hint: "check base_url: it must be the address that answers itself",
  });
}

async function fail(wire: Wire, head: Head, named: AnswerHead): Promise<Outcome> {
  const waitS = retryAfterS(head.headers, wire.clock.nowMs());
  const error = errorOfStatus(named, await readErrorBody(wire, head));
  return { failure: { error, retryAfterMs: waitS === null ? null : waitS * 1000 } };
}

/** The status alone is enough: a body that cannot be read does not hide it, unless the caller stops. */
async function readErrorBody(wire: Wire, head: Head): Promise<ErrorBody> {
  try {
    const body = await head.read({ bytes: errorBodyBytes, wireBytes: errorBodyBytes });
    return parseErrorBody(body, wire.safeText);
  } catch (error) {
    if (error instanceof MirrorError && error.kind === "stopped") throw error;
    return emptyBody;
  }
}
