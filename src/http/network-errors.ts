import { MirrorError } from "../base/errors.ts";
import { NetworkError, ProtocolError } from "../connector/service-errors.ts";
import { BodyError } from "./response-body.ts";
import type { SafeText } from "./safe-text.ts";

export interface Broken {
  readonly where: string;
  readonly requestId: string | null;
  readonly timeoutMs: number;
}

const plain: Readonly<Record<string, string>> = {
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
const networkHint = "check the network, the proxy and base_url; the next run goes on where this one stopped";

/** Why there is no (whole) answer. The library's error is not passed on: it may know the request. */
export function networkErrorOf(error: unknown, broken: Broken, words: SafeText): MirrorError {
  const { where, requestId } = broken;
  if (error instanceof MirrorError) return error;
  if (error instanceof BodyError)
    return new ProtocolError(`${where}: ${words(error.message)}`, {
      requestId,
      retryable: error.fault === "encoding",
      ...(error.fault === "too_large" && { hint: "raise http.max_response if this is expected" }),
    });
  const code = codeOf(error);
  const why = plain[code] ?? words(error instanceof Error ? error.message : String(error));
  const cause = causeOf(code, why);
  if (isCertificate(code))
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
  return new NetworkError(`${where}: ${why}`, { requestId, hint: networkHint, cause });
}

export function timeoutError({ where, requestId, timeoutMs }: Broken): NetworkError {
  return new NetworkError(`${where}: no complete answer within ${timeoutMs} ms`, {
    requestId,
    hint: "the service is slow or the network is bad; http.timeout sets the limit of one attempt",
  });
}

function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}

function isNotHttp(error: unknown, code: string): boolean {
  const byName = error instanceof Error && error.name === "HTTPParserError";
  return byName || code.startsWith("HPE_") || code === "UND_ERR_HEADERS_OVERFLOW";
}

function isCertificate(code: string): boolean {
  return /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code);
}

function causeOf(code: string, why: string): Error {
  return Object.assign(new Error(why), { code });
}
