import { codeOf, messageOf, MirrorError, systemProblem } from "../base/errors.ts";
import { onceFor } from "../base/once-for.ts";
import { createRedactor } from "../base/secret.ts";
import { terminalText } from "../base/terminal-text.ts";
import {
  ForbiddenError,
  InvalidError,
  NetworkError,
  NotFoundError,
  ProtocolError,
  RateLimitedError,
  UnauthenticatedError,
  UnavailableError,
} from "../connector/service-errors.ts";
import { isObject, objectIn } from "../json/literal.ts";
import { BodyError } from "./response-body.ts";

/** Makes a text of the service one line that is safe to print: secrets redacted (I9), shortened. @default 300 */
export type SafeText = (text: string, maxLength?: number) => string;

const minPartLength = 12;

export function createSafeText(token: string, secrets: readonly string[] = []): SafeText {
  const redacted = redactorOf(secrets.includes(token) ? secrets : [...secrets, token]);
  return (text, maxLength = 300) => terminalText(redacted(text).replace(/\s+/g, " ").trim(), maxLength);
}

/** All companies' transports have the same list. The long parts of a token such as `17|abc…` are secrets too. */
const redactorOf = onceFor((secrets: readonly string[]) => {
  const parts = secrets.flatMap((secret) => secret.split("|").filter((part) => part.length >= minPartLength));
  return createRedactor([...secrets, ...parts]);
});

interface AnswerHead {
  /** `GET /invoices/7` */
  readonly where: string;
  readonly status: number;
  readonly requestId: string | null;
}

/** An error body of the service, safe to print. */
export interface ErrorBody {
  readonly message: string | null;
  /** Messages by field; status 422. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

const mostFields = 50;
const mostMessages = 10;

/** Reads `message` (or `error_description`, or `error`) and `errors` of an error body; other content gives an empty one. */
export function parseErrorBody(body: Buffer, safeText: SafeText): ErrorBody {
  const content = objectIn(body.toString());
  const message = content["message"] ?? content["error_description"] ?? content["error"];
  const errors = isObject(content["errors"]) ? Object.entries(content["errors"]) : [];
  const textsIn = (messages: unknown) =>
    [messages]
      .flat()
      .filter((one) => typeof one === "string")
      .slice(0, mostMessages)
      .map((one) => safeText(one));
  const fields = errors
    .slice(0, mostFields)
    .map(([name, messages]) => [safeText(name, 100), textsIn(messages)]);
  return {
    message: typeof message === "string" && message.trim() !== "" ? safeText(message) : null,
    fields: Object.fromEntries(fields) as ErrorBody["fields"],
  };
}

const hints: Readonly<Record<number, string>> = {
  402: "the service blocked the account, mostly for its own unpaid bills: log in there, and pay them",
  401: "the token, or the client id and secret, is missing, wrong or revoked: put a valid one of this company into the config",
  403: "the company, or what it proves itself with, lacks the permission for this: check its scope in the service",
  404: "it does not exist for this company, or base_url is not the address of the public API",
  422: "the service does not accept these values",
  429: "other programs use up this company's request budget: try later, or lower their rate",
};
const serverHint = "the service has trouble: try again later; give the request id to its support if it stays";

/** The error that a status other than 2xx and redirects stands for. */
export function errorOfStatus(head: AnswerHead, body: ErrorBody, retryAfterMs: number | null = null) {
  const { status, requestId } = head;
  const hint = status >= 500 ? serverHint : hints[status];
  const options = { status, requestId, serviceMessage: body.message, retryAfterMs, hint };
  const message = messageFor(head, body);
  if (status === 401 || status === 402) return new UnauthenticatedError(message, options);
  if (status === 403) return new ForbiddenError(message, options);
  if (status === 404) return new NotFoundError(message, options);
  if (status === 422) return new InvalidError(message, body.fields, options);
  if (status === 429) return new RateLimitedError(message, options);
  if (status >= 500) return new UnavailableError(message, options);
  return new ProtocolError(message, options);
}

function messageFor({ where, status, requestId }: AnswerHead, body: ErrorBody): string {
  const fields = Object.entries(body.fields).map(([field, messages]) => `${field}: ${messages.join(", ")}`);
  const text = [body.message ?? "(no message)", ...fields.slice(0, 3)].join("; ");
  return `${where}: ${status} ${text}${requestId ? ` (request ${requestId})` : ""}`;
}

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
  // Of this machine, not of the network.
  const local = /^E[MN]FILE$/.test(code) ? systemProblem(error) : null;
  const why = local?.reason ?? reasons[code] ?? safeText(messageOf(error));
  const broken = { requestId, cause: Object.assign(new Error(why), { code }) };
  if (error instanceof BodyError)
    return new ProtocolError(`${where}: ${why}`, {
      requestId,
      retryable: error.fault === "encoding",
      ...(error.fault === "too_large" && { hint: "raise http.max_response if this is expected" }),
    });
  // A server without TLS, or something between that ended it.
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code) || /wrong version number/.test(why))
    return new NetworkError(`${where}: what answers speaks no HTTPS`, {
      ...broken,
      retryable: false,
      hint: "check the address and the port of base_url, and HTTPS_PROXY where it is set; http:// is for this machine only",
    });
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code))
    return new NetworkError(`${where}: the service's certificate is not accepted: ${why}`, {
      ...broken,
      retryable: false,
      hint: "check the clock of this machine, base_url and the trusted certificates (NODE_EXTRA_CA_CERTS)",
    });
  const isParser = error instanceof Error && error.name === "HTTPParserError";
  if (isParser || code.startsWith("HPE_") || code === "UND_ERR_HEADERS_OVERFLOW") {
    const options = { ...broken, retryable: true };
    return new ProtocolError(`${where}: the answer is not proper HTTP: ${why}`, options);
  }
  if (code === "UND_ERR_INVALID_ARG" || code === "ERR_INVALID_CHAR")
    return new MirrorError("usage", `${where}: the request cannot be sent: ${why}`, { cause: broken.cause });
  const hint =
    "check the network, HTTPS_PROXY where it is set, and base_url; the next run goes on where this one stopped";
  return new NetworkError(`${where}: ${why}`, { ...broken, hint: local?.hint ?? hint });
}

export function timeoutError({ where, requestId }: BrokenRequest, timeoutMs: number): NetworkError {
  return new NetworkError(`${where}: no complete answer within ${timeoutMs} ms`, {
    requestId,
    hint: "the service is slow or the network is bad; http.timeout sets the limit of one attempt",
  });
}
