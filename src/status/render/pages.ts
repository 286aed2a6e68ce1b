import { isoOrNull, isoTime, type Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Page } from "../../server/response.ts";
import { openConditions, staleLists, type ReadyLimits } from "../conditions.ts";
import { createMetrics, type OtherCounts } from "./metrics.ts";
import type { CompanyStatusView } from "../company-view.ts";

interface PagesOptions {
  readonly version: string;
  readonly others: () => OtherCounts;
  /** Called for each request: the schedule may change, and its intervals are not equal. */
  readonly limits: () => ReadyLimits;
}

type CompanyViews = () => readonly CompanyStatusView[] | Promise<readonly CompanyStatusView[]>;

export type Pages = Readonly<Record<string, () => Page | Promise<Page>>>;

/** The pages of `serve`. They send no request to the service and write nothing. */
export function createPages(views: CompanyViews, clock: Clock, options: PagesOptions): Pages {
  const metrics = createMetrics(options.version);
  return {
    "/healthz": () => page(200, json, JSON.stringify({ status: "ok", version: options.version })),
    "/readyz": () => readyPage(views, clock.nowMs(), options),
    "/metrics": async () => {
      const text = await metrics.render(await views(), clock.nowMs(), options.limits(), options.others());
      return page(200, metrics.type, text);
    },
  };
}

const json = "application/json; charset=utf-8";

/** Not ready without companies, or when their status cannot be read. */
async function readyPage(views: CompanyViews, nowMs: number, { others, limits }: PagesOptions) {
  const { refusals: refused_elsewhere } = others();
  try {
    const all = (await views()).map((view) => [view.company, readinessOf(view, nowMs, limits())] as const);
    const ready = all.length > 0 && all.every(([, one]) => one.ready);
    return jsonPage(ready ? 200 : 503, { ready, companies: Object.fromEntries(all), refused_elsewhere });
  } catch (error) {
    return jsonPage(503, { ready: false, error: messageOf(error), refused_elsewhere });
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
    // What keeps records from being read may quote them, and anybody may ask for this page: `status` has the message.
    conditions: all.map((one) => ({ ...one, message: one.kind === "partial" ? null : one.message })),
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

export function jsonPage(status: number, facts: object): Page {
  return page(status, json, `${JSON.stringify(facts, null, 2)}\n`);
}

/** No cache keeps a page, and it loads nothing. */
export function page(status: number, type: string, body: string): Page {
  const headers = { "Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'" };
  return { status, type, body, headers };
}
