import { isoTime } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { CompanyStatusView, NamedCondition } from "../company-status.ts";
import { openConditions, staleLists, type ReadyLimits } from "../conditions.ts";

/** What /readyz answers. Not ready without companies, or when their status cannot be read. */
export async function readinessOfAll(
  views: () => readonly CompanyStatusView[] | Promise<readonly CompanyStatusView[]>,
  nowMs: number,
  limits: ReadyLimits,
): Promise<{ readonly ready: boolean; readonly [fact: string]: unknown }> {
  try {
    const companies = (await views()).map(
      (view) => [view.company, readinessOf(view, nowMs, limits)] as const,
    );
    const ready = companies.length > 0 && companies.every(([, one]) => one.ready);
    return { ready, companies: Object.fromEntries(companies) };
  } catch (error) {
    return { ready: false, error: messageOf(error) };
  }
}

/** What /readyz answers for one company: is its mirror current? Times are ISO. Pure. */
export function readinessOf(view: CompanyStatusView, nowMs: number, limits: ReadyLimits) {
  const { open, service, events, run, lastRun, receiver } = view;
  const { refused, refusing, clock_skew_seconds: skew } = receiver;
  const { never, stale } = staleLists(view, nowMs, limits);
  const all = openConditions(view, nowMs, limits);
  const reasons = all.flatMap(({ blocks, message }) => (blocks ? [message] : []));
  return {
    ready: reasons.length === 0,
    reasons,
    conditions: all.map(withoutQuotes),
    database: open ? "open" : "closed",
    service: service.state,
    service_message: service.message,
    service_since: isoTime(service.sinceMs),
    refused,
    refusing,
    clock_skew_seconds: skew,
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

/** What keeps records from being read may quote them, and anybody may ask for this page: `status` has the message. */
function withoutQuotes(one: NamedCondition) {
  return { ...one, message: one.kind === "partial" ? null : one.message };
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
