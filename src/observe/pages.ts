import type { Clock } from "../base/clock.ts";
import { readinessOf, usualLimits, type ReadyLimits } from "./health.ts";
import { createMetrics } from "./metrics.ts";
import type { StationView } from "./station-view.ts";

/** An answer to a GET, whole. */
interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

export interface PagesOptions extends Partial<ReadyLimits> {
  /** Of this program. */
  readonly version: string;
}

export type Pages = Readonly<Record<string, () => Page | Promise<Page>>>;

/** What `serve` shows of itself, by path. Nothing here asks the service or writes anything. */
export function pagesOf(views: () => readonly StationView[], clock: Clock, options: PagesOptions): Pages {
  const limits = { ...usualLimits, ...options };
  const metrics = createMetrics(options.version);
  return {
    "/": () => page(200, text, index),
    "/healthz": () => page(200, json, JSON.stringify({ status: "ok", version: options.version })),
    "/readyz": () => readyPage(views(), clock.nowMs(), limits),
    "/metrics": async () => page(200, metrics.type, await metrics.render(views(), clock.nowMs())),
  };
}

const text = "text/plain; charset=utf-8";
const json = "application/json; charset=utf-8";

const index = `fintoro-mirror

/healthz               200 as long as the process answers: the check for a proxy or a supervisor
/readyz                200 if every mirror is current, otherwise 503, with the reasons: the check for people
/metrics               for Prometheus
POST /webhooks/NAME    deliveries for the company NAME
`;

/** Before there is any station nothing is ready. */
function readyPage(views: readonly StationView[], nowMs: number, limits: ReadyLimits): Page {
  const companies = views.map((view) => [view.company, readinessOf(view, nowMs, limits)] as const);
  const ready = companies.length > 0 && companies.every(([, one]) => one.ready);
  const body = JSON.stringify({ ready, companies: Object.fromEntries(companies) }, null, 2);
  return page(ready ? 200 : 503, json, `${body}\n`);
}

/** Told as of now, and by nobody else: no cache keeps it, and it loads nothing. */
function page(status: number, type: string, body: string): Page {
  const headers = { "cache-control": "no-store", "content-security-policy": "default-src 'none'" };
  return { status, type, body, headers };
}
