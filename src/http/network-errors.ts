import { messageOf, MirrorError } from "../base/errors.ts";
import { NetworkError, ProtocolError } from "../connector/service-errors.ts";
import type { AnswerHead } from "./error-answer.ts";
import { BodyError } from "./response-body.ts";
import type { SafeText } from "./safe-text.ts";

/** The request that broke. */
export type BrokenRequest = Pick<AnswerHead, "where" | "requestId">;

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name does not resolve",
  EAI_AGAIN: "the host name could not be resolved just now",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was closed",
  ETIMEDOUT: "the connection timed out",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
};

/**
 * Why there is no (whole) answer, as a MirrorError. The library's own error is not kept as the cause: it may hold
 * the request with its token (I9).
 */
export function networkErrorOf(error: unknown, request: BrokenRequest, safeText: SafeText): MirrorError {
  const { where, requestId } = request;
  const code = codeOf(error);
  const why = reasons[code] ?? safeText(messageOf(error));
  const cause = Object.assign(new Error(why), { code });
  if (error instanceof BodyError)
    return new ProtocolError(`${where}: ${why}`, {
      requestId,
      retryable: error.fault === "encoding",
      ...(error.fault === "too_large" && { hint: "raise http.max_response if this is expected" }),
    });
  if (isNoTls(code, why))
    return new NetworkError(`${where}: what answers at base_url speaks no HTTPS`, {
      requestId,
      retryable: false,
      hint: "check the address and the port of base_url; http:// is for this machine only",
      cause,
    });
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code))
    return new NetworkError(`${where}: the service's certificate is not accepted: ${why}`, {
      requestId,
      retryable: false,
      hint: "check the clock of this machine, base_url and the trusted certificates (NODE_EXTRA_CA_CERTS)",
      cause,
    });
  if (isNotHttp(error, code))
    return new ProtocolError(`${where}: the answer is not proper HTTP: ${why}`, {
      requestId,
      retryable: true,
      cause,
    });
  if (code === "UND_ERR_INVALID_ARG" || code === "ERR_INVALID_CHAR")
    return new MirrorError("usage", `${where}: the request cannot be sent: ${why}`, { cause });
  return new NetworkError(`${where}: ${why}`, {
    requestId,
    hint: "check the network, HTTPS_PROXY where it is set, and base_url; the next run goes on where this one stopped",
    cause,
  });
}

/** No complete answer within the time of one attempt. */
export function timeoutError({ where, requestId }: BrokenRequest, timeoutMs: number): NetworkError {
  return new NetworkError(`${where}: no complete answer within ${timeoutMs} ms`, {
    requestId,
    hint: "the service is slow or the network is bad; http.timeout sets the limit of one attempt",
  });
}

function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}

/** A server without TLS, or something between that ended it. */
function isNoTls(code: string, why: string): boolean {
  return /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code) || /wrong version number/.test(why);
}

function isNotHttp(error: unknown, code: string): boolean {
  const byName = error instanceof Error && error.name === "HTTPParserError";
  return byName || code.startsWith("HPE_") || code === "UND_ERR_HEADERS_OVERFLOW";
}
