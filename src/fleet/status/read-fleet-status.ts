import { dayMs, elapsedSince, isoTime } from "../../base/clock.ts";
import { valueOr } from "../../base/errors.ts";
import { counted, formatDuration } from "../../base/units.ts";
import { freshForMs, parseCronSchedule } from "../../config/cron-schedule.ts";
import type { Span } from "../../state/uptime-log.ts";
import { readWaitingJobs, type WaitingJobs } from "../jobs/job-engine.ts";
import { countLateCompanies } from "../postgres/catalogue/commit-snapshot.ts";
import type { Postgres } from "../postgres/connection.ts";
import { readCompanyViews, readServerView, type CompanyView } from "../postgres/tables/fleet-view.ts";
import { NodesTable, ReceivingTable, type NodeRow } from "../postgres/tables/heartbeats.ts";
import { readRemovedCompanies } from "../postgres/tables/removed-companies.ts";
import { isPartial, type NamedCondition } from "../../status/conditions.ts";
import { suspectLosses } from "../postgres/tables/losses.ts";

/** How the fleet stands, as `fleet status --json` prints it. Times are ISO, by Postgres' clock. */
export type FleetStatus = Awaited<ReturnType<typeof readFleetStatus>>;

export type FleetCompanyStatus = ReturnType<typeof judgeCompany>;

/**
 * What is wrong with a company, or with the fleet. `difference`: somebody has to look, data are old or nobody works on
 * them. `partial`: something is not whole. `notice`: of it the exit code says nothing.
 */
interface FleetProblem {
  readonly kind:
    | "owner_ended"
    | "nodes_died"
    | "deliveries_unattended"
    | "deliveries_late"
    | "never_read"
    | "job_failed"
    | "no_worker"
    | "restored"
    | "no_receiver"
    | "jobs_wait"
    | "catalogue_late"
    /** What `status` and alerts say of the mirror. */
    | NamedCondition["kind"];
  readonly severity: "difference" | "partial" | "notice";
  readonly message: string;
}

/** Another node takes over within 30 s, and deliveries are drained within seconds. */
const takeoverMs = 60_000;
/** Snapshots are published every few minutes while something changes. */
const publishedWithinMs = 15 * 60_000;
/** The first run of a new company may last. */
const firstRunMs = 3_600_000;
/** A silence of all receivers that is longer is a problem. */
const silentMs = 60_000;
/** A job that waits longer finds no free place. */
const placeWithinMs = 5 * 60_000;

/**
 * Reads how the fleet stands: with so many statements, however many companies and nodes there are.
 *
 * @param maxAgeMs companies read whole longer ago are stale; null: as their schedules say
 * @param only these companies; null: all
 * @throws MirrorError `database`
 */
export async function readFleetStatus(
  postgres: Postgres,
  maxAgeMs: number | null,
  only: readonly string[] | null = null,
) {
  const { at, restored_at, set_back_to, ...server } = await readServerView(postgres);
  const nowMs = Date.parse(at);
  const views = await readCompanyViews(postgres);
  const shown = only === null ? views : views.filter(({ company }) => only.includes(company));
  const companies = shown.map((view) => [
    view.company,
    judgeCompany(view, nowMs, maxAgeMs ?? scheduledFreshness(view, nowMs)),
  ]);
  const nodes = await new NodesTable(postgres).list();
  const span = (await new ReceivingTable(postgres).spansSince(nowMs - dayMs)).at(-1) ?? null;
  const waiting = await readWaitingJobs(postgres);
  const isLeft = ({ whole_at: whole }: CompanyView) => whole === null || whole <= (restored_at ?? "");
  const companies_left = views.filter(isLeft).length;
  const restored = restored_at === null ? null : { at: restored_at, set_back_to, companies_left };
  const removed = await readRemovedCompanies(postgres);
  const [next] = removed;
  const late = await countLateCompanies(postgres);
  const jobs = waiting.map(({ kind, count, oldestMs }) => {
    return [kind, { waiting: count, oldest_ms: Math.round(oldestMs) }] as const;
  });
  return {
    at,
    /** What is wrong with the fleet itself; companies have their own. */
    problems: fleetProblems(views, nodes, span, waiting, nowMs, restored, late),
    companies: Object.fromEntries(companies) as Readonly<Record<string, FleetCompanyStatus>>,
    nodes,
    /** When deliveries were received last without a gap; null: never, or not in the last day. */
    receiving: span && { since: isoTime(span.startedMs), seen_at: isoTime(span.seenMs) },
    /** Jobs that are due and taken by no node, by kind. */
    jobs: Object.fromEntries(jobs),
    postgres: server,
    /** What Postgres lacks since a worker noticed that a backup was restored; null: none ever was. */
    restored,
    /** Companies that left the fleet and are still known; null: there are none. */
    removed: next ? { companies: removed.length, next_forgotten_at: isoTime(next.keptUntilMs) } : null,
  };
}

/**
 * What the exit code of `fleet status` says: `difference` where data are old, or work waits that nobody does; `partial`
 * where something is not whole. Pure.
 */
export function fleetStatusOutcome({
  problems,
  companies,
}: FleetStatus): "complete" | "partial" | "difference" {
  const all = [...problems, ...Object.values(companies).flatMap((one) => one.problems)];
  const severities = new Set(all.map(({ severity }) => severity));
  if (severities.has("difference")) return "difference";
  return severities.has("partial") ? "partial" : "complete";
}

/** For how long what the runs of a company read is current by its schedule; null: for ever. */
function scheduledFreshness({ judged: { schedule, timezone } }: CompanyView, nowMs: number): number | null {
  if (schedule === null || timezone === null) return null;
  // No run comes by a pattern that nobody can read.
  const pattern = valueOr(() => parseCronSchedule(schedule, timezone), null);
  return freshForMs(pattern, nowMs);
}

/** `set_back_to`: the last moment that the backup has; what deliveries said of the companies left may be missing. */
interface RestoredDatabase {
  readonly set_back_to: string | null;
  readonly companies_left: number;
}

function fleetProblems(
  views: readonly CompanyView[],
  nodes: readonly NodeRow[],
  span: Span | null,
  waiting: readonly WaitingJobs[],
  nowMs: number,
  restored: RestoredDatabase | null,
  late: number,
): FleetProblem[] {
  const there = nodes.filter(({ lost }) => !lost);
  const isWorked = there.some(({ role, draining }) => role !== "receive" && !draining);
  const isAnswered = there.some(({ role }) => role !== "work");
  const unworked = there.some(({ draining }) => draining) ? "every worker is drained" : "no worker runs";
  const isExpected = views.some(({ judged }) => judged.receives);
  const silence = span ? nowMs - span.seenMs : 0;
  const oldestMs = Math.max(0, ...waiting.map((one) => one.oldestMs));
  const silent = `no receiver has answered deliveries for ${formatDuration(silence)}`;
  const none = "no receiver runs: nobody answers deliveries";
  const lacking = `the catalogue lacks what ${counted(late, "company", "companies")} published: workers log why`;
  const lacks: FleetProblem = { kind: "catalogue_late", severity: "partial", message: lacking };
  const full = `jobs wait for a free place for ${formatDuration(oldestMs)}: run more workers`;
  return [
    ...(views.length > 0 && !isWorked ? [difference("no_worker", unworked)] : []),
    ...(silence > silentMs ? [difference("no_receiver", silent)] : []),
    ...(!span && !isAnswered && isExpected ? [difference("no_receiver", none)] : []),
    ...(restored && restored.companies_left > 0 ? [difference("restored", restoredText(restored))] : []),
    ...(oldestMs > placeWithinMs ? [difference("jobs_wait", full)] : []),
    ...(late > 0 ? [lacks] : []),
  ];
}

function restoredText({ set_back_to, companies_left }: RestoredDatabase): string {
  const from = set_back_to === null ? "" : ` of ${set_back_to}`;
  const left = `${companies_left === 1 ? "a company was" : `${companies_left} companies were`} not read whole since`;
  return `Postgres was restored from a backup${from}, or replaced: ${left}; run \`fleet add\` and \`fleet remove\` again for what they changed meanwhile`;
}

/**
 * A company's row as status, with what is wrong. Pure.
 *
 * @param staleAfterMs for how long what a run read is current; null: for ever
 */
function judgeCompany(view: CompanyView, nowMs: number, staleAfterMs: number | null) {
  const { company, judged, ...shown } = view;
  const problems = [
    ...lossProblems(company, view, nowMs),
    ...deliveryProblems(view, nowMs),
    ...ageProblems(view, nowMs, staleAfterMs),
    ...failureProblems(view, nowMs),
    ...(judged.conditions ?? []).map((one): FleetProblem => {
      return { kind: one.kind, severity: isPartial(one) ? "partial" : "notice", message: one.message };
    }),
  ];
  return { ...shown, problems };
}

function difference(kind: FleetProblem["kind"], message: string): FleetProblem {
  return { kind, severity: "difference", message };
}

/** A company that was held by each of several nodes that died may be what they died of. */
function lossProblems(company: string, view: CompanyView, nowMs: number): FleetProblem[] {
  const { node, held, expires_at: expiresAt, judged } = view;
  const isLost = node !== null && !held;
  const count = (judged.losses ?? 0) + Number(isLost);
  const endedMs = isLost ? sinceMs(expiresAt, nowMs) : 0;
  if (count >= suspectLosses) {
    const waitMs = held ? 0 : -sinceMs(judged.claimable_at, nowMs);
    const now = waitMs > 0 ? `nobody takes it for ${formatDuration(waitMs)}` : `it is taken again`;
    const hint = `look at how ${node ?? "they"} ended, and at its memory; then \`fleet add ${company}\` has it taken at once`;
    return [difference("nodes_died", `the last ${count} nodes that held it died, and ${now}: ${hint}`)];
  }
  if (endedMs <= takeoverMs) return [];
  const text = `${node} was lost ${formatDuration(endedMs)} ago, and no node took over`;
  return [difference("owner_ended", text)];
}

function deliveryProblems(view: CompanyView, nowMs: number): FleetProblem[] {
  const { node, held, waiting_deliveries: waiting, waiting_since: since } = view;
  const waitedMs = sinceMs(since, nowMs);
  if (waitedMs <= (held ? publishedWithinMs : takeoverMs)) return [];
  const deliveries = `${waiting === 1 ? "a delivery waits" : `${waiting} deliveries wait`} for ${formatDuration(waitedMs)}`;
  return held
    ? [difference("deliveries_late", `${deliveries} for a snapshot by ${node}`)]
    : [difference("deliveries_unattended", `${deliveries}, and no node has the company`)];
}

function ageProblems({ whole_at: wholeAt, judged }: CompanyView, nowMs: number, staleAfterMs: number | null) {
  if (wholeAt === null) {
    const addedMs = sinceMs(judged.added_at, nowMs);
    if (addedMs <= Math.min(firstRunMs, staleAfterMs ?? firstRunMs)) return [];
    return [difference("never_read", `never read whole, ${formatDuration(addedMs)} after it was added`)];
  }
  const ageMs = elapsedSince(Date.parse(wholeAt), nowMs);
  if (staleAfterMs === null || ageMs <= staleAfterMs) return [];
  const age = ageMs === Infinity ? `at ${wholeAt}, by a clock that is ahead` : `${formatDuration(ageMs)} ago`;
  return [difference("stale", `last read whole ${age}`)];
}

/** A snapshot that was made since shows that the company is worked on again. */
function failureProblems({ held, snapshot_at: snapshotAt, judged }: CompanyView, nowMs: number) {
  const { failure, failed_at: failedAt, claimable_at: claimableAt } = judged;
  if (held || failure === null || (snapshotAt ?? "") > (failedAt ?? "")) return [];
  const again = formatDuration(Math.max(0, -sinceMs(claimableAt, nowMs)));
  return [difference("job_failed", `no worker can hold it: ${failure} (tried again in ${again})`)];
}

function sinceMs(iso: string | null, nowMs: number): number {
  return iso === null ? 0 : nowMs - Date.parse(iso);
}
