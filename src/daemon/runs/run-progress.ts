import type { Resource } from "../../connector/resource.ts";
import type { ProgressView, ResourceProgress } from "../../log/progress-view.ts";
import { WorkQueue, type QueueCount } from "../../state/work-queue.ts";
import type { Tally } from "../../sync/context/tally.ts";
import type { CompanyRun } from "./company-run.ts";

/** The progress of a run; null when its mirror is closed already. */
export function progressView(run: CompanyRun): ProgressView | null {
  const { mirror, tally } = run;
  if (!mirror.db.open) return null;
  const counts = new WorkQueue(mirror.db).counts().filter((count) => count.state === "ready");
  return {
    company: run.company.name,
    elapsedMs: run.context.clock.monotonicMs() - run.startedMs,
    resources: run.request.resources.map((resource) => resourceProgress(tally, resource, counts)),
    requests: tally.requests.total,
    queued: sum(counts),
    scrub: scrubOf(tally, sum(counts)),
    budget: run.rateLimiter.view(),
    windowMs: run.config.rateLimit.windowMs,
    outage: outageIn(tally, run.context.clock.monotonicMs()),
  };
}

function outageIn({ outage }: Tally, nowMs: number): ProgressView["outage"] {
  if (outage === null) return null;
  const left = (atMs: number) => Math.max(0, Math.round(atMs - nowMs));
  const { sinceMs, probeAtMs, untilMs, error } = outage;
  return {
    forMs: Math.round(nowMs - sinceMs),
    nextTryMs: left(probeAtMs),
    givesUpMs: left(untilMs),
    error: error.message,
  };
}

function scrubOf({ scrubPlanned: planned }: Tally, queued: number): ProgressView["scrub"] {
  return planned === null ? null : { done: Math.max(0, planned - queued), planned };
}

function resourceProgress(tally: Tally, resource: Resource, queue: readonly QueueCount[]): ResourceProgress {
  const { name, list } = resource;
  const counts = tally.resources.get(name);
  const own = queue.filter((count) => count.resource === name);
  const lists = sum(own.filter(({ kind }) => kind === "list" || kind === "child"));
  const reads = sum(own) - lists;
  const changed = counts ? counts.inserted + counts.updated + counts.deleted : 0;
  const known = tally.totals.get(name) ?? null;
  if (!counts || (counts.listed === 0 && own.length > 0 && reads === 0))
    return { name, phase: own.length > 0 ? "listing" : "waiting", done: 0, total: known, changed };
  const comesWithOthers = list.kind === "owned" && queue.some(({ kind }) => kind !== "child");
  if (comesWithOthers) return { name, phase: "reading", done: counts.listed, total: null, changed };
  if (counts.failed > 0) return { name, phase: "failed", done: counts.listed, total: known, changed };
  if (lists > 0) return { name, phase: "listing", done: counts.listed, total: known, changed };
  if (reads === 0) return { name, phase: "done", done: counts.listed, total: counts.listed, changed };
  const total = counts.listed || changed + counts.unchanged + reads;
  return { name, phase: "reading", done: Math.max(0, total - reads), total, changed };
}

function sum(counts: readonly QueueCount[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
