import { isoTime } from "../../base/clock.ts";
import { formatDuration } from "../../base/units.ts";
import { freshForMs, parseCronSchedule } from "../../daemon/scheduler/cron-schedule.ts";
import type { Span } from "../../state/uptime-log.ts";
import { readWaitingJobs, type WaitingJobs } from "../jobs/job-engine.ts";
import type { Postgres } from "../postgres/connection.ts";
import {
  readCompanyViews,
  readServerView,
  type CompanyView,
  type PostgresNumbers,
} from "../postgres/tables/fleet-view.ts";
import { NodesTable, type NodeRow } from "../postgres/tables/nodes-table.ts";
import { ReceivingTable } from "../postgres/tables/receiving-table.ts";
import { readRemovedCompanies } from "../postgres/tables/removed-companies.ts";
import { difference, judgeCompany, type FleetCompanyStatus, type FleetProblem } from "./judge-company.ts";

/** How the fleet stands, as `fleet status --json` prints it. Times are ISO, by Postgres' clock. */
export interface FleetStatus {
  readonly at: string;
  /** What is wrong with the fleet itself; companies have their own. */
  readonly problems: readonly FleetProblem[];
  readonly companies: Readonly<Record<string, FleetCompanyStatus>>;
  readonly nodes: readonly NodeRow[];
  /** When deliveries were received last without a gap; null: never, or not in the last day. */
  readonly receiving: { readonly since: string; readonly seen_at: string } | null;
  /** Jobs that are due and taken by no node, by kind. */
  readonly jobs: Readonly<Record<string, { readonly waiting: number; readonly oldest_ms: number }>>;
  readonly postgres: PostgresNumbers;
  /** Null: Postgres was never restored from a backup. */
  readonly restored: RestoredDatabase | null;
  /** Companies that left the fleet and are still known; null: there are none. */
  readonly removed: { readonly companies: number; readonly next_forgotten_at: string } | null;
}

/** What Postgres lacks since a backup was restored. */
interface RestoredDatabase {
  /** When a worker noticed. */
  readonly at: string;
  /** The last moment that the backup has. */
  readonly set_back_to: string | null;
  /** Companies that were not read whole since: what deliveries said between may be missing. */
  readonly companies_left: number;
}

/** Where the status is read from. */
export interface FleetStatusQuestion {
  readonly postgres: Postgres;
  /** Companies read whole longer ago are stale; null: as their schedules say. */
  readonly maxAgeMs: number | null;
  /** Only these companies; null: all. @default null */
  readonly only?: readonly string[] | null;
}

/** A silence of all receivers that is longer is a problem. */
const silentMs = 60_000;
/** A job that waits longer finds no free place. */
const placeWithinMs = 5 * 60_000;
const dayMs = 86_400_000;

/**
 * Reads how the fleet stands: with so many statements, however many companies and nodes there are.
 *
 * @throws MirrorError `database`
 */
export async function readFleetStatus(question: FleetStatusQuestion): Promise<FleetStatus> {
  const { postgres, maxAgeMs, only = null } = question;
  const { at, restored_at, set_back_to, ...server } = await readServerView(postgres);
  const nowMs = Date.parse(at);
  const views = await readCompanyViews(postgres);
  const scheduledMs = scheduledFreshness(nowMs);
  const shown = only === null ? views : views.filter(({ company }) => only.includes(company));
  const companies = shown.map((view) => {
    const around = { nowMs, freshForMs: maxAgeMs ?? scheduledMs(view) };
    return [view.company, judgeCompany(view, around)];
  });
  const nodes = await new NodesTable(postgres).list();
  const span = (await new ReceivingTable(postgres).spansSince(nowMs - dayMs)).at(-1) ?? null;
  const waiting = await readWaitingJobs(postgres);
  const isLeft = ({ whole_at: whole }: CompanyView) => whole === null || whole <= (restored_at ?? "");
  const companies_left = views.filter(isLeft).length;
  const restored = restored_at === null ? null : { at: restored_at, set_back_to, companies_left };
  const removed = await readRemovedCompanies(postgres);
  const [next] = removed;
  return {
    at,
    problems: fleetProblems({ views, nodes, span, waiting, nowMs, restored }),
    companies: Object.fromEntries(companies),
    nodes,
    receiving: span && { since: isoTime(span.startedMs), seen_at: isoTime(span.seenMs) },
    jobs: Object.fromEntries(
      waiting.map(({ kind, count, oldestMs }) => [kind, { waiting: count, oldest_ms: Math.round(oldestMs) }]),
    ),
    postgres: server,
    restored,
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

/** For how long what the runs of each company read is current by their schedules; null: for ever. */
function scheduledFreshness(nowMs: number) {
  // A hundred thousand companies have a few schedules.
  const known = new Map<string, number>();
  return ({ judged: { schedule, timezone } }: CompanyView): number | null => {
    if (schedule === null || timezone === null) return null;
    const key = `${schedule} ${timezone}`;
    const freshMs = known.get(key) ?? freshForMs(parseCronSchedule(schedule, timezone), nowMs);
    known.set(key, freshMs);
    return freshMs;
  };
}

interface FleetFacts extends Pick<FleetStatus, "nodes" | "restored"> {
  readonly views: readonly CompanyView[];
  readonly span: Span | null;
  readonly waiting: readonly WaitingJobs[];
  readonly nowMs: number;
}

function fleetProblems({ views, nodes, span, waiting, nowMs, restored }: FleetFacts): FleetProblem[] {
  const isThere = (other: string) => nodes.some(({ role, lost }) => role !== other && !lost);
  const isExpected = views.some(({ judged }) => judged.receives);
  const silence = span ? nowMs - span.seenMs : 0;
  const oldestMs = Math.max(0, ...waiting.map((one) => one.oldestMs));
  const silent = `no receiver has answered deliveries for ${formatDuration(silence)}`;
  const none = "no receiver runs: nobody answers deliveries";
  const full = `jobs wait for a free place for ${formatDuration(oldestMs)}: run more workers`;
  return [
    ...(views.length > 0 && !isThere("receive") ? [difference("no_worker", "no worker runs")] : []),
    ...(silence > silentMs ? [difference("no_receiver", silent)] : []),
    ...(!span && !isThere("work") && isExpected ? [difference("no_receiver", none)] : []),
    ...(restored && restored.companies_left > 0 ? [difference("restored", restoredText(restored))] : []),
    ...(oldestMs > placeWithinMs ? [difference("jobs_wait", full)] : []),
  ];
}

function restoredText({ set_back_to, companies_left }: RestoredDatabase): string {
  const from = set_back_to === null ? "" : ` of ${set_back_to}`;
  const left = `${companies_left === 1 ? "a company was" : `${companies_left} companies were`} not read whole since`;
  return `Postgres was restored from a backup${from}, or replaced: ${left}; run \`fleet add\` and \`fleet remove\` again for what they changed meanwhile`;
}
