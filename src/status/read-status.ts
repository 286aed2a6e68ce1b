import { existsSync } from "node:fs";
import { elapsedSince, hourMs, isoOrNull, isoTime, msOrNull, type Clock } from "../base/clock.ts";
import { hintOf, MirrorError } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import { formatDuration } from "../base/units.ts";
import type { CompanySettings } from "../store/mirror-files.ts";
import type { Resource } from "../connector/resource.ts";
import { openBudgetFile } from "../state/budget-file.ts";
import { quotaOf } from "../rate-limit/monthly-quota.ts";
import type { BudgetView, SpentMinute } from "../rate-limit/permit.ts";
import { createRateLimiter } from "../rate-limit/rate-limiter.ts";
import { fileKinds, filedResources, PendingFiles } from "../state/files/pending-files.ts";
import { ScrubCandidates } from "../state/scrub-candidates.ts";
import { changesOf, earliest } from "../state/sweeps.ts";
import { readyItems } from "../state/work-item.ts";
import type { Db } from "../store/database.ts";
import { lockHolder, type LockHolder } from "../store/writer-lock.ts";
import { planRun, type RunPlan } from "../sync/plan/estimate.ts";
import { parentsPerRunOf, readScrubPlan, scrubSources, type ScrubQuestion } from "../sync/plan/scrub.ts";
import { listRequests } from "../sync/plan/initial-work.ts";
import { readProof } from "../verify/findings.ts";
import { isPartial, openConditions } from "./conditions.ts";
import { readView, type CompanyStatusView } from "./company-view.ts";
import { daemonSilent, judgeEvents, readEventFacts, webhooksCover } from "./event-status.ts";
import type { EventStatus } from "./event-status.ts";
import { readHealth, type Health } from "./mirror-health.ts";

export interface StatusQuestion extends CompanySettings {
  /** The mirror, opened for reading; null while there is none. */
  readonly db: Db | null;
  /** Tables read whole longer ago are stale; null: none is. */
  readonly maxAgeMs: number | null;
  readonly nowMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export type CompanyStatus = ReturnType<typeof readStatus>;

/** Reads the status of one company from its files; sends no request and writes nothing. */
export function readStatus(question: StatusQuestion) {
  const { db, files, declaration, maxAgeMs, nowMs } = question;
  const view = readView(db, question, nowMs);
  const budget = readBudget(question, files.budget);
  const health = db && readHealth(db, declaration, question.resources);
  const writer = db && lockHolder(files.lock);
  const running = health && runUnderWay(health, writer);
  const events = db && judgeEvents(readEventFacts(db), writer, view.wholeness.mayHaveLostEvents, nowMs);
  const limits = { freshForMs: maxAgeMs ?? view.limits.freshForMs, outageLimitMs: hourMs };
  return {
    mirrored: db !== null,
    writer: writer?.description ?? null,
    /** The run it is making; `unknown` where the lock does not say since when it is held. */
    running,
    ...budget,
    after_run: view.afterRun.steps,
    alerts: view.alerts,
    receivers: view.receivers,
    /** What an unchanged run costs; null: no run has read everything yet. */
    plan: health && readPlan(db, question, health, budget.budget),
    /** When the last run began that read all that the config asks for; null: none did. */
    whole_run_at: isoOrNull(view.wholeRunMs),
    freshness: db ? judgeFreshness(view, question) : { oldest: null, stale: [] },
    health,
    events,
    files: db && new PendingFiles(db).counts(filedResources(question.resources, fileKinds(question.config))),
    /** What the last `verify` of this mirror found; null: none was made. */
    verified: db && readProof(files.verified, db),
    /** What is wrong, as /readyz names it; what makes that one not ready first. */
    conditions:
      health && events ? openConditions({ ...withNotes(view, health, events, running), limits }, nowMs) : [],
  };
}

/**
 * The view with what a daemon has noted, as far as it runs. Secrets are those of its environment, not of this
 * process; without a daemon events wait for the next run, and none is late. Pure.
 */
function withNotes(
  view: CompanyStatusView,
  health: Health,
  events: EventStatus,
  running: number | "unknown" | null,
): CompanyStatusView {
  const { listening } = events;
  const noted = listening ? events.service : null;
  const [latest] = health.runs;
  const isRunning = running !== null && latest !== undefined;
  return {
    ...view,
    missingSecrets: [],
    writeProblem: daemonSilent(events)
      ? "`serve` is there, and writes nothing: look for a full disk, and at /readyz"
      : null,
    receiver: listening ? events : view.receiver,
    service: noted ? { ...noted, sinceMs: Date.parse(noted.since) } : view.service,
    run: isRunning ? { mode: latest.mode, startedMs: Date.parse(latest.startedAt) } : null,
    events: listening ? view.events : { ...view.events, oldestWaitingMs: null },
  };
}

/**
 * What is known of the request budget; null where no request was ever sent, or its file fails: on a full disk nobody can
 * open it, and everything else is worth knowing then.
 */
function readBudget(
  { declaration, config: { rateLimit }, clock, log, nowMs }: StatusQuestion,
  path: string,
): { budget: BudgetView | null; budget_minutes: readonly SpentMinute[] } {
  const unknown = { budget: null, budget_minutes: [] };
  if (!existsSync(path)) return unknown;
  try {
    const { windowMs } = rateLimit;
    using store = openBudgetFile({ path, clock, log, windowMs });
    const defaultLimit = declaration.limits.requests;
    const window = createRateLimiter({ store, clock, windowMs, defaultLimit }).view();
    const quota = quotaOf(declaration.protocol?.monthlyQuota, rateLimit, store, clock);
    const budget = quota ? { ...window, month: quota.view() } : window;
    /** Requests of the last hour by minute, of all processes; minutes without one are left out. */
    return { budget, budget_minutes: store.spentSince(nowMs - hourMs) };
  } catch (error) {
    if (!(error instanceof MirrorError) || error.kind !== "database") throw error;
    log.warn(error.message, hintOf(error));
    return unknown;
  }
}

/** What an unchanged run costs. Null: some list was never read, so nobody knows how long it is. */
function readPlan(
  db: Db,
  { nowMs, ...scope }: StatusQuestion,
  { queue, resources: known }: Health,
  budget: BudgetView | null,
): RunPlan | null {
  const lists = readListRequests(scope.resources, known);
  if (lists === null) return null;
  const question = scrubQuestion(scope, db, budget?.limit ?? null, nowMs);
  const { windowMs } = question;
  const { granted = scope.declaration.limits.requests } = budget ?? {};
  const { plan } = readScrubPlan(db, question, null, readBefore(db, question, known));
  const night = Math.min(plan.total, plan.stalest + plan.recent);
  return planRun({ lists, missing: readyItems(queue), scrub: night }, plan, { granted, windowMs });
}

/** What the scrub of a company depends on. `limit`: requests in a window; null: not known yet. */
export function scrubQuestion(
  { config, resources, declaration }: Omit<CompanySettings, "company">,
  db: Db,
  limit: number | null,
  nowMs: number,
): ScrubQuestion {
  return {
    settings: config.scrub,
    windowMs: config.rateLimit.windowMs,
    limit: limit ?? declaration.limits.requests,
    declared: declaration.resources,
    resources,
    parentsPerRun: parentsPerRunOf(config),
    isCovered: (sinceMs) => webhooksCover(db, sinceMs, nowMs),
    nowMs,
  };
}

/** What `ScrubCandidates.readBefore` finds, as far as the health has counted it already: of a million records that takes long. */
function readBefore(db: Db, question: ScrubQuestion, known: Health["resources"]) {
  const facts = new Map(known.map((one) => [one.name, one]));
  const found = question.resources.map((resource) => {
    const sources = scrubSources({ ...question, resources: [resource] });
    const counted = facts.get(resource.name);
    if (counted && sources.some(({ listOf }) => listOf !== null)) {
      const parents = sources.reduce((sum, { table }) => sum + (facts.get(table)?.live ?? 0), 0);
      return { count: parents - counted.parents_never_read, oldestMs: msOrNull(counted.oldest_parent_at) };
    }
    // Where a list may show a record in full, not all that is known in full was read alone.
    if (!counted || sources.length === 0 || resource.gives !== "preview")
      return new ScrubCandidates(db).readBefore(sources);
    return { count: counted.live - counted.provisional, oldestMs: msOrNull(counted.oldest_detail_at) };
  });
  const times = found.flatMap(({ oldestMs }) => oldestMs ?? []);
  const count = found.reduce((sum, one) => sum + one.count, 0);
  return { count, oldestMs: times.length === 0 ? null : Math.min(...times) };
}

/** As long as the lists were when they were last read; null: one never was. */
function readListRequests(resources: readonly Resource[], known: Health["resources"]): number | null {
  const lengths = new Map(known.map(({ name, sweptAt, expected }) => [name, sweptAt && (expected ?? 0)]));
  if (resources.some(({ name }) => typeof lengths.get(name) !== "number")) return null;
  // Where a list shows what changed, a usual night reads that alone.
  const requests = (one: Resource) => (changesOf(one) ? 1 : listRequests(one, Number(lengths.get(one.name))));
  return resources.reduce((sum, one) => sum + requests(one), 0);
}

/**
 * The open run that the holder of the lock is making: it began since the lock is held. The process id alone does
 * not say so, since in containers every process may have the same. Pure.
 */
function runUnderWay({ runs }: Health, holder: LockHolder | null): number | "unknown" | null {
  const [latest] = runs;
  if (holder === null || !latest || latest.outcome !== null) return null;
  if (holder.pid === undefined || holder.since === undefined) return "unknown";
  return latest.pid === holder.pid && latest.startedAt >= holder.since ? latest.id : null;
}

/** How old the lists are that the config asks for. `oldest` is null where one was never read whole. Pure. */
function judgeFreshness({ sweptMs }: CompanyStatusView, { maxAgeMs, nowMs }: StatusQuestion) {
  const stale = Object.entries(sweptMs).flatMap(([name, ms]) => {
    if (maxAgeMs === null) return [];
    if (ms === null) return [{ name, age: "never read whole" }];
    const ageMs = elapsedSince(ms, nowMs);
    if (ageMs === Infinity)
      return [{ name, age: `unknown: read at ${isoTime(ms)}, by a clock that was ahead` }];
    return ageMs > maxAgeMs ? [{ name, age: formatDuration(ageMs) }] : [];
  });
  return { oldest: earliest(Object.values(sweptMs).map(isoOrNull)), stale };
}

/** What the exit code of `status` says: `difference` when stale or missing, `partial` when not whole. Pure. */
export function statusOutcome(status: CompanyStatus): "complete" | "partial" | "difference" {
  const { mirrored, freshness, health, conditions, whole_run_at: wholeRunAt } = status;
  if (!mirrored || !health || freshness.stale.length > 0) return "difference";
  if (health.resources.every(({ sweptAt }) => sweptAt === null)) return "difference";
  return wholeRunAt === null || conditions.some(isPartial) ? "partial" : "complete";
}
