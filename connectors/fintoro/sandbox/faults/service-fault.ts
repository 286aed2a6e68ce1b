import type { Random } from "../../../../src/base/random.ts";
import type { Rewrite } from "../http/service-answer.ts";

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
export interface FaultDetails {
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

/** One fault: what goes wrong, and for which requests. */
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

type FaultTarget = { readonly method: string; readonly path: string; readonly company: number | null };

/** A fault in force, with how many requests it has matched and affected. */
interface Armed {
  readonly fault: Fault;
  matched: number;
  affected: number;
}

/** The faults in force; chooses those that affect a request. */
export class FaultPlan {
  readonly #random: Random;
  #armed: Armed[] = [];

  constructor(random: Random, faults: readonly Fault[]) {
    this.#random = random;
    for (const fault of faults) this.add(fault);
  }

  /** Returns a function that removes the fault. */
  add(fault: Fault): () => void {
    const armed = { fault, matched: 0, affected: 0 };
    this.#armed.push(armed);
    return () => {
      this.#armed = this.#armed.filter((other) => other !== armed);
    };
  }

  clear(): void {
    this.#armed = [];
  }

  /** Counts the request, and gives the faults that affect it. */
  faultsFor(target: FaultTarget): ActiveFaults {
    const hits = this.#armed.filter((armed) => this.#affects(armed, target));
    return new ActiveFaults(hits.map(({ fault }) => fault));
  }

  #affects(armed: Armed, target: FaultTarget): boolean {
    const { match, after = 0, times = Number.POSITIVE_INFINITY, probability = 1 } = armed.fault;
    if (!matches(match, target)) return false;
    armed.matched++;
    if (armed.matched <= after || armed.affected >= times) return false;
    if (this.#random.next() >= probability) return false;
    armed.affected++;
    return true;
  }
}

function matches(match: Fault["match"], { method, path, company }: FaultTarget): boolean {
  const wanted = match?.path ?? "";
  return (
    (typeof wanted === "string" ? path.startsWith(wanted) : wanted.test(path)) &&
    (match?.method === undefined || match.method === method) &&
    (match?.company === undefined || match.company === company)
  );
}
