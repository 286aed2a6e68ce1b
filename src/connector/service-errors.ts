import { MirrorError, type ErrorKind, type ErrorOptions } from "../base/errors.ts";

/** Details of a ServiceError. */
export interface ServiceErrorOptions extends ErrorOptions {
  /** Null when there was no answer. */
  readonly status?: number | null;
  readonly requestId?: string | null;
  /** `message` of the error body, redacted and shortened. */
  readonly serviceMessage?: string | null;
}

/** The service did not answer with success, or not at all. */
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

/** 401: the token is missing, wrong or revoked. No other call can work either. */
export class UnauthenticatedError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("unauthenticated", message, options);
  }
}

/** 403: this token may not do this; it may well read other resources. */
export class ForbiddenError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("forbidden", message, options);
  }
}

/** 404: no such record, or no such route; `serviceMessage` hints at which. */
export class NotFoundError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("not_found", message, options);
  }
}

/** 422: the service refuses the values. `fields` has the messages by field. */
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

/** 429, more often in a row than the transport repeats a call. */
export class RateLimitedError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("rate_limited", message, { retryable: true, ...options });
  }
}

/** 5xx: the service has trouble. */
export class UnavailableError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("unavailable", message, { retryable: true, ...options });
  }
}

/** No answer: connection refused or reset, timeout, name not resolved. */
export class NetworkError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("network", message, { retryable: true, ...options });
  }
}

/** Not what the interface promises: HTML with 200, broken JSON, too large, a redirect to another origin. */
export class ProtocolError extends ServiceError {
  constructor(message: string, options: ServiceErrorOptions = {}) {
    super("protocol", message, options);
  }
}
