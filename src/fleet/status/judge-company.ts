import { elapsedSince } from "../../base/clock.ts";
import { formatDuration } from "../../base/units.ts";
import { isPartial, type NamedCondition } from "../../status/conditions.ts";
import type { CompanyView } from "../postgres/tables/fleet-view.ts";
import { suspectLosses } from "../postgres/tables/losses.ts";

/**
 * What is wrong with a company, or with the fleet. `difference`: somebody has to look, data are old or nobody works on
 * them. `partial`: something is not whole. `notice`: of it the exit code says nothing.
 */
export interface FleetProblem {
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

export type FleetCompanyStatus = ReturnType<typeof judgeCompany>;

/** Another node takes over within 30 s, and deliveries are drained within seconds. */
const takeoverMs = 60_000;
/** Snapshots are published every few minutes while something changes. */
const publishedWithinMs = 15 * 60_000;
/** The first run of a new company may last. */
const firstRunMs = 3_600_000;

/**
 * A company's row as status, with what is wrong. Pure.
 *
 * @param freshForMs for how long what a run read is current; null: for ever
 */
export function judgeCompany(view: CompanyView, nowMs: number, freshForMs: number | null) {
  const { company, judged, ...shown } = view;
  const problems = [
    ...lossProblems(company, view, nowMs),
    ...deliveryProblems(view, nowMs),
    ...ageProblems(view, nowMs, freshForMs),
    ...failureProblems(view, nowMs),
    ...(judged.conditions ?? []).map((one): FleetProblem => {
      return { kind: one.kind, severity: isPartial(one) ? "partial" : "notice", message: one.message };
    }),
  ];
  return { ...shown, problems };
}

/** What is wrong, and somebody has to look. */
export function difference(kind: FleetProblem["kind"], message: string): FleetProblem {
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

function ageProblems({ whole_at: wholeAt, judged }: CompanyView, nowMs: number, freshForMs: number | null) {
  if (wholeAt === null) {
    const addedMs = sinceMs(judged.added_at, nowMs);
    if (addedMs <= Math.min(firstRunMs, freshForMs ?? firstRunMs)) return [];
    return [difference("never_read", `never read whole, ${formatDuration(addedMs)} after it was added`)];
  }
  const ageMs = elapsedSince(Date.parse(wholeAt), nowMs);
  if (freshForMs === null || ageMs <= freshForMs) return [];
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
