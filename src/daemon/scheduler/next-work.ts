import type { CompanyStatusView } from "../../status/company-view.ts";

/** What a company has to do. Epoch milliseconds; null: nothing is known. */
export interface CompanyWork {
  /** Runs, and reads because of events. */
  readonly dueMs: readonly (number | null)[];
  /** The report, which asks nothing of the service. */
  readonly publishMs: number | null;
  readonly service: Pick<CompanyStatusView["service"], "state" | "sinceMs">;
  readonly nowMs: number;
}

/** After that long without the service, its work is looked for every `lookAgainMs` only. */
const awayMs = 120_000;
const lookAgainMs = 300_000;

/**
 * Pure: when the company has something to do next. What waits for the service is due now, until that was away for a
 * while: a company whose token was refused would keep its node from others for ever.
 */
export function nextWorkMs({ dueMs, publishMs, service, nowMs }: CompanyWork): number | null {
  const { state, sinceMs } = service;
  const isAway = state !== "working" && state !== "starting" && nowMs - sinceMs > awayMs;
  const workMs = firstOf(dueMs);
  return firstOf([workMs !== null && isAway ? Math.max(workMs, nowMs + lookAgainMs) : workMs, publishMs]);
}

/** The first of these times; null: none is known. */
export function firstOf(timesMs: readonly (number | null)[]): number | null {
  const known = timesMs.filter((atMs) => atMs !== null);
  return known.length === 0 ? null : Math.min(...known);
}
