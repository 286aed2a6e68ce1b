import { dayMs, isoTime } from "../../base/clock.ts";
import { valueOr } from "../../base/errors.ts";
import { counted, formatDuration } from "../../base/units.ts";
import { freshForMs, parseCronSchedule } from "../../config/cron-schedule.ts";
import { missedMs, type Span } from "../../state/uptime-log.ts";
import { readWaitingJobs, type WaitingJobs } from "../jobs/job-engine.ts";
import { countLateCompanies } from "../postgres/catalogue/commit-snapshot.ts";
import type { Postgres } from "../postgres/connection.ts";
import { readCompanyViews, readServerView, type CompanyView } from "../postgres/tables/fleet-view.ts";
import { NodesTable, ReceivingTable, type NodeRow } from "../postgres/tables/heartbeats.ts";
import { readRemovedCompanies } from "../postgres/tables/removed-companies.ts";
import { difference, judgeCompany, type FleetCompanyStatus, type FleetProblem } from "./judge-company.ts";

/** How the fleet stands, as `fleet status --json` prints it. Times are ISO, by Postgres' clock. */
export type FleetStatus = Awaited<ReturnType<typeof readFleetStatus>>;

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
    removed: next ? { companies: removed.length, next_forgotten_at: next.kept_until } : null,
  };
}

/**
 * What the exit code of `fleet status` says: `difference` where data are old, or work waits that nobody does; `partial`
 * where something is not whole. Pure.
 */
export function fleetStatusOutcome({ problems, companies }: FleetStatus) {
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
    ...(silence > missedMs ? [difference("no_receiver", silent)] : []),
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
