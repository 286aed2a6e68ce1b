import {
  ForbiddenError,
  InvalidError,
  NotFoundError,
  ProtocolError,
  RateLimitedError,
  UnauthenticatedError,
  UnavailableError,
  type ServiceError,
  type ServiceErrorOptions,
} from "../connector/service-errors.ts";
import { isObject } from "../json/literal.ts";
import type { SafeText } from "./safe-text.ts";

/** The head of an answer, as errors name it. */
export interface AnswerHead {
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
  const fields = errors
    .slice(0, mostFields)
    .map(([field, messages]) => [safeText(field, 100), textsIn(messages, safeText)]);
  return {
    message: typeof message === "string" && message.trim() !== "" ? safeText(message) : null,
    fields: Object.fromEntries(fields) as ErrorBody["fields"],
  };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const content: unknown = JSON.parse(text);
    return isObject(content) ? content : {};
  } catch {
    return {};
  }
}

function textsIn(messages: unknown, safeText: SafeText): string[] {
  const texts = [messages].flat().filter((message) => typeof message === "string");
  return texts.slice(0, mostMessages).map((message) => safeText(message));
}

const hints: Readonly<Record<number, string>> = {
  402: "the service blocked the account, mostly for its own unpaid bills: log in there, and pay them",
  401: "the token is missing, wrong or revoked: put a valid token of this company into the config",
  403: "the token or company lacks the permission for this: check its scope in the service",
  404: "it does not exist for this company, or base_url is not the address of the public API",
  422: "the service does not accept these values",
  429: "other programs use up this company's request budget: try later, or lower their rate",
};
const serverHint = "the service has trouble: try again later; give the request id to its support if it stays";

/** The error that a status other than 2xx and redirects stands for. */
export function errorOfStatus(
  head: AnswerHead,
  body: ErrorBody,
  retryAfterMs: number | null = null,
): ServiceError {
  const { status, requestId } = head;
  const hint = status >= 500 ? serverHint : hints[status];
  const options: ServiceErrorOptions = {
    status,
    requestId,
    serviceMessage: body.message,
    retryAfterMs,
    hint,
  };
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
