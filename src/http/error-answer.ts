import type { MirrorError } from "../base/errors.ts";
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
import type { ErrorBody } from "./error-body.ts";

/** One attempt that did not give a 2xx answer. */
export interface Failure {
  readonly error: MirrorError;
  /** What the service asked us to wait, if it did. */
  readonly retryAfterMs: number | null;
}

/** Where it happened, for the user: `GET /invoices/7`. */
export interface Refusal {
  readonly where: string;
  readonly status: number;
  readonly requestId: string | null;
  readonly said: ErrorBody;
}

const hints: Readonly<Record<number, string>> = {
  401: "the token is missing, wrong or revoked: put a valid token of this company into the config",
  403: "the token or company lacks the permission for this: check its scope in the service",
  404: "it does not exist for this company, or base_url is not the address of the public API",
  422: "the service does not accept these values",
  429: "other clients use up this company's request budget: try later, or lower their rate",
};
const serverHint = "the service has trouble: try again later; give the request id to its support if it stays";

export function errorOfStatus(refusal: Refusal): ServiceError {
  const { status, requestId, said } = refusal;
  const hint = status >= 500 ? serverHint : hints[status];
  const options: ServiceErrorOptions = {
    status,
    requestId,
    serviceMessage: said.message,
    ...(hint !== undefined && { hint }),
  };
  const message = messageOf(refusal);
  if (status === 401) return new UnauthenticatedError(message, options);
  if (status === 403) return new ForbiddenError(message, options);
  if (status === 404) return new NotFoundError(message, options);
  if (status === 422) return new InvalidError(message, said.fields, options);
  if (status === 429) return new RateLimitedError(message, options);
  if (status >= 500) return new UnavailableError(message, options);
  return new ProtocolError(message, options);
}

function messageOf({ where, status, requestId, said }: Refusal): string {
  const fields = Object.entries(said.fields).map(([field, messages]) => `${field}: ${messages.join(", ")}`);
  const words = [said.message ?? "(no message)", ...fields.slice(0, 3)].join("; ");
  return `${where}: ${status} ${words}${requestId ? ` (request ${requestId})` : ""}`;
}
