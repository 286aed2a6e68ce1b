/** Why a record was read: the `cause` column of the change log. */
export type Cause = "sweep" | "hydrate" | "webhook" | "confirm" | "repair" | "schema";

/**
 * One answer of the service, as the door judges it: what matters is when it was *sent*, because the
 * answer may tell of any moment after that, and of none before.
 */
export interface ReadStamp {
  readonly cause: Cause;
  readonly sentSeq: number;
  readonly receivedSeq: number;
  readonly receivedAtMs: number;
  readonly requestId: string | null;
  readonly run: number | null;
}

/** What became of one record at the door. */
export type ApplyResult = "inserted" | "updated" | "unchanged" | "stale" | "quarantined";
