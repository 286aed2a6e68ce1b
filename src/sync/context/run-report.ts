import type { RequestCounts, ResourceCounts, Trouble } from "./tally.ts";

/**
 * `complete`: everything selected is mirrored. `partial`: some of it is not, the rest is committed.
 * `stopped`: a limit given by the user. `failed`: the service was away. All but `complete` go on later.
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

/** What `sync --json` prints for a company. */
export interface CompanyReport {
  readonly outcome: Outcome;
  readonly started_at: string;
  readonly finished_at: string;
  readonly resumed: boolean;
  readonly requests: RequestCounts;
  readonly resources: Readonly<Record<string, ResourceCounts>>;
  /** When the reading of each list that is whole began, in this run or those it resumes; by `sweepKey`. */
  readonly swept: Readonly<Record<string, string>>;
  readonly troubles: readonly Trouble[];
  /** Columns that appeared because the service sent a field nobody knew. */
  readonly new_columns: readonly string[];
  /** Required fields that answers lacked: `invoices.number`. */
  readonly missing_fields: readonly string[];
  /** Fields nobody knew that only lists of previews show: there is no record to keep them in. */
  readonly unkept_fields: readonly string[];
  readonly error?: ReportedError;
}

export interface ReportedError {
  readonly kind: string;
  readonly message: string;
  readonly hint?: string;
  readonly request_id?: string;
}
