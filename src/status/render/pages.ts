import type { Clock } from "../../base/clock.ts";
import type { Page } from "../../server/response.ts";
import type { RefusalCounts } from "../../webhook/delivery-gap/refusal-watch.ts";
import { defaultReadyLimits, type ReadyLimits } from "../conditions.ts";
import { readinessOfAll } from "./readiness.ts";
import { createMetrics, type ReceiverCounts, type Strays } from "./metrics.ts";
import type { CompanyStatusView } from "../company-status.ts";

/** What the pages need besides the companies' status. */
interface PagesOptions {
  /** Of this program. */
  readonly version: string;
  readonly strays?: () => Strays;
  /** Since the start: refused deliveries for no company of the config, by reason. */
  readonly strayRefusals?: RefusalCounts;
  /** Since the start. */
  readonly droppedConnections?: () => number;
  /** Called for each request: the schedule may change, and its intervals are not equal. */
  readonly limits?: () => Partial<ReadyLimits>;
}

type Views = () => readonly CompanyStatusView[] | Promise<readonly CompanyStatusView[]>;

/** Pages by path. */
export type Pages = Readonly<Record<string, () => Page | Promise<Page>>>;

/** The pages of `serve`. They send no request to the service and write nothing. */
export function createPages(views: Views, clock: Clock, options: PagesOptions): Pages {
  const metrics = createMetrics(options.version);
  return {
    "/healthz": () => page(200, json, JSON.stringify({ status: "ok", version: options.version })),
    "/readyz": () => readyPage(views, clock.nowMs(), options),
    "/metrics": async () => {
      const facts = { counts: receiverCounts(options), limits: limitsOf(options) };
      return page(200, metrics.type, await metrics.render(await views(), clock.nowMs(), facts));
    },
  };
}

function limitsOf({ limits }: PagesOptions): ReadyLimits {
  return { ...defaultReadyLimits, ...limits?.() };
}

function receiverCounts({ strays, strayRefusals, droppedConnections }: PagesOptions): ReceiverCounts {
  return {
    strays: strays?.() ?? {},
    strayRefusals: strayRefusals ?? {},
    droppedConnections: droppedConnections?.() ?? 0,
  };
}

const json = "application/json; charset=utf-8";

async function readyPage(views: Views, nowMs: number, options: PagesOptions): Promise<Page> {
  const facts = {
    ...(await readinessOfAll(views, nowMs, limitsOf(options))),
    refused_elsewhere: options.strayRefusals ?? {},
  };
  return jsonPage(facts.ready ? 200 : 503, facts);
}

/** Facts as a page, indented for people. */
export function jsonPage(status: number, facts: object): Page {
  return page(status, json, `${JSON.stringify(facts, null, 2)}\n`);
}

/** No cache keeps a page, and it loads nothing. */
export function page(status: number, type: string, body: string): Page {
  const headers = { "Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'" };
  return { status, type, body, headers };
}
