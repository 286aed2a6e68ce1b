import { dayMs } from "../base/clock.ts";
import { selectResources } from "../config/companies.ts";
import type { CompanyConfig, Config } from "../config/config.ts";
import type { HttpTransport } from "../http/http-transport.ts";
import type { RateLimiter } from "../rate-limit/permit.ts";
import { WorkQueue } from "../state/work-queue.ts";
import { webhooksCover } from "../status/event-status.ts";
import type { RunSummary } from "../sync/context/run-summary.ts";
import type { RunParts } from "../sync/context/run-context.ts";
import { parentsPerRunOf } from "../sync/plan/scrub.ts";
import type { AskedRun, OnListed, ScrubOptions } from "../sync/run/begin-run.ts";
import { runSync } from "../sync/run/sync-run.ts";
import type { ProcessContext } from "./process-context.ts";

export interface RunRequest extends AskedRun {
  readonly quick: boolean;
  /** Reads again what lists do not show, as the config says. */
  readonly scrub: boolean;
  /** Per company, retries included. */
  readonly mostRequests: number | undefined;
}

export interface CompanyRun extends Pick<RunParts, "mirror" | "tally"> {
  readonly context: Pick<ProcessContext, "clock" | "random" | "log">;
  readonly config: Config;
  readonly company: CompanyConfig;
  readonly request: RunRequest;
  /** With the request's own limits. */
  readonly transport: HttpTransport;
  readonly rateLimiter: Pick<RateLimiter, "view">;
  /** Monotonic. */
  readonly startedMs: number;
  readonly signal: AbortSignal;
  /** @default the deadline of a request */
  readonly graceMs?: number;
  /** Of an event worker beside this run, which takes the lane of events. */
  readonly queue?: WorkQueue;
  readonly onListed?: OnListed;
  /** Ends the scrub alone. @default never */
  readonly scrubClosed?: AbortSignal;
}

/** Makes one run on an open mirror, as the config says. Throws only what a report cannot say. */
export function performRun(run: CompanyRun): Promise<RunSummary> {
  const { mirror, transport, config, company, tally, queue, signal, onListed } = run;
  const { clock, random, log } = run.context;
  const parts = {
    mirror,
    transport,
    tally,
    queue: queue ?? new WorkQueue(mirror.db),
    clock,
    random,
    log,
    token: company.token.reveal(),
    rateLimited: () => transport.stats().rateLimited,
  };
  return runSync(parts, {
    ...run.request,
    mirrored: selectResources(mirror.declaration, config.resources),
    parentsPerRun: parentsPerRunOf(config),
    wholeLists: wholeListSettings(config, run.rateLimiter.view().month?.left ?? null, clock.nowMs()),
    scrub: run.request.scrub ? scrubOptions(run) : null,
    ...(onListed && { onListed }),
    concurrency: config.http.concurrency,
    patienceMs: config.http.patienceMs,
    share: queue ? "others" : "all",
    signal,
    graceMs: run.graceMs ?? config.http.timeoutMs,
  });
}

function scrubOptions({ mirror, config, context, rateLimiter, scrubClosed }: CompanyRun): ScrubOptions {
  const { db, declaration } = mirror;
  return {
    settings: config.scrub,
    windowMs: config.rateLimit.windowMs,
    limit: () => rateLimiter.view().limit ?? declaration.limits.requests,
    isCovered: (sinceMs) => webhooksCover(db, sinceMs, context.clock.nowMs()),
    closed: scrubClosed ?? new AbortController().signal,
  };
}

/**
 * When whole lists are read, besides those never read.
 *
 * @param left requests left of the month; null: there is no such limit
 */
export function wholeListSettings({ scrub }: Pick<Config, "scrub">, left: number | null, nowMs: number) {
  // The other half is for nights, events and what people ask.
  const mostRequests = left === null ? null : Math.floor(left / 2);
  const now = new Date(nowMs);
  const endMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const pagesPerDay = Math.max(1, Math.floor(((mostRequests ?? 0) * dayMs) / (endMs - nowMs)));
  return { everyMs: scrub.listsMs, mostRequests, pagesPerDay };
}
