import { dayMs } from "../base/clock.ts";
import { selectResources } from "../config/companies.ts";
import type { Config } from "../config/config.ts";
import { sourcesOf, type Resource } from "../connector/resource.ts";
import type { ProgressView, RequestsAhead, ResourceProgress } from "../log/progress.ts";
import type { HttpTransport } from "../http/http-transport.ts";
import type { RateLimiter } from "../rate-limit/permit.ts";
import type { Mirror } from "../state/mirror.ts";
import { WorkQueue, type QueueCount } from "../state/work-queue.ts";
import { webhooksCover } from "../status/event-status.ts";
import type { CompanySettings } from "../store/mirror-files.ts";
import { Tally } from "../sync/context/tally.ts";
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

/** What a run does when what lists show is in, and what ends its scrub alone. */
export interface Scrubbing {
  readonly onListed?: OnListed;
  /** @default never */
  readonly scrubClosed?: AbortSignal;
}

interface WorkerBeside {
  readonly queue: WorkQueue;
  /** @default the deadline of a request */
  readonly graceMs?: number;
}

/** One run of one company on its open mirror, as the config says. */
export type CompanyRun = ReturnType<typeof createCompanyRun>;

/** @param transport with the request's own limits */
export function createCompanyRun(
  { clock, random, log }: Pick<ProcessContext, "clock" | "random" | "log">,
  { config, company }: Pick<CompanySettings, "config" | "company">,
  mirror: Mirror,
  transport: HttpTransport,
  rateLimiter: Pick<RateLimiter, "view">,
  request: RunRequest,
) {
  const tally = new Tally();
  const startedMs = clock.monotonicMs();
  const { windowMs } = config.rateLimit;
  const { db, declaration } = mirror;
  const never = new AbortController().signal;
  const scrubOptions = (closed: AbortSignal): ScrubOptions => ({
    settings: config.scrub,
    windowMs,
    limit: () => rateLimiter.view().limit ?? declaration.limits.requests,
    isCovered: (sinceMs) => webhooksCover(db, sinceMs, clock.nowMs()),
    closed,
  });
  /**
   * @param worker of events beside this run, which takes their lane
   * @throws only what a summary cannot say
   */
  const perform = (signal: AbortSignal, scrubbing: Scrubbing = {}, worker?: WorkerBeside) => {
    const { scrubClosed = never, onListed } = scrubbing;
    const { queue = new WorkQueue(db), graceMs = config.http.timeoutMs } = worker ?? {};
    const [token, rateLimited] = [company.token.reveal(), () => transport.stats().rateLimited];
    const monthLeft = rateLimiter.view().month?.left ?? null;
    return runSync(
      { mirror, transport, tally, queue, clock, random, log, token, rateLimited },
      {
        ...request,
        mirrored: selectResources(declaration, config.resources),
        parentsPerRun: parentsPerRunOf(config),
        wholeLists: wholeListSettings(config.scrub, declaration.resources.length, monthLeft, clock.nowMs()),
        scrub: request.scrub ? scrubOptions(scrubClosed) : null,
        ...(onListed && { onListed }),
        concurrency: config.http.concurrency,
        patienceMs: config.http.patienceMs,
        share: worker ? "others" : "all",
        signal,
        graceMs,
      },
    );
  };
  /** How far it is; null when its mirror is closed already. */
  const progress = (): ProgressView | null => {
    if (!db.open) return null;
    const { resources } = request;
    const names = resources.map(({ name }) => name);
    const counts = new WorkQueue(db).counts(names).filter((count) => count.state === "ready");
    const nowMs = clock.monotonicMs();
    const queued = sum(counts);
    const { scrubPlanned: planned } = tally;
    return {
      company: company.name,
      elapsedMs: nowMs - startedMs,
      resources: resources.map((resource) => resourceProgress(tally, resource, counts)),
      requests: tally.requests.total,
      queued,
      ahead: aheadOf(tally, resources, counts),
      scrub: planned === null ? null : { done: Math.max(0, planned - queued), planned },
      budget: rateLimiter.view(),
      windowMs,
      outage: outageIn(tally, nowMs),
    };
  };
  return { request, transport, tally, perform, progress };
}

/**
 * When whole lists are read, besides those never read: with half of what is `left` of a month's requests (null: no limit), less
 * where the nights until its end need more, each for all resources, a token and what it finds; with a tenth at least.
 */
export function wholeListSettings(scrub: Config["scrub"], all: number, left: number | null, nowMs: number) {
  const now = new Date(nowMs);
  const endMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const nights = Math.ceil((endMs - nowMs) / dayMs) * (all + 2);
  const most = (rest: number) => Math.max(rest / 10, Math.min(rest / 2, rest - nights));
  const mostRequests = left === null ? null : Math.floor(most(left));
  const pagesPerDay = Math.max(1, Math.floor(((mostRequests ?? 0) * dayMs) / (endMs - nowMs)));
  return { everyMs: scrub.listsMs, mostRequests, pagesPerDay };
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
