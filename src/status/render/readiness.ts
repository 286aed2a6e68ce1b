import { elapsedSince, isoTime } from "../../base/clock.ts";
import { formatDuration } from "../../base/units.ts";
import { backupStep, reportStep } from "../after-run-record.ts";
import type { CompanyStatusView } from "../company-status.ts";

/** What still counts as current; configured in `serve`. */
export interface ReadyLimits {
  /** A list that was read whole longer ago is stale. */
  readonly freshForMs: number;
  /** How long an event may wait for its read, and the service may be away. */
  readonly outageLimitMs: number;
}

const hourMs = 3_600_000;
/** A day and two hours, as `status --max-age 26h`. */
export const defaultReadyLimits: ReadyLimits = { freshForMs: 26 * hourMs, outageLimitMs: hourMs / 4 };

/**
 * What /readyz answers for one company: is its mirror current? Times are ISO. Pure. It does not say whether
 * deliveries may be sent here: they may as long as the process answers. A service that is away is a reason only
 * after a while; a refused token is one at once, since somebody must act.
 */
export function readinessOf(view: CompanyStatusView, nowMs: number, limits: ReadyLimits) {
  const { open, service, events, run, lastRun } = view;
  const swept = open ? Object.entries(view.sweptMs) : [];
  const never = swept.flatMap(([name, ms]) => (ms === null ? [name] : []));
  const isStale = (ms: number) => elapsedSince(ms, nowMs) > limits.freshForMs;
  const stale = swept.flatMap(([name, ms]) => (ms !== null && isStale(ms) ? [name] : []));
  const age = formatDuration(limits.freshForMs);
  const listReasons = [
    ...(never.length > 0 ? [`never read whole: ${never.join(", ")}`] : []),
    ...(stale.length > 0
      ? [`read whole longer than ${age} ago, or by a clock that was ahead: ${stale.join(", ")}`]
      : []),
  ];
  const why = service.message === null ? "" : ` (${service.message})`;
  const reasons = open
    ? [
        ...view.missingSecrets.map((problem) => `a secret is missing: ${problem}`),
        ...serviceReasons(view, nowMs, limits),
        ...runReasons(view, nowMs, listReasons),
        ...eventReasons(view, nowMs, limits),
        ...afterRunReasons(view, limits),
      ]
    : [`the mirror's file is not open${why}: deliveries are refused with 503`, ...view.missingSecrets];
  return {
    ready: reasons.length === 0,
    reasons,
    database: open ? "open" : "closed",
    service: service.state,
    service_message: service.message,
    service_since: isoTime(service.sinceMs),
    stale: [...never, ...stale],
    events_waiting: events.waiting,
    oldest_event_at: isoOrNull(events.oldestWaitingMs),
    last_event_at: isoOrNull(events.lastReceivedMs),
    whole_run_at: isoOrNull(view.wholeRunMs),
    run: run && { mode: run.mode, started_at: isoTime(run.startedMs) },
    last_run: lastRun && { outcome: lastRun.outcome, finished_at: isoTime(lastRun.finishedMs) },
    after_run: view.afterRun.steps,
    next_run_at: isoOrNull(view.nextRunMs),
  };
}

const impediments: Partial<Record<CompanyStatusView["service"]["state"], string>> = {
  unauthenticated: "the service does not take the token",
  identity: "the token is another company's",
  database: "the mirror's file cannot be written",
};

function serviceReasons({ service }: CompanyStatusView, nowMs: number, limits: ReadyLimits): string[] {
  const { state, sinceMs } = service;
  const impediment = impediments[state];
  if (impediment !== undefined) return [impediment];
  const lastedMs = nowMs - sinceMs;
  if (state === "working" || lastedMs <= limits.outageLimitMs) return [];
  return [`the service has not been reached for ${formatDuration(lastedMs)}`];
}

/**
 * A list is complete before the details of its records are: only a complete run shows that all is there. A run that
 * was cut off left something unread, until another one ends; one under way is about to.
 */
function runReasons(view: CompanyStatusView, nowMs: number, lists: string[]): string[] {
  const { wholeRunMs, run, lastRun } = view;
  if (wholeRunMs === null) {
    const since = run ? `: the first run has lasted for ${formatDuration(nowMs - run.startedMs)}` : "";
    return [`not everything was read yet${since}`];
  }
  const ended = run || !lastRun || lastRun.outcome === "complete" || lastRun.outcome === "partial";
  return ended ? lists : [`the last run did not finish: ${lastRun.outcome}`, ...lists];
}

/** How long the oldest waiting event has waited, ms; 0 without one, or when the clock was set back. */
export function oldestWaitingMs({ events }: CompanyStatusView, nowMs: number): number {
  return Math.max(0, nowMs - (events.oldestWaitingMs ?? nowMs));
}

function eventReasons(view: CompanyStatusView, nowMs: number, { outageLimitMs }: ReadyLimits): string[] {
  const waitedMs = oldestWaitingMs(view, nowMs);
  if (waitedMs <= outageLimitMs) return [];
  return [`${view.events.waiting} events wait, the oldest for ${formatDuration(waitedMs)}`];
}

/** A report that is made for nobody any more shows old facts as current ones. */
function afterRunReasons({ afterRun }: CompanyStatusView, { freshForMs }: ReadyLimits): string[] {
  const { steps, problem, isReportScheduled } = afterRun;
  const failed = steps.flatMap(({ step, outcome, error }) =>
    outcome === "failed" ? [`${step}: ${error}`] : [],
  );
  const aging = steps.filter(
    ({ step }) => step !== backupStep && (step !== reportStep || !isReportScheduled),
  );
  const old = aging.flatMap(({ step, age_ms: ageMs }) =>
    ageMs !== null && ageMs > freshForMs ? [step] : [],
  );
  return [
    ...(problem === null ? [] : [`what follows runs failed: ${problem}`]),
    ...failed.map((each) => `not made after the last run: ${each}`),
    ...(old.length > 0 ? [`last made longer than ${formatDuration(freshForMs)} ago: ${old.join(", ")}`] : []),
  ];
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
