import { existsSync } from "node:fs";
import { elapsedSince, type Clock } from "../base/clock.ts";
import { hintOf, MirrorError } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import { formatDuration } from "../base/units.ts";
import type { CompanyConfig } from "../config/config.ts";
import type { MirrorFiles } from "../config/mirror-files.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import { quotaOf, viewMonth } from "../rate-limit/monthly-quota.ts";
import type { Resource } from "../connector/resource.ts";
import { openBudgetFile } from "../rate-limit/budget-file.ts";
import type { BudgetView } from "../rate-limit/permit.ts";
import { createRateLimiter } from "../rate-limit/rate-limiter.ts";
import { PendingFiles, type FiledResource } from "../state/files/pending-files.ts";
import { changesOf, earliest } from "../state/sweeps.ts";
import { readyItems } from "../state/work-item.ts";
import type { Db } from "../store/database.ts";
import { lockHolder, type LockHolder } from "../store/writer-lock.ts";
import { listedOutcome, type CompanyReport } from "../sync/context/run-report.ts";
import { planRun, type RunPlan } from "../sync/plan/run-plan.ts";
import { readScrubPlan, type ScrubQuestion } from "../sync/plan/scrub-facts.ts";
import { listRequests } from "../sync/plan/sweep-plan.ts";
import { readProof } from "../verify/proof-file.ts";
import { readStepStatus } from "./after-run-record.ts";
import { readAlerts } from "./alerts/alerter.ts";
import type { CompanyStatus, Freshness } from "./company-status.ts";
import { driftConditions } from "./conditions.ts";
import {
  daemonSilent,
  deliveriesRefused,
  eventsOverdue,
  judgeEvents,
  readEventFacts,
  webhooksCover,
} from "./event-status.ts";
import { readDrift } from "./live-facts.ts";
import { readHealth, type Health } from "./mirror-health.ts";

/** Which company's status is read, and from what. */
export interface StatusQuestion {
  /** The mirror, opened for reading; null while there is none. */
  readonly db: Db | null;
  readonly files: MirrorFiles;
  readonly manifest: Manifest;
  readonly company: CompanyConfig;
  /** Resources that the config asks for. */
  readonly resources: ReadonlySet<string>;
  /** What the config says of the scrub, and the length of the service's counting period. */
  readonly scrub: Pick<ScrubQuestion, "settings" | "parentsPerRun" | "windowMs">;
  /** What the config says of the budget. */
  readonly rateLimit: { readonly monthly: number | null; readonly reserveShare: number };
  /** What the config asks for after runs. */
  readonly steps: readonly string[];
  /** Whose files the config asks for. */
  readonly filed: readonly FiledResource[];
  /** Tables read whole longer ago are stale; null: none is. */
  readonly maxAgeMs: number | null;
  readonly nowMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reads the status of one company from its files; sends no request and writes nothing. */
export function readStatus(question: StatusQuestion): CompanyStatus {
  const { db, files, manifest, nowMs } = question;
  const { budget, budget_minutes } = readBudget(question);
  const after_run = readStepStatus(files.afterRun, question.steps, nowMs);
  const alerts = readAlerts(files);
  if (!db) return { ...noMirror, budget, budget_minutes, after_run, alerts };
  const health = readHealth(db, manifest);
  const freshness = judgeFreshness(health, question);
  const writer = lockHolder(files.lock);
  const wholeSinceMs = freshness.oldest === null ? null : Date.parse(freshness.oldest);
  const events = judgeEvents(readEventFacts(db), {
    writer,
    wholeSinceMs,
    nowMs,
    delays: manifest.webhooks?.retryDelays,
  });
  const running = runUnderWay(health, writer);
  const plan = readPlan(db, question, health, budget);
  const facts = {
    budget,
    budget_minutes,
    after_run,
    alerts,
    plan,
    freshness,
    health,
    events,
    files: new PendingFiles(db).counts(question.filed),
    verified: readProof(files.verified, db),
    conditions: readConditions(db, question, running !== null),
  };
  return { mirrored: true, writer: writer?.description ?? null, running, ...facts };
}

function readConditions(
  db: Db,
  { manifest, company, resources, nowMs }: StatusQuestion,
  isReading: boolean,
): CompanyStatus["conditions"] {
  const scope = { company, resources: [...resources].map((name) => ({ name })) };
  const all = driftConditions(readDrift(db, manifest, scope), isReading, nowMs);
  return all.map(({ kind, subject, message }) => ({ kind, subject, message }));
}

const noMirror = {
  mirrored: false,
  writer: null,
  running: null,
  plan: null,
  freshness: { oldest: null, stale: [] },
  health: null,
  events: null,
  files: null,
  verified: null,
  conditions: [],
};

const hourMs = 3_600_000;

/**
 * What is known of the request budget; null where no request was ever sent, or its file fails: on a full disk nobody can
 * open it, and everything else is worth knowing then.
 */
function readBudget(question: StatusQuestion): Pick<CompanyStatus, "budget" | "budget_minutes"> {
  try {
    return readBudgetFile(question);
  } catch (error) {
    if (!(error instanceof MirrorError) || error.kind !== "database") throw error;
    question.log.warn(error.message, hintOf(error));
    return noBudget;
  }
}

const noBudget = { budget: null, budget_minutes: [] };

function readBudgetFile({
  files: { budget: path },
  manifest,
  scrub: { windowMs },
  rateLimit,
  clock,
  log,
  nowMs,
}: StatusQuestion): Pick<CompanyStatus, "budget" | "budget_minutes"> {
  if (!existsSync(path)) return noBudget;
  const store = openBudgetFile({ path, clock, log, windowMs });
  try {
    const defaultLimit = manifest.limits.requests;
    const window = createRateLimiter({ store, clock, windowMs, defaultLimit }).view();
    const quota = quotaOf(manifest.protocol?.monthlyQuota, rateLimit, { store, clock });
    const budget = quota ? { ...window, month: viewMonth(quota) } : window;
    return { budget, budget_minutes: store.spentSince(nowMs - hourMs) };
  } finally {
    store.close();
  }
}

/** What an unchanged run costs. Null: some list was never read, so nobody knows how long it is. */
function readPlan(
  db: Db,
  { resources, manifest, scrub, nowMs }: StatusQuestion,
  { queue, resources: known }: Health,
  budget: BudgetView | null,
): RunPlan | null {
  const lists = readListRequests(manifest, resources, known);
  if (lists === null) return null;
  const { requests } = manifest.limits;
  const { limit = null, granted = requests } = budget ?? {};
  const selected = manifest.resources.filter(({ name }) => resources.has(name));
  const isCovered = (sinceMs: number) => webhooksCover(db, sinceMs, nowMs);
  const scope = { manifest: manifest.resources, resources: selected };
  const question = { ...scrub, ...scope, limit: limit ?? requests, isCovered, nowMs };
  const { plan } = readScrubPlan(db, question, null);
  const night = Math.min(plan.total, plan.stalest + plan.recent);
  return planRun({ lists, missing: readyItems(queue), scrub: night }, plan, {
    granted,
    windowMs: scrub.windowMs,
  });
}

/** As long as the lists were when they were last read; null: one never was. */
function readListRequests(
  { resources }: Manifest,
  asked: ReadonlySet<string>,
  known: Health["resources"],
): number | null {
  const lengths = new Map(known.map(({ name, sweptAt, expected }) => [name, sweptAt && (expected ?? 0)]));
  const selected = resources.filter(({ name }) => asked.has(name));
  if (selected.some(({ name }) => typeof lengths.get(name) !== "number")) return null;
  // Where a list shows what changed, a usual night reads that alone.
  const requests = (one: Resource) => (changesOf(one) ? 1 : listRequests(one, Number(lengths.get(one.name))));
  return selected.reduce((sum, one) => sum + requests(one), 0);
}

/**
 * The open run that the holder of the lock is making: it began since the lock is held. The process id alone does
 * not say so, since in containers every process may have the same. Pure.
 */
function runUnderWay({ runs }: Health, holder: LockHolder | null): CompanyStatus["running"] {
  const [latest] = runs;
  if (holder === null || !latest || latest.outcome !== null) return null;
  if (holder.pid === undefined || holder.since === undefined) return "unknown";
  return latest.pid === holder.pid && latest.startedAt >= holder.since ? latest.id : null;
}

/** Which of the tables that the config asks for are older than allowed? Pure. */
function judgeFreshness(health: Health, question: StatusQuestion): Freshness {
  const { resources, maxAgeMs, nowMs } = question;
  const asked = health.resources.filter(({ name }) => resources.has(name));
  const oldest = earliest(asked.map(({ sweptAt }) => sweptAt));
  if (maxAgeMs === null) return { oldest, stale: [] };
  const stale = asked.flatMap(({ name, sweptAt }) => {
    if (sweptAt === null) return [{ name, age: "never read whole" }];
    const ageMs = elapsedSince(Date.parse(sweptAt), nowMs);
    if (ageMs === Infinity) return [{ name, age: `unknown: read at ${sweptAt}, by a clock that was ahead` }];
    return ageMs > maxAgeMs ? [{ name, age: formatDuration(ageMs) }] : [];
  });
  return { oldest, stale };
}

/** What the exit code of `status` says: `difference` when stale or missing, `partial` when not whole. Pure. */
export function statusOutcome(status: CompanyStatus, nowMs: number): "complete" | "partial" | "difference" {
  const { mirrored, freshness, health, events, after_run: steps } = status;
  if (!mirrored || !health || freshness.stale.length > 0) return "difference";
  if (health.resources.every(({ sweptAt }) => sweptAt === null)) return "difference";
  if (health.failed_start !== null || health.quarantine.length > 0 || health.setAside.length > 0)
    return "partial";
  if (health.resources.some(({ troubles }) => troubles.length > 0)) return "partial";
  if (events && (eventsOverdue(events, nowMs) || deliveriesRefused(events) || daemonSilent(events)))
    return "partial";
  if (steps.some(({ outcome }) => outcome === "failed")) return "partial";
  const last = health.runs.find((run) => run.outcome !== null);
  if (!last) return "complete";
  const report = { ...(last.report as CompanyReport), outcome: last.outcome as CompanyReport["outcome"] };
  return listedOutcome(report) === "complete" ? "complete" : "partial";
}
