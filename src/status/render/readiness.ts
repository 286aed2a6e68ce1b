import { isoTime } from "../../base/clock.ts";
import { formatDuration } from "../../base/units.ts";
import { oldestWaitingMs } from "./metric-families.ts";
import type { CompanyStatusView } from "../company-status.ts";

/** What still counts as current; configured in `serve`. */
export interface ReadyLimits {
  /** A list that was read whole longer ago is stale. */
  readonly freshForMs: number;
  /** How long an event may wait for its read, and the service may be away. */
  readonly patienceMs: number;
}

const hourMs = 3_600_000;
/** A day and two hours, as `status --max-age 26h`. */
export const defaultReadyLimits: ReadyLimits = { freshForMs: 26 * hourMs, patienceMs: hourMs / 4 };

/**
 * What /readyz answers for one company: is its mirror current? Times are ISO. Pure. It does not say whether deliveries may be sent here: they may as long as the
 * process answers. A service that is away is a reason only after a while; a refused token is one at once, since
 * somebody must act.
 */
export function readinessOf(view: CompanyStatusView, nowMs: number, limits: ReadyLimits) {
  const reasons = view.open
    ? [
        ...serviceReasons(view, nowMs, limits),
        ...freshnessReasons(view, nowMs, limits),
        ...eventReasons(view, nowMs, limits),
      ]
    : [closedReason(view)];
  const { service, events, run, lastRun } = view;
  return {
    ready: reasons.length === 0,
    reasons,
    database: view.open ? "open" : "closed",
    service: service.state,
    service_message: service.message,
    service_since: isoTime(service.sinceMs),
    stale: view.open ? [...neverRead(view), ...staleResources(view, nowMs, limits)] : [],
    events_waiting: events.waiting,
    oldest_event_at: isoOrNull(events.oldestWaitingMs),
    last_event_at: isoOrNull(events.lastReceivedMs),
    whole_run_at: isoOrNull(view.wholeRunMs),
    run: run && { mode: run.mode, started_at: isoTime(run.startedMs) },
    last_run: lastRun && { outcome: lastRun.outcome, finished_at: isoTime(lastRun.finishedMs) },
    next_run_at: isoOrNull(view.nextRunMs),
  };
}

function closedReason({ service }: CompanyStatusView): string {
  const why = service.message === null ? "" : ` (${service.message})`;
  return `the mirror's file is not open${why}: deliveries are refused with 503`;
}

function serviceReasons(
  { service }: CompanyStatusView,
  nowMs: number,
  { patienceMs }: ReadyLimits,
): string[] {
  const { state, sinceMs } = service;
  if (state === "unauthenticated") return ["the service does not take the token"];
  if (state === "identity") return ["the token is another company's"];
  if (state === "database") return ["the mirror's file cannot be written"];
  const away = state === "unavailable" || state === "starting";
  const lastedMs = nowMs - sinceMs;
  if (!away || lastedMs <= patienceMs) return [];
  return [`the service has not been reached for ${formatDuration(lastedMs)}`];
}

/** A list is complete before the details of its records are: only a complete run shows that all is there. */
function freshnessReasons(view: CompanyStatusView, nowMs: number, limits: ReadyLimits): string[] {
  if (view.wholeRunMs === null) return [noRunReason(view, nowMs)];
  const never = neverRead(view);
  const stale = staleResources(view, nowMs, limits);
  const age = formatDuration(limits.freshForMs);
  return [
    ...runReasons(view),
    ...(never.length > 0 ? [`never read whole: ${never.join(", ")}`] : []),
    ...(stale.length > 0 ? [`read whole longer than ${age} ago: ${stale.join(", ")}`] : []),
  ];
}

function noRunReason({ run }: CompanyStatusView, nowMs: number): string {
  const since = run ? `: the first run has lasted for ${formatDuration(nowMs - run.startedMs)}` : "";
  return `not everything was read yet${since}`;
}

/** A run that was cut off left something unread, until another one ends; one under way is about to. */
function runReasons({ run, lastRun }: CompanyStatusView): string[] {
  if (run || !lastRun || lastRun.outcome === "complete" || lastRun.outcome === "partial") return [];
  return [`the last run did not finish: ${lastRun.outcome}`];
}

function eventReasons(view: CompanyStatusView, nowMs: number, { patienceMs }: ReadyLimits): string[] {
  const waitedMs = oldestWaitingMs(view, nowMs);
  if (waitedMs <= patienceMs) return [];
  return [`${view.events.waiting} events wait, the oldest for ${formatDuration(waitedMs)}`];
}

function neverRead({ sweptMs }: CompanyStatusView): string[] {
  return Object.keys(sweptMs).filter((name) => sweptMs[name] === null);
}

function staleResources(
  { sweptMs }: CompanyStatusView,
  nowMs: number,
  { freshForMs }: ReadyLimits,
): string[] {
  const isStale = (ms: number | null) => ms !== null && nowMs - ms > freshForMs;
  return Object.entries(sweptMs)
    .filter(([, ms]) => isStale(ms))
    .map(([name]) => name);
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
