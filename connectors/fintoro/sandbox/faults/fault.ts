import type { JsonObject } from "../base/values.ts";

/** Which requests a fault hits. */
interface FaultMatch {
  /** Of the path below the base URL, without the query. */
  readonly path?: RegExp | string;
  readonly method?: string;
  /** Index of the company. */
  readonly company?: number;
}

interface FaultAim {
  readonly match?: FaultMatch;
  /** Of each matching request; 1 without it. */
  readonly probability?: number;
  /** How often it strikes at most. */
  readonly times?: number;
  /** Matching requests that pass first. */
  readonly after?: number;
}

export type Moment = "before" | "headers" | "half";

/** Rewrites one record's JSON text; `text` is what would be sent. */
export type Rewrite = (record: JsonObject, text: string) => string;

export type FaultAct =
  /** `retryAfterS: null` leaves `Retry-After` out. Not counted for 401 and 503 unless told so. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly retryAfterS?: number | null;
      readonly counted?: boolean;
    }
  | { readonly kind: "latency"; readonly latencyMs: number }
  | { readonly kind: "html" }
  | { readonly kind: "truncated" }
  | { readonly kind: "invalid_json" }
  | { readonly kind: "content_type"; readonly contentType?: string }
  | { readonly kind: "reset"; readonly when?: Moment }
  | { readonly kind: "hang"; readonly when?: Moment }
  | { readonly kind: "drip"; readonly chunkBytes?: number; readonly everyMs?: number }
  | { readonly kind: "redirect"; readonly location?: string; readonly status?: number }
  | { readonly kind: "redirect_same"; readonly status?: number }
  | { readonly kind: "empty_list" }
  | { readonly kind: "wrong_page" }
  | { readonly kind: "endless_pages" }
  | { readonly kind: "changing_totals" }
  | { readonly kind: "duplicate_ids" }
  | { readonly kind: "shuffled_ties" }
  | { readonly kind: "missing_ids" }
  | { readonly kind: "huge_ids" }
  | { readonly kind: "unknown_values" }
  | { readonly kind: "unknown_fields" }
  | { readonly kind: "missing_fields" }
  | { readonly kind: "proto_key" }
  | { readonly kind: "number_literals" }
  | { readonly kind: "rewrite"; readonly rewrite: Rewrite }
  | { readonly kind: "huge_body"; readonly sizeBytes: number }
  | { readonly kind: "gzip_bomb"; readonly sizeBytes: number }
  | { readonly kind: "echo_token" };

export type FaultKind = FaultAct["kind"];
export type Fault = FaultAim & FaultAct;
