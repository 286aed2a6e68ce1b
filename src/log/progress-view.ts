import type { BudgetView } from "../rate-limit/permit.ts";

/** The state of a run at one moment. */
export interface ProgressView {
  readonly company: string;
  readonly elapsedMs: number;
  /** In the order of the run. */
  readonly resources: readonly ResourceProgress[];
  /** Requests made so far. */
  readonly requests: number;
  /** Requests still to be made, as far as known. */
  readonly queued: number;
  /** Everything listed is in, and this is read again for what lists do not show; null: not yet. */
  readonly scrub: { readonly done: number; readonly planned: number } | null;
  readonly budget: BudgetView;
  readonly windowMs: number;
  /** Set while the run waits for a service that is away; times count from or to now. */
  readonly outage?: {
    readonly forMs: number;
    readonly nextTryMs: number;
    readonly givesUpMs: number;
    readonly error: string;
  } | null;
}

/** The state of one resource. */
export interface ResourceProgress {
  readonly name: string;
  readonly phase: "waiting" | "listing" | "reading" | "done" | "failed";
  /** Records seen (while listing) or read in full (while reading). */
  readonly done: number;
  /** null while it is not known. */
  readonly total: number | null;
  readonly changed: number;
}

/** With fewer requests the pace of the run says little. */
const paceFromRequests = 30;

/** Time until the queue is empty, ms: by the budget or the pace so far, whichever is slower; null without a limit. */
export function etaMs({ queued, budget, windowMs, requests, elapsedMs }: ProgressView): number | null {
  if (queued === 0) return 0;
  if (budget.limit === null || budget.limit <= 0) return null;
  const paceMs = requests < paceFromRequests ? 0 : Math.round((queued * elapsedMs) / requests);
  const atOnce = Math.max(0, budget.remaining ?? 0);
  const later = queued - atOnce;
  if (later <= 0) return Math.max(budget.waitMs, paceMs);
  const nextWindowMs = atOnce > 0 ? windowMs : budget.waitMs;
  return Math.max(paceMs, nextWindowMs + (Math.ceil(later / budget.limit) - 1) * windowMs);
}

/** The state as fields of a log line. */
export function progressFields(view: ProgressView): Readonly<Record<string, unknown>> {
  const resources = view.resources
    .filter(({ phase }) => phase !== "waiting" && phase !== "done")
    .map(({ name, ...facts }) => [name, facts]);
  return {
    company: view.company,
    elapsed_ms: Math.round(view.elapsedMs),
    requests: view.requests,
    queued: view.queued,
    ...(view.scrub && { phase: "scrub: everything listed is in", scrub: view.scrub }),
    eta_ms: etaMs(view),
    budget: { limit: view.budget.limit, remaining: view.budget.remaining, wait_ms: view.budget.waitMs },
    ...(view.outage && {
      service_away: {
        for_ms: view.outage.forMs,
        next_try_ms: view.outage.nextTryMs,
        gives_up_ms: view.outage.givesUpMs,
        error: view.outage.error,
      },
    }),
    resources: Object.fromEntries(resources) as Record<string, unknown>,
  };
}
