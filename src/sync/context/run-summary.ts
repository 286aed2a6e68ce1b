import { isoTime, type Clock } from "../../base/clock.ts";
import { hintOf, messageOf, MirrorError, type ErrorKind } from "../../base/errors.ts";
import type { RunMode } from "../../state/runs.ts";
import { Tally, type RequestCounts, type ResourceCounts, type Trouble } from "./tally.ts";

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

export function modeOf({ full, quick }: { readonly full: boolean; readonly quick?: boolean }): RunMode {
  if (quick) return "quick";
  return full ? "full" : "incremental";
}

/** What `sync --json` prints for a company; also stored in `_runs.report`. */
export interface RunSummary {
  readonly outcome: Outcome;
  readonly started_at: string;
  readonly finished_at: string;
  /** When everything listed, changed and missing was in, before the scrub; null: it never was. */
  readonly listed_at: string | null;
  readonly resumed: boolean;
  readonly requests: RequestCounts;
  readonly resources: Readonly<Record<string, ResourceCounts>>;
  /** null: the run ended before it, or left it out. */
  readonly scrub: ScrubSummary | null;
  /** When the stamp of each list that is whole began, in this run or those it resumes; by `sweepKey`. */
  readonly swept: Readonly<Record<string, string>>;
  readonly troubles: readonly Trouble[];
  /** Columns added for fields that the connector does not know. */
  readonly new_columns: readonly string[];
  /** Required fields that answers lacked: `invoices.number`. */
  readonly missing_fields: readonly string[];
  /** Unknown fields that only previews show: no record keeps them. */
  readonly unkept_fields: readonly string[];
  /** Columns that lists and details show differently: they are not compared. */
  readonly uncompared_fields: readonly string[];
  readonly error?: RunError;
}

/** What was read again because no list shows its changes: details, and lists of parents. */
export interface ScrubSummary {
  readonly total: number;
  readonly planned: number;
  readonly read: number;
  readonly changed: number;
  readonly left: number;
}

/** Is all mirrored that lists show? The next run begins anew, also where the scrub was cut off. Pure. */
export function isWholeRun(run: {
  readonly outcome: string | null;
  readonly listed_at?: string | null;
}): boolean {
  return run.outcome === "complete" || run.outcome === "partial" || (run.listed_at ?? null) !== null;
}

/** The outcome of what lists show: of a run whose scrub alone was cut off, that of the rest. Pure. */
export function listedOutcome(summary: Pick<RunSummary, "outcome" | "listed_at" | "troubles">): Outcome {
  if ((summary.listed_at ?? null) === null) return summary.outcome;
  return summary.troubles.length > 0 ? "partial" : "complete";
}

/**
 * Has a run that ended brought in what its report and exports do not show? They were made before its scrub, if there
 * was one. A run that a limit ended may be one of many nights: what it read is shown, and said to be incomplete.
 * Pure.
 */
export function isWorthPublishing(summary: Pick<RunSummary, "outcome" | "listed_at" | "scrub">): boolean {
  if (summary.outcome === "interrupted") return false;
  if (!isWholeRun(summary)) return summary.outcome === "stopped";
  return (summary.scrub?.planned ?? 0) === 0 || (summary.scrub?.changed ?? 0) > 0;
}

export interface RunError {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly hint?: string;
  readonly request_id?: string;
}

type WallClock = Pick<Clock, "nowMs">;

export function emptySummary(clock: WallClock, startedAt: string, outcome: Outcome): RunSummary {
  const times = { started_at: startedAt, finished_at: isoTime(clock.nowMs()) };
  const phases = { listed_at: null, resumed: false, scrub: null };
  const work = { ...phases, requests: new Tally().requests, resources: {}, swept: {}, troubles: [] };
  const fields = { new_columns: [], missing_fields: [], unkept_fields: [], uncompared_fields: [] };
  return { outcome, ...times, ...work, ...fields };
}

/** Kinds of errors that are an outcome as well. */
const outcomes = ["locked", "database", "identity", "unauthenticated", "stopped"] as const;

/** The outcome that stands for an error. */
export function outcomeOfError({ kind }: MirrorError): Outcome {
  return outcomes.find((one) => one === kind) ?? "failed";
}

/** The summary of a run that could not begin, with the error and the outcome that stands for it. */
export function notBegun(clock: WallClock, startedAt: string, error: unknown): RunSummary {
  const isKnown = error instanceof MirrorError;
  const summary = emptySummary(clock, startedAt, isKnown ? outcomeOfError(error) : "failed");
  const kind = isKnown ? error.kind : "runtime";
  return { ...summary, error: { kind, message: messageOf(error), ...hintOf(error) } };
}
