import type { Clock } from "../../base/clock.ts";
import type { Resource } from "../../connector/resource.ts";
import type { ProgressView, ResourceProgress } from "../../log/progress-view.ts";
import type { RateLimiter } from "../../rate-limit/permit.ts";
import type { Mirror } from "../../state/mirror.ts";
import { WorkQueue, type QueueCount } from "../../state/work-queue.ts";
import type { Tally } from "../../sync/context/tally.ts";

/** What the progress of a run under way is drawn from. */
export interface ProgressSources {
  readonly company: string;
  readonly mirror: Mirror;
  readonly tally: Tally;
  readonly rateLimiter: Pick<RateLimiter, "view">;
  readonly clock: Clock;
  /** Monotonic. */
  readonly startedMs: number;
  readonly windowMs: number;
  readonly resources: readonly Resource[];
}

/** The progress of a run; null when its mirror is closed already. */
export function progressView(run: ProgressSources): ProgressView | null {
  if (!run.mirror.db.open) return null;
  const counts = new WorkQueue(run.mirror.db).counts().filter((count) => count.state === "ready");
  return {
    company: run.company,
    elapsedMs: run.clock.monotonicMs() - run.startedMs,
    resources: run.resources.map((resource) => resourceProgress(run.tally, resource, counts)),
    requests: run.tally.requests.total,
    queued: sum(counts),
    budget: run.rateLimiter.view(),
    windowMs: run.windowMs,
  };
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
