import { MirrorError } from "../base/errors.ts";
import { ProtocolError, UnauthenticatedError, type ServiceError } from "../connector/service-errors.ts";
import type { ServiceAnswer } from "../connector/transport.ts";
import { errorOfStatus, parseErrorBody, type ErrorBody, type SafeText } from "./http-errors.ts";
import { exchange, type PreparedCall, type ReceivedHead, type Wire } from "./exchange.ts";
import { isJson, mediaType, retryAfterS } from "./headers.ts";

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

/** One attempt of a call. Where there are access tokens it is made again, once, if the service refuses the token: it may have ended. */
export async function attemptWithToken(wire: Wire, call: PreparedCall): Promise<ServiceAnswer> {
  const { accessTokens } = wire;
  if (!accessTokens) return attempt(wire, call);
  const ask = (authorization: string) => askForToken(wire, call, authorization);
  for (let isRenewed = false; ; isRenewed = true) {
    const token = await accessTokens.current(ask, call);
    const headers = { ...call.headers, authorization: `Bearer ${token}` };
    try {
      return await attempt(wire, { ...call, headers });
    } catch (error) {
      const isRefused = error instanceof UnauthenticatedError && error.status === 401;
      if (isRefused) accessTokens.refuse(token);
      if (!isRefused || isRenewed) throw error;
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
