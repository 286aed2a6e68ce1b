import type { RequestCounts, ResourceCounts, Trouble } from "./tally.ts";

/**
 * How a run ended. `complete`: everything selected is mirrored. `partial`: some of it is not, the rest is
 * committed. `stopped`: a limit of the user was reached. `failed`: the service was away. After all but
 * `complete` and `partial` the next run continues.
 */
export type Outcome =
  | "complete"
  | "partial"
  | "stopped"
  | "failed"
  | "unauthenticated"
  | "identity"
  | "interrupted"
  | "database"
  | "locked";

/** What `sync --json` prints for a company; also stored in `_runs.report`. */
export interface CompanyReport {
  readonly outcome: Outcome;
  readonly started_at: string;
  readonly finished_at: string;
  readonly resumed: boolean;
  readonly requests: RequestCounts;
  readonly resources: Readonly<Record<string, ResourceCounts>>;
  /** When the stamp of each list that is whole began, in this run or those it resumes; by `sweepKey`. */
  readonly swept: Readonly<Record<string, string>>;
  readonly troubles: readonly Trouble[];
  /** Columns added for fields that the connector does not know. */
  readonly new_columns: readonly string[];
  /** Required fields that answers lacked: `invoices.number`. */
  readonly missing_fields: readonly string[];
  /** Unknown fields that only previews show: no record keeps them. */
  readonly unkept_fields: readonly string[];
  readonly error?: RunError;
}

/** Why a run ended early. */
export interface RunError {
  readonly kind: string;
  readonly message: string;
  readonly hint?: string;
  readonly request_id?: string;
}
