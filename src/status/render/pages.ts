import { collectDefaultMetrics, Registry } from "prom-client";
import { isoOrNull, isoTime, type Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { ConnectionCounts } from "../../server/connections.ts";
import type { Page } from "../../server/response.ts";
import { openConditions, staleLists } from "../conditions.ts";
import type { RefusalCounts } from "../../webhook/delivery-gap/refusal-watch.ts";
import { companyMetrics, serverMetrics } from "./metrics.ts";
import type { CompanyStatusView } from "../company-view.ts";

interface PageSource {
  /** Answers to requests that are for no company and no page, by status. */
  readonly otherAnswers: Readonly<Record<string, number>>;
  readonly strayRefusals: RefusalCounts;
  recentViews(): readonly CompanyStatusView[] | Promise<readonly CompanyStatusView[]>;
}

export type Pages = Readonly<Record<string, () => Page | Promise<Page>>>;

/** The pages of `serve`. They send no request to the service and write nothing. */
export function createPages(
  source: PageSource,
  connections: Pick<ConnectionCounts, "dropped">,
  clock: Clock,
  version: string,
): Pages {
  const readiness = () => readyPage(source, clock.nowMs());
  return processPages(version, readiness, async () => [
    ...(await companyMetrics(await source.recentViews(), clock.nowMs(), source.strayRefusals)),
    ...serverMetrics(connections.dropped, source.otherAnswers, { version }),
  ]);
}

/** The pages of a process for programs: its own metrics (memory, processor time, event loop) stand below those given. */
export function processPages(
  version: string,
  readiness: Pages[string],
  metrics: () => Promise<readonly string[]>,
): Pages {
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  return {
    "/healthz": () => jsonPage(200, { status: "ok", version }),
    "/readyz": readiness,
    "/metrics": async () => {
      const texts = await metrics();
      // The library writes "Nan" for a value it has not measured yet; strict readers accept "NaN" only.
      const ownText = (await own.metrics()).replaceAll(/ Nan$/gm, " NaN");
      return page(200, own.contentType, `${texts.join("\n")}\n${ownText}`);
    },
  };
}

/** Not ready without companies, or when their status cannot be read. */
async function readyPage(source: PageSource, nowMs: number) {
  const refused_elsewhere = source.strayRefusals;
  try {
    const views = await source.recentViews();
    const all = views.map((view) => [view.company, readinessOf(view, nowMs)] as const);
    const ready = all.length > 0 && all.every(([, one]) => one.ready);
    return jsonPage(ready ? 200 : 503, { ready, companies: Object.fromEntries(all), refused_elsewhere });
  } catch (error) {
    return jsonPage(503, { ready: false, error: messageOf(error), refused_elsewhere });
  }
}

/** What /readyz answers for one company: is its mirror current? Times are ISO. Pure. */
export function readinessOf(view: CompanyStatusView, nowMs: number) {
  const { open, service, events, run, lastRun, receiver } = view;
  const { refused, refusing, clock_skew_seconds: skew } = receiver;
  const { never, stale } = staleLists(view, nowMs);
  const all = openConditions(view, nowMs);
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
  return page(status, "application/json; charset=utf-8", `${JSON.stringify(facts, null, 2)}\n`);
}

/** No cache keeps a page, and it loads nothing. */
function page(status: number, type: string, body: string): Page {
  const headers = { "Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'" };
  return { status, type, body, headers };
}
