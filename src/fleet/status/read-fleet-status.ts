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
  type ServerView,
} from "../postgres/tables/fleet-view.ts";
import { NodesTable, type NodeRow } from "../postgres/tables/nodes-table.ts";
import { ReceivingTable } from "../postgres/tables/receiving-table.ts";
import { readRemovedCompanies } from "../postgres/tables/removed-companies.ts";
import type { SnapshotSummary } from "../snapshot/snapshot-summary.ts";
import { judgeCompany, type FleetCompanyStatus, type FleetProblem } from "./judge-company.ts";

/** How the fleet stands, as `fleet status --json` prints it. Times are ISO, by Postgres' clock. */
export interface FleetStatus {
  readonly at: string;
  /** What is wrong with the fleet itself; companies have their own. */
  readonly problems: readonly FleetProblem[];
  readonly companies: Readonly<Record<string, FleetCompanyStatus>>;
  readonly nodes: readonly FleetNodeStatus[];
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

/** A node as its last heartbeat says. */
export interface FleetNodeStatus {
  readonly node: string;
  readonly version: string;
  readonly role: string;
  readonly held: number;
  readonly capacity: number;
  readonly draining: boolean;
  readonly started_at: string;
  readonly seen_at: string;
  /** It sends no heartbeats any more. */
  readonly lost: boolean;
}

/** Numbers of the server. */
interface PostgresNumbers {
  readonly version: string;
  readonly database_bytes: number;
  readonly inbox_bytes: number;
  readonly changes_bytes: number;
  readonly jobs_bytes: number;
  readonly connections: number;
  readonly max_connections: number;
  readonly oldest_transaction_ms: number;
}

/** Where the status is read from. */
export interface FleetStatusQuestion {
  readonly postgres: Postgres;
  /** Companies read whole longer ago are stale; null: as their schedules say. */
  readonly maxAgeMs: number | null;
  /** Only these companies; null: all. @default null */
  readonly only?: readonly string[] | null;
}

/** Nodes beat at least every 10 s. */
const lostAfterMs = 60_000;
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
  const server = await readServerView(postgres);
  const { nowMs } = server;
  const views = await readCompanyViews(postgres);
  const scheduledMs = scheduledFreshness(nowMs);
  const judged = (view: CompanyView) =>
    judgeCompany(view, { nowMs, freshForMs: maxAgeMs ?? scheduledMs(view) });
  const shown = only === null ? views : views.filter(({ company }) => only.includes(company));
  const nodes = (await new NodesTable(postgres).list()).map((row) => nodeStatus(row, nowMs));
  const span = (await new ReceivingTable(postgres).spansSince(nowMs - dayMs)).at(-1) ?? null;
  const waiting = await readWaitingJobs(postgres);
  const restored = restoredDatabase(server, views);
  const removed = await readRemovedCompanies(postgres);
  const [next] = removed;
  return {
    at: isoTime(nowMs),
    problems: fleetProblems({ views, nodes, span, waiting, nowMs, restored }),
    companies: Object.fromEntries(shown.map((view) => [view.company, judged(view)])),
    nodes,
    receiving: span && { since: isoTime(span.startedMs), seen_at: isoTime(span.seenMs) },
    jobs: Object.fromEntries(
      waiting.map(({ kind, count, oldestMs }) => [kind, { waiting: count, oldest_ms: Math.round(oldestMs) }]),
    ),
    postgres: numbersOf(server),
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
  if (all.some(({ severity }) => severity === "difference")) return "difference";
  return all.length > 0 ? "partial" : "complete";
}

/** For how long what the runs of each company read is current by their schedules; null: for ever. */
function scheduledFreshness(nowMs: number) {
  // A hundred thousand companies have a few schedules.
  const known = new Map<string, number>();
  return ({ schedule, timezone }: CompanyView): number | null => {
    if (schedule === null || timezone === null) return null;
    const key = `${schedule} ${timezone}`;
    const freshMs = known.get(key) ?? freshForMs(parseCronSchedule(schedule, timezone), nowMs);
    known.set(key, freshMs);
    return freshMs;
  };
}

function nodeStatus({ startedAtMs, seenAtMs, ...row }: NodeRow, nowMs: number): FleetNodeStatus {
  const lost = nowMs - seenAtMs > lostAfterMs;
  return { ...row, started_at: isoTime(startedAtMs), seen_at: isoTime(seenAtMs), lost };
}

function restoredDatabase(
  { restoredMs, setBackToMs }: ServerView,
  views: readonly CompanyView[],
): RestoredDatabase | null {
  if (restoredMs === null) return null;
  const isLeft = ({ summary }: CompanyView) =>
    !(Date.parse((summary as SnapshotSummary | null)?.whole_at ?? "") > restoredMs);
  const set_back_to = setBackToMs === null ? null : isoTime(setBackToMs);
  return { at: isoTime(restoredMs), set_back_to, companies_left: views.filter(isLeft).length };
}

interface FleetFacts {
  readonly views: readonly CompanyView[];
  readonly nodes: readonly FleetNodeStatus[];
  readonly span: Span | null;
  readonly waiting: readonly WaitingJobs[];
  readonly nowMs: number;
  readonly restored: RestoredDatabase | null;
}

function fleetProblems({ views, nodes, span, waiting, nowMs, restored }: FleetFacts): FleetProblem[] {
  const problems: FleetProblem[] = [];
  const add = (kind: FleetProblem["kind"], message: string) =>
    problems.push({ kind, severity: "difference", message });
  const isThere = (other: string) => nodes.some(({ role, lost }) => role !== other && !lost);
  if (views.length > 0 && !isThere("receive")) add("no_worker", "no worker runs");
  if (span && nowMs - span.seenMs > lostAfterMs)
    add("no_receiver", `no receiver has answered deliveries for ${formatDuration(nowMs - span.seenMs)}`);
  else if (!span && !isThere("work") && views.some(({ receives }) => receives))
    add("no_receiver", "no receiver runs: nobody answers deliveries");
  if (restored && restored.companies_left > 0) add("restored", restoredText(restored));
  const oldestMs = Math.max(0, ...waiting.map((one) => one.oldestMs));
  if (oldestMs > placeWithinMs)
    add("jobs_wait", `jobs wait for a free place for ${formatDuration(oldestMs)}: run more workers`);
  return problems;
}

function restoredText({ set_back_to, companies_left }: RestoredDatabase): string {
  const from = set_back_to === null ? "" : ` of ${set_back_to}`;
  const left = `${companies_left === 1 ? "a company was" : `${companies_left} companies were`} not read whole since`;
  return `Postgres was restored from a backup${from}, or replaced: ${left}; run \`fleet add\` and \`fleet remove\` again for what they changed meanwhile`;
}

function numbersOf(server: ServerView): PostgresNumbers {
  return {
    version: server.version,
    database_bytes: server.databaseBytes,
    inbox_bytes: server.inboxBytes,
    changes_bytes: server.changesBytes,
    jobs_bytes: server.jobsBytes,
    connections: server.connections,
    max_connections: server.maxConnections,
    oldest_transaction_ms: server.oldestTransactionMs,
  };
}
