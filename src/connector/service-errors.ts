import { MirrorError, type ErrorKind, type ErrorOptions } from "../base/errors.ts";

export interface ServiceErrorOptions extends ErrorOptions {
  /** The answer's status; null when there was no answer. */
  readonly status?: number | null;
  readonly requestId?: string | null;
  /** The service's own words (`message` of the error body), redacted and shortened. */
  readonly serviceMessage?: string | null;
}

/** An answer of the service that is not success, or no answer at all. Carries its `X-Request-Id`. */
export class ServiceError extends MirrorError {
  readonly status: number | null;
  readonly requestId: string | null;
  readonly serviceMessage: string | null;

  constructor(kind: ErrorKind, message: string, options: ServiceErrorOptions = {}) {
    super(kind, message, options);
    this.name = new.target.name;
    this.status = options.status ?? null;
    this.requestId = options.requestId ?? null;
    this.serviceMessage = options.serviceMessage ?? null;
  }
}

/** 401: the token is missing, wrong or revoked. Nothing else can work either. */
export class UnauthenticatedError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("unauthenticated", message, options);
  }
}

/** 403: this token may not do this; other resources may well be open to it. */
export class ForbiddenError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("forbidden", message, options);
  }
}

/** 404: of a record, or of the route itself; `serviceMessage` hints at which. */
export class NotFoundError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("not_found", message, options);
  }
}

/** 422: the request was understood and refused. `fields` maps a field to its messages. */
export class InvalidError extends ServiceError {
  readonly fields: Readonly<Record<string, readonly string[]>>;

  constructor(
    message: string,
    fields: Readonly<Record<string, readonly string[]>>,
    options: ServiceErrorOptions = {},
  ) {
    super("invalid", message, options);
    this.fields = fields;
  }
}

/** 429, after the rate limiter's waits were used up. */
export class RateLimitedError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("rate_limited", message, { retryable: true, ...options });
  }
}

/** 5xx. */
export class UnavailableError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("unavailable", message, { retryable: true, ...options });
  }
}

/** No answer: refused, reset, timed out, name not resolved. */
export class NetworkError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("network", message, { retryable: true, ...options });
  }
}

/** An answer that is not what the interface says: HTML with 200, broken JSON, too large, a redirect away. */
export class ProtocolError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("protocol", message, options);
  }
}
