import { elapsedSince, isoTime } from "../../base/clock.ts";
import { formatDuration } from "../../base/units.ts";
import type { CompanyView } from "../postgres/tables/fleet-view.ts";
import { suspectLosses } from "../postgres/tables/losses.ts";
import type { SnapshotSummary } from "../snapshot/snapshot-summary.ts";

/**
 * What is wrong with a company, or with the fleet. `difference`: somebody has to look, data are old or nobody works on
 * them. `partial`: something is not whole.
 */
export interface FleetProblem {
  readonly kind:
    | "owner_ended"
    | "nodes_died"
    | "deliveries_unattended"
    | "deliveries_late"
    | "stale"
    | "never_read"
    | "job_failed"
    | "run_not_whole"
    | "reads_set_aside"
    | "quarantined"
    | "no_worker"
    | "restored"
    | "no_receiver"
    | "jobs_wait";
  readonly severity: "difference" | "partial";
  readonly message: string;
}

/** One company as `fleet status --json` prints it. Times are ISO. */
export interface FleetCompanyStatus {
  /** Who owns it, or did when the ownership ended without a release; null: nobody. */
  readonly node: string | null;
  /** Null: it never had an owner. */
  readonly epoch: number | null;
  /** When the ownership ends, or ended, unless it is renewed. */
  readonly expires_at: string | null;
  readonly held: boolean;
  /** Deliveries that are not in the published snapshot. */
  readonly waiting_deliveries: number;
  readonly waiting_since: string | null;
  readonly snapshot_at: string | null;
  readonly snapshot_bytes: number | null;
  /** The last change in it. */
  readonly seq: number | null;
  /** When the last run began that read everything listed. */
  readonly whole_at: string | null;
  readonly last_run: { readonly outcome: string; readonly finished_at: string } | null;
  readonly report_at: string | null;
  /** Reads that were to be made when the snapshot was. */
  readonly reads_waiting: number;
  /** Requests in the day before the snapshot. */
  readonly day_requests: number;
  readonly problems: readonly FleetProblem[];
}

/** What judging a company needs besides its row. */
export interface CompanySurroundings {
  readonly nowMs: number;
  /** For how long what a run read is current; null: for ever. */
  readonly freshForMs: number | null;
}

/** Another node takes over within 30 s, and deliveries are drained within seconds. */
const takeoverMs = 60_000;
/** Snapshots are published every few minutes while something changes. */
const publishedWithinMs = 15 * 60_000;
/** The first run of a new company may last. */
const firstRunMs = 3_600_000;

/** A company's row as status, with what is wrong. Pure. */
export function judgeCompany(view: CompanyView, around: CompanySurroundings): FleetCompanyStatus {
  const { nowMs } = around;
  const summary = view.summary as SnapshotSummary | null;
  const held = view.node !== null && view.expiresAtMs !== null && view.expiresAtMs > nowMs;
  return {
    node: view.node,
    epoch: view.epoch,
    expires_at: view.node === null ? null : timeOf(view.expiresAtMs),
    held,
    waiting_deliveries: view.waiting,
    waiting_since: timeOf(view.waitingSinceMs),
    snapshot_at: timeOf(view.snapshotAtMs),
    snapshot_bytes: view.snapshotBytes,
    seq: view.seq,
    whole_at: summary?.whole_at ?? null,
    last_run: lastRunOf(view, summary),
    report_at: timeOf(view.reportAtMs),
    reads_waiting: summary?.reads_waiting ?? 0,
    day_requests: summary?.day_requests ?? 0,
    problems: [
      ...ownerProblems(view, held, nowMs),
      ...ageProblems(view, summary, around),
      ...(held ? [] : failureProblems(view, nowMs)),
      ...wholeProblems(view, summary),
    ],
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}

type LastRun = FleetCompanyStatus["last_run"];

function lastRunOf({ lastRun }: CompanyView, summary: SnapshotSummary | null): LastRun {
  const run = lastRun as LastRun;
  return summary && run ? { outcome: run.outcome, finished_at: run.finished_at } : null;
}

function difference(kind: FleetProblem["kind"], message: string): FleetProblem {
  return { kind, severity: "difference", message };
}

function partial(kind: FleetProblem["kind"], message: string): FleetProblem {
  return { kind, severity: "partial", message };
}

function ownerProblems(view: CompanyView, held: boolean, nowMs: number): FleetProblem[] {
  const { node, expiresAtMs, waiting, waitingSinceMs } = view;
  const problems = lossProblems(view, held, nowMs);
  const endedMs = node === null || expiresAtMs === null ? 0 : nowMs - expiresAtMs;
  if (endedMs > takeoverMs && problems.length === 0)
    problems.push(
      difference("owner_ended", `${node} was lost ${formatDuration(endedMs)} ago, and no node took over`),
    );
  const waitedMs = waitingSinceMs === null ? 0 : nowMs - waitingSinceMs;
  const deliveries = `${waiting === 1 ? "a delivery waits" : `${waiting} deliveries wait`} for ${formatDuration(waitedMs)}`;
  if (!held && waitedMs > takeoverMs)
    problems.push(difference("deliveries_unattended", `${deliveries}, and no node has the company`));
  if (held && waitedMs > publishedWithinMs)
    problems.push(difference("deliveries_late", `${deliveries} for a snapshot by ${node}`));
  return problems;
}

/** A company that was held by each of several nodes that died may be what they died of. */
function lossProblems(view: CompanyView, held: boolean, nowMs: number): FleetProblem[] {
  const { node, losses, claimableAtMs } = view;
  const count = (losses ?? 0) + (node !== null && !held ? 1 : 0);
  if (count < suspectLosses) return [];
  const waitMs = held ? 0 : (claimableAtMs ?? 0) - nowMs;
  const now = waitMs > 0 ? `nobody takes it for ${formatDuration(waitMs)}` : `it is taken again`;
  const hint = `look at how ${node ?? "they"} ended, and at its memory; then \`fleet add ${view.company}\` has it taken at once`;
  return [difference("nodes_died", `the last ${count} nodes that held it died, and ${now}: ${hint}`)];
}

function ageProblems(
  { addedAtMs }: CompanyView,
  summary: SnapshotSummary | null,
  { nowMs, freshForMs }: CompanySurroundings,
): FleetProblem[] {
  const wholeAt = summary?.whole_at ?? null;
  if (wholeAt === null) {
    if (nowMs - addedAtMs <= Math.min(firstRunMs, freshForMs ?? firstRunMs)) return [];
    return [
      difference("never_read", `never read whole, ${formatDuration(nowMs - addedAtMs)} after it was added`),
    ];
  }
  const ageMs = elapsedSince(Date.parse(wholeAt), nowMs);
  if (freshForMs === null || ageMs <= freshForMs) return [];
  const age = ageMs === Infinity ? `at ${wholeAt}, by a clock that is ahead` : `${formatDuration(ageMs)} ago`;
  return [difference("stale", `last read whole ${age}`)];
}

/** A snapshot that was made since shows that the company is worked on again. */
function failureProblems(view: CompanyView, nowMs: number): FleetProblem[] {
  const { failure, failedAtMs, claimableAtMs, snapshotAtMs } = view;
  if (failure === null || (snapshotAtMs ?? 0) > (failedAtMs ?? 0)) return [];
  const again = formatDuration(Math.max(0, (claimableAtMs ?? 0) - nowMs));
  return [difference("job_failed", `no worker can hold it: ${failure} (tried again in ${again})`)];
}

function wholeProblems(view: CompanyView, summary: SnapshotSummary | null): FleetProblem[] {
  if (!summary) return [];
  const problems: FleetProblem[] = [];
  const outcome = typeof view.failedStart === "string" ? view.failedStart : lastRunOf(view, summary)?.outcome;
  if (outcome !== undefined && outcome !== "complete") {
    const why = summary.problem ?? `${summary.troubles} ${summary.troubles === 1 ? "trouble" : "troubles"}`;
    problems.push(partial("run_not_whole", `the last run was ${outcome}: ${why}`));
  }
  if (summary.set_aside > 0)
    problems.push(partial("reads_set_aside", `reads set aside until the next run: ${summary.set_aside}`));
  if (summary.quarantined > 0)
    problems.push(partial("quarantined", `records in quarantine: ${summary.quarantined}`));
  return problems;
}
