import { MirrorError, type ErrorKind, type ErrorOptions } from "../base/errors.ts";
import type { ServiceRequest } from "./transport.ts";

interface ServiceErrorOptions extends ErrorOptions {
  /** Null when there was no answer. */
  readonly status?: number | null;
  readonly requestId?: string | null;
  /** `message` of the error body, redacted and shortened. */
  readonly serviceMessage?: string | null;
  /** What the service asks to wait (`Retry-After`). */
  readonly retryAfterMs?: number | null;
}

/** The service did not answer with success, or not at all. Each class stands for one kind of error. */
export abstract class ServiceError extends MirrorError {
  protected static readonly kind: ErrorKind;
  protected static readonly retryable: boolean = false;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly serviceMessage: string | null;
  readonly retryAfterMs: number | null;

  constructor(message: string, options: ServiceErrorOptions = {}) {
    const { kind, retryable, name } = new.target;
    super(kind, message, { retryable, ...options });
    this.name = name;
    this.status = options.status ?? null;
    this.requestId = options.requestId ?? null;
    this.serviceMessage = options.serviceMessage ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** 401: the token is missing, wrong or revoked. No other call can work either. */
export class UnauthenticatedError extends ServiceError {
  protected static override readonly kind = "unauthenticated";
}

/** 403: this token may not do this; it may well read other resources. */
export class ForbiddenError extends ServiceError {
  protected static override readonly kind = "forbidden";
}

/** 404: no such record, or no such route; `serviceMessage` hints at which. */
export class NotFoundError extends ServiceError {
  protected static override readonly kind = "not_found";
}

/** 422: the service refuses the values. `fields` has the messages by field. */
export class InvalidError extends ServiceError {
  protected static override readonly kind = "invalid";
  readonly fields: Readonly<Record<string, readonly string[]>>;

  constructor(message: string, fields: InvalidError["fields"], options: ServiceErrorOptions = {}) {
    super(message, options);
    this.fields = fields;
  }

  /** Is this parameter refused? `perPage` also where the service writes `per_page`. */
  names(param: string): boolean {
    return Object.keys(this.fields).some((field) => plain(field) === plain(param));
  }

  namesNothing(): boolean {
    return Object.keys(this.fields).length === 0;
  }

  /** Does the service refuse how many records are asked for at a time? It names the field, else the message does. */
  refusesPageSize(): boolean {
    return this.names("perPage") || (this.namesNothing() && /per.?page/i.test(this.serviceMessage ?? ""));
  }
}

function plain(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

/** 429, more often in a row than the transport repeats a call. */
export class RateLimitedError extends ServiceError {
  protected static override readonly kind = "rate_limited";
  protected static override readonly retryable = true;
}

/** 5xx: the service has trouble. */
export class UnavailableError extends ServiceError {
  protected static override readonly kind = "unavailable";
  protected static override readonly retryable = true;
}

/** No answer: connection refused or reset, timeout, name not resolved. */
export class NetworkError extends ServiceError {
  protected static override readonly kind = "network";
  protected static override readonly retryable = true;
}

/** Not what the interface promises: HTML with 200, broken JSON, too large, a redirect to another origin. */
export class ProtocolError extends ServiceError {
  protected static override readonly kind = "protocol";
}

/**
 * A well-formed answer that contradicts the question or itself: another page, another record. The service answers, so
 * this concerns one list or record.
 */
export class ContradictionError extends ProtocolError {
  protected static override readonly retryable = true;

  /** The same with the read that it answers: `GET /orders?page=1 returned page 2`. */
  of({ path, query }: Pick<ServiceRequest, "path" | "query">, requestId: string | null): ContradictionError {
    const page = query?.["page"];
    const where = page === undefined ? path : `${path}?page=${page}`;
    const hint = `If it persists, report ${requestId === null ? "it" : `request id ${requestId}`} to the service.`;
    return new ContradictionError(`GET ${where} ${this.message}`, { status: 200, requestId, hint });
  }
}
