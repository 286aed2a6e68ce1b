import type { Lane } from "../base/lane.ts";

export type QueryValue = string | number | bigint | boolean | null | undefined;

/** One call to the service, relative to the base URL; the transport adds origin, token and language. */
export interface ServiceRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Starts with `/`; every segment already encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** A write that has one may be sent again after an attempt with an unknown outcome; reads always may. */
  readonly idempotencyKey?: string;
  readonly json?: unknown;
  readonly form?: FormData;
  /** What a 2xx answer must be: JSON by its content type, any bytes, or nothing (204). */
  readonly expect: "json" | "bytes" | "nothing";
  /** A file that gets the bytes of a 2xx answer, whose `body` is empty then. @default none */
  readonly into?: string;
  readonly lane?: Lane;
  readonly signal?: AbortSignal;
  /** The caller tries again itself: a single attempt, also after 429. @default false */
  readonly once?: boolean;
  /** Called at each attempt just before the bytes leave: the time of a read stamp (I3). */
  readonly onSent?: () => void;
}

export interface ServiceAnswer {
  readonly status: number;
  readonly body: Buffer;
  readonly requestId: string | null;
}

/** Sends a call and returns its 2xx answer; throws a ServiceError for anything else. */
export interface Transport {
  send(request: ServiceRequest): Promise<ServiceAnswer>;
}

/** How requests are made unless the config says otherwise. */
export const transportDefaults = {
  concurrency: 6,
  /** Of one attempt, head and body together. */
  timeoutMs: 30_000,
  /** Of one answer, decompressed. */
  maxResponseBytes: 256_000_000,
} as const;
