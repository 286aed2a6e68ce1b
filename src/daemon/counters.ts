import type { HttpStats } from "../http/stats.ts";
import type { CompanyStatusView } from "../status/company-status.ts";
import type { ResourceCounts, Tally } from "../sync/context/tally.ts";

const ops = [
  "inserted",
  "updated",
  "deleted",
  "unchanged",
] as const satisfies readonly (keyof ResourceCounts)[];

/** Counts of a run or a worker that is still counting. */
export interface Counting {
  readonly tally: Tally;
  readonly stats: HttpStats;
}

type EndedRun = NonNullable<CompanyStatusView["lastRun"]>;
type Totals = Pick<CompanyStatusView, "rows" | "requests" | "waitedMs">;

/**
 * What a company has counted since the start of the daemon, over all its runtimes. The totals only grow: what a run
 * counted is added in the moment it stops counting itself.
 */
export class CompanyCounters {
  readonly runs: Record<string, number> = {};
  readonly deliveries: Record<string, number> = {};
  /** The last run of this process; null: none yet. */
  lastRun: EndedRun | null = null;
  private totals: Totals = { rows: [], requests: {}, waitedMs: 0 };

  countDelivery(result: string): void {
    this.deliveries[result] = (this.deliveries[result] ?? 0) + 1;
  }

  countRun(run: EndedRun): void {
    this.lastRun = run;
    this.runs[run.outcome] = (this.runs[run.outcome] ?? 0) + 1;
  }

  /** Adds what a run or worker counted that has ended. */
  add(tally: Tally, stats: HttpStats): void {
    this.totals = sum(this.totals, [{ tally, stats }]);
  }

  /** The totals, with those that are still counting. */
  with(counting: readonly Counting[]): Totals {
    return sum(this.totals, counting);
  }
}

function sum(totals: Totals, counting: readonly Counting[]): Totals {
  const rows = new Map(totals.rows.map((row) => [`${row.resource} ${row.op}`, row]));
  const requests: Record<string, number> = { ...totals.requests };
  let { waitedMs } = totals;
  for (const { tally, stats } of counting) {
    for (const { resource, op, count } of rowsOf(tally)) {
      const key = `${resource} ${op}`;
      rows.set(key, { resource, op, count: count + (rows.get(key)?.count ?? 0) });
    }
    for (const [status, count] of statusesOf(stats)) requests[status] = (requests[status] ?? 0) + count;
    waitedMs += stats.waitedMs;
  }
  return { rows: [...rows.values()], requests, waitedMs };
}

function rowsOf({ resources }: Tally) {
  return [...resources].flatMap(([resource, counts]) =>
    ops.filter((op) => counts[op] > 0).map((op) => ({ resource, op, count: counts[op] })),
  );
}

function statusesOf({ byStatus, unanswered }: HttpStats): (readonly [string, number])[] {
  const none = unanswered > 0 ? [["none", unanswered] as const] : [];
  return [...Object.entries(byStatus), ...none];
}
