import type { RunSummary } from "../../../src/sync/context/run-summary.ts";

/** A run that ended; `sinceMs`: when it began. */
export interface EndedRun {
  readonly report: RunSummary;
  readonly sinceMs: number;
  readonly full: boolean;
  readonly quick: boolean;
  readonly isBesideWorker: boolean;
}

/** Has the run read everything itself? */
export function isFresh(report: RunSummary | undefined): boolean {
  return report?.outcome === "complete" && !report.resumed && report.listed_at !== null;
}

/**
 * Has it kept nothing but payments that nobody can prove to be deleted? No list shows payments: one that is there may become known
 * only with the next full run, and without one their route cannot be proven.
 */
export function lacksPaymentProof(report: RunSummary | undefined): boolean {
  if (report?.outcome !== "partial" || report.resumed || report.listed_at === null) return false;
  return report.troubles.every(
    ({ resource, message }) => resource === "document_payments" && message.includes("proves nothing"),
  );
}

/** Has it read all lists itself, and left nothing behind but records that cannot become rows? */
export function isListed({ outcome, resumed, listed_at: listedAt, troubles }: RunSummary): boolean {
  const isWhole = outcome === "complete" || outcome === "partial";
  return isWhole && !resumed && listedAt !== null && troubles.every(({ kind }) => kind === "quarantined");
}

export function summaryOf({ outcome, resumed, requests, troubles, error }: RunSummary): string {
  const reasons = [
    ...troubles.map(({ resource, message }) => `${resource}: ${message}`),
    ...(error ? [error.message] : []),
  ];
  const how = `${outcome}${resumed ? ", resumed" : ""}, ${requests.total} requests`;
  return [how, ...reasons].join("; ");
}
