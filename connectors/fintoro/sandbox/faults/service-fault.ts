import type { Random } from "../../../../src/base/random.ts";
import type { Rewrite } from "../http/service-answer.ts";

/** How much of the answer is sent before the connection breaks. */
export const moments = ["before", "headers", "half"] as const;
type Moment = (typeof moments)[number];

const plain =
  "html truncated invalid_json empty_list wrong_page endless_pages changing_totals duplicate_ids shuffled_ties missing_ids huge_ids unknown_values unknown_fields missing_fields proto_key number_literals echo_token content_type redirect redirect_same drip";

/** The names of faults, by the detail that a text may give of them. */
export const faultKinds: Readonly<Record<"plain" | "moment" | "bytes", readonly string[]>> = {
  plain: plain.split(" "),
  moment: ["reset", "hang"],
  bytes: ["huge_body", "gzip_bomb"],
};

/** One fault: what goes wrong, and for which requests. */
export interface Fault {
  /** One of `faultKinds`, or `status`, `latency`, `rewrite`. */
  readonly kind: string;
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
  /** Of `status` and of redirects. */
  readonly status?: number;
  /** Of a status 429; null omits `Retry-After`. */
  readonly retryAfterS?: number | null;
  /** Does the limiter count a `status`? @default unless it is 401 or 503 */
  readonly counted?: boolean;
  readonly latencyMs?: number;
  readonly contentType?: string;
  /** Of `redirect`. */
  readonly location?: string;
  /** Of `reset` and `hang`. @default "before" */
  readonly when?: Moment;
  /** Of `drip`. */
  readonly chunkBytes?: number;
  readonly everyMs?: number;
  /** Of `huge_body` and `gzip_bomb`. */
  readonly sizeBytes?: number;
  readonly rewrite?: Rewrite;
}

/** The faults that affect one request, by kind; of equal kinds the first. */
export type ActiveFaults = ReadonlyMap<string, Fault>;

type FaultTarget = { readonly method: string; readonly path: string; readonly company: number | null };

/** The faults in force; chooses those that affect a request. */
export class FaultPlan {
  readonly #random: Random;
  #armed: { readonly fault: Fault; matched: number; affected: number }[] = [];

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
    const hits = this.#armed.filter((armed) => {
      const { after = 0, times = Number.POSITIVE_INFINITY, probability = 1 } = armed.fault;
      if (!matches(armed.fault.match, target)) return false;
      const affects = ++armed.matched > after && armed.affected < times && this.#random.next() < probability;
      if (affects) armed.affected++;
      return affects;
    });
    return new Map(hits.toReversed().map(({ fault }) => [fault.kind, fault]));
  }
}

function matches(match: Fault["match"], { method, path, company }: FaultTarget): boolean {
  const wanted = match?.path ?? "";
  return (
    (typeof wanted === "string" ? path.startsWith(wanted) : wanted.test(path)) &&
    (match?.method ?? method) === method &&
    (match?.company ?? company) === company
  );
}
