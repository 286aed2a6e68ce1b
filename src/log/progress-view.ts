import type { BudgetView } from "../rate-limit/permit.ts";

/** The state of a run at one moment. */
export interface ProgressView {
  readonly company: string;
  readonly elapsedMs: number;
  /** In the order of the run. */
  readonly resources: readonly ResourceProgress[];
  readonly requests: number;
  readonly queued: number;
  /** What the run still makes before the scrub. Absent: it is no run that reads a mirror's lists. */
  readonly ahead?: RequestsAhead;
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

/** Requests of a run before its scrub, with those that pages still to be read will show. */
export interface RequestsAhead {
  /** Pages of lists. */
  readonly lists: number;
  /** Resources whose list is not in. */
  readonly openLists: number;
  /** Details, and lists of parents. */
  readonly details: number;
  /** Every list that is being read has shown its length. */
  readonly isKnown: boolean;
}

export interface ResourceProgress {
  readonly name: string;
  readonly phase: "waiting" | "listing" | "reading" | "done" | "failed";
  /** Records seen (while listing) or read in full (while reading). */
  readonly done: number;
  /** null while it is not known. */
  readonly total: number | null;
  readonly changed: number;
  /** Requests of it in the queue. */
  readonly waiting?: number;
}

/** With fewer requests the pace of the run says little. */
const paceFromRequests = 30;

/** Requests still to be made, as far as known. */
export function requestsLeft({ queued, ahead, scrub }: ProgressView): number {
  return scrub || !ahead ? queued : Math.max(queued, ahead.lists + ahead.details);
}

/**
 * Time until nothing is left to request, ms: by the budget that is granted or the pace so far, whichever is slower; null
 * before the service has named a limit.
 */
export function etaMs(view: ProgressView): number | null {
  const { budget, windowMs, requests, elapsedMs } = view;
  const left = requestsLeft(view);
  if (left === 0) return 0;
  if (budget.limit === null || budget.granted <= 0) return null;
  const paceMs = requests < paceFromRequests ? 0 : Math.round((left * elapsedMs) / requests);
  const atOnce = Math.max(0, budget.remaining ?? 0);
  const later = left - atOnce;
  if (later <= 0) return Math.max(budget.waitMs, paceMs);
  const nextWindowMs = atOnce > 0 ? windowMs : budget.waitMs;
  return Math.max(paceMs, nextWindowMs + (Math.ceil(later / budget.granted) - 1) * windowMs);
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
    ...(view.ahead && { requests_ahead: requestsLeft(view), provisional: view.ahead.details }),
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
