import type { Lane } from "../base/lane.ts";

export type QueryValue = string | number | bigint | boolean | null | undefined;

/** One call to the service, relative to the base URL; the transport adds origin, token and language. */
export interface ServiceRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Starts with `/`; every segment already encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as multipart/form-data. */
  readonly form?: FormData;
  /** What a 2xx answer must be: JSON by its content type, any bytes, or nothing (204). */
  readonly expect: "json" | "bytes" | "nothing";
  readonly lane?: Lane;
  readonly signal?: AbortSignal;
  /**
   * May the call be sent again after an answer that leaves its fate open? Reads always may; writes
   * only with an `Idempotency-Key`.
   */
  readonly repeatable?: boolean;
  /** Called at each attempt, just before the bytes leave: the moment that fences count from. */
  readonly onSent?: () => void;
}

export interface ServiceAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The service's `X-Request-Id`. */
  readonly requestId: string | null;
  /** Attempts it took, from 1. */
  readonly attempts: number;
}

/** Sends a call and gives its 2xx answer; anything else is thrown as a ServiceError. */
export interface Transport {
  send(request: ServiceRequest): Promise<ServiceAnswer>;
}
