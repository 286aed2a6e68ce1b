import type { Rewrite } from "../http/encode.ts";

/** Which requests a fault affects, and how often. */
interface FaultScope {
  readonly match?: {
    /** Of the path below the base URL, without the query; a text is its beginning. */
    readonly path?: RegExp | string;
    readonly method?: string;
    /** Index of the company. */
    readonly company?: number;
  };
  /** Of each matching request; 1 without it. */
  readonly probability?: number;
  /** How many requests it affects at most. */
  readonly times?: number;
  /** Matching requests that pass first. */
  readonly after?: number;
}

/** How much of the answer is sent before the connection breaks. */
export type Moment = "before" | "headers" | "half";

/** Faults that need no detail. */
export const plainFaults = [
  "html",
  "truncated",
  "invalid_json",
  "empty_list",
  "wrong_page",
  "endless_pages",
  "changing_totals",
  "duplicate_ids",
  "shuffled_ties",
  "missing_ids",
  "huge_ids",
  "unknown_values",
  "unknown_fields",
  "missing_fields",
  "proto_key",
  "number_literals",
  "echo_token",
] as const;

/** Faults with their details, by kind. */
interface FaultDetails {
  /** `retryAfterS: null` omits `Retry-After`. The limiter does not count 401 and 503 unless `counted`. */
  readonly status: {
    readonly status: number;
    readonly retryAfterS?: number | null;
    readonly counted?: boolean;
  };
  readonly latency: { readonly latencyMs: number };
  readonly content_type: { readonly contentType?: string };
  readonly reset: { readonly when?: Moment };
  readonly hang: { readonly when?: Moment };
  readonly drip: { readonly chunkBytes?: number; readonly everyMs?: number };
  readonly redirect: { readonly location?: string; readonly status?: number };
  readonly redirect_same: { readonly status?: number };
  readonly rewrite: { readonly rewrite: Rewrite };
  readonly huge_body: { readonly sizeBytes: number };
  readonly gzip_bomb: { readonly sizeBytes: number };
}

export type FaultKind = FaultAct["kind"];
type Detailed<K extends keyof FaultDetails> = { readonly kind: K } & FaultDetails[K];

/** What goes wrong. */
export type FaultAct =
  | { readonly kind: (typeof plainFaults)[number] }
  | { readonly [K in keyof FaultDetails]: Detailed<K> }[keyof FaultDetails];

export type Fault = FaultScope & FaultAct;

/** The faults that affect one request. */
export class ActiveFaults {
  readonly #acts: readonly FaultAct[];

  constructor(acts: readonly FaultAct[]) {
    this.#acts = acts;
  }

  /** The details of the first fault of a kind. */
  get<K extends keyof FaultDetails>(kind: K): FaultDetails[K] | undefined {
    return this.all(kind)[0];
  }

  /** The details of every fault of a kind. */
  all<K extends keyof FaultDetails>(kind: K): Detailed<K>[] {
    return this.#acts.filter((act): act is FaultAct & Detailed<K> => act.kind === kind);
  }

  has(kind: FaultKind): boolean {
    return this.#acts.some((act) => act.kind === kind);
  }
}
