import { sourcesOf, type Resource } from "../connector/resource.ts";
import type { ProgressView, RequestsAhead, ResourceProgress } from "../log/progress.ts";
import { WorkQueue, type QueueCount } from "../state/work-queue.ts";
import type { Tally } from "../sync/context/tally.ts";
import type { CompanyRun } from "./company-run.ts";

/** The progress of a run; null when its mirror is closed already. */
export function progressView(run: CompanyRun): ProgressView | null {
  const { mirror, tally } = run;
  if (!mirror.db.open) return null;
  const names = run.request.resources.map(({ name }) => name);
  const counts = new WorkQueue(mirror.db).counts(names).filter((count) => count.state === "ready");
  const nowMs = run.context.clock.monotonicMs();
  const queued = sum(counts);
  const { scrubPlanned: planned } = tally;
  return {
    company: run.company.name,
    elapsedMs: nowMs - run.startedMs,
    resources: run.request.resources.map((resource) => resourceProgress(tally, resource, counts)),
    requests: tally.requests.total,
    queued,
    ahead: aheadOf(tally, run.request.resources, counts),
    scrub: planned === null ? null : { done: Math.max(0, planned - queued), planned },
    budget: run.rateLimiter.view(),
    windowMs: run.config.rateLimit.windowMs,
    outage: outageIn(tally, nowMs),
  };
}

/** What unread pages will show is estimated by the pages that were read: how many of their records were new. */
function aheadOf(tally: Tally, resources: readonly Resource[], queue: readonly QueueCount[]): RequestsAhead {
  const parents = new Set(resources.flatMap((one) => (one.list.kind === "parents" ? sourcesOf(one) : [])));
  const ahead = { lists: 0, openLists: 0, details: 0, isKnown: true };
  for (const resource of resources) {
    const own = queue.filter((count) => count.resource === resource.name);
    const pages = sum(own.filter(({ kind }) => kind === "list"));
    ahead.details += sum(own) - pages;
    if (pages === 0) continue;
    ahead.openLists += 1;
    const unseen = unseenRecords(tally, resource);
    if (unseen === null) ahead.isKnown = false;
    const perPage = resource.list.kind === "paged" ? resource.list.perPage : Infinity;
    ahead.lists += Math.max(pages, Math.ceil((unseen ?? 0) / perPage));
    const readsEach = Number(resource.gives === "preview") + Number(parents.has(resource.name));
    ahead.details += Math.round((unseen ?? 0) * readsEach * newShare(tally, resource));
  }
  return ahead;
}

/** Records that the list has and has not shown yet; null: its length is not known. */
function unseenRecords({ totals, resources }: Tally, { name, list }: Resource): number | null {
  const total = totals.get(name);
  if (total !== undefined) return Math.max(0, total - (resources.get(name)?.listed ?? 0));
  return list.kind === "single" || list.kind === "whole" ? 0 : null;
}

function newShare({ resources }: Tally, { name }: Resource): number {
  const { inserted = 0, listed = 0 } = resources.get(name) ?? {};
  return listed === 0 ? 0 : Math.min(1, inserted / listed);
}

function outageIn({ outage }: Tally, nowMs: number): ProgressView["outage"] {
  if (outage === null) return null;
  const left = (atMs: number) => Math.max(0, Math.round(atMs - nowMs));
  const { sinceMs, probeAtMs, untilMs, error } = outage;
  return {
    for_ms: Math.round(nowMs - sinceMs),
    next_try_ms: left(probeAtMs),
    gives_up_ms: left(untilMs),
    error: error.message,
  };
}

function resourceProgress(tally: Tally, { name, list }: Resource, queue: readonly QueueCount[]) {
  const own = queue.filter((count) => count.resource === name);
  const waiting = sum(own);
  const counts = tally.resources.get(name);
  const lists = sum(own.filter(({ kind }) => kind === "list" || kind === "child"));
  const reads = waiting - lists;
  const changed = counts ? counts.inserted + counts.updated + counts.deleted : 0;
  const known = tally.totals.get(name) ?? null;
  const at = (phase: ResourceProgress["phase"], done: number, total = known): ResourceProgress => {
    return { name, phase, done, total, changed, waiting };
  };
  if (!counts || (counts.listed === 0 && own.length > 0 && reads === 0))
    return at(own.length > 0 ? "listing" : "waiting", 0);
  const comesWithOthers = list.kind === "owned" && queue.some(({ kind }) => kind !== "child");
  if (comesWithOthers) return at("reading", counts.listed, null);
  if (counts.failed > 0) return at("failed", counts.listed);
  if (lists > 0) return at("listing", counts.listed);
  if (reads === 0) return at("done", counts.listed, counts.listed);
  const total = counts.listed || changed + counts.unchanged + reads;
  return at("reading", Math.max(0, total - reads), total);
}

function sum(counts: readonly QueueCount[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
