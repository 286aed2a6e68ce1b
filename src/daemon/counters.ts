import type { HttpStats } from "../http/stats.ts";
import type { CompanyStatusView } from "../status/company-status.ts";
import type { ResourceCounts, Tally } from "../sync/context/tally.ts";

const ops = [
  "inserted",
  "updated",
  "deleted",
  "unchanged",
] as const satisfies readonly (keyof ResourceCounts)[];

/** What was counted since the start, by whoever is gone; monotonic together with those still counting. */
export class Totals {
  private readonly rows = new Map<string, { resource: string; op: string; count: number }>();
  private readonly requests = new Map<string, number>();
  private waitedMs = 0;

  add(tally: Tally, stats: HttpStats): void {
    for (const row of rowsOf(tally)) this.addRow(row);
    for (const [status, count] of statusesOf(stats))
      this.requests.set(status, (this.requests.get(status) ?? 0) + count);
    this.waitedMs += stats.waitedMs;
  }

  /** With those that still count. */
  with(counting: readonly { readonly tally: Tally; readonly stats: HttpStats }[]): Sums {
    const sums = new Totals();
    for (const row of this.rows.values()) sums.addRow(row);
    for (const [status, count] of this.requests) sums.requests.set(status, count);
    sums.waitedMs = this.waitedMs;
    for (const { tally, stats } of counting) sums.add(tally, stats);
    return {
      rows: [...sums.rows.values()],
      requests: Object.fromEntries(sums.requests),
      waitedMs: sums.waitedMs,
    };
  }

  private addRow({ resource, op, count }: { resource: string; op: string; count: number }): void {
    const key = `${resource} ${op}`;
    const before = this.rows.get(key)?.count ?? 0;
    this.rows.set(key, { resource, op, count: before + count });
  }
}

type Sums = Pick<CompanyStatusView, "rows" | "requests" | "waitedMs">;

function rowsOf({ resources }: Tally) {
  return [...resources].flatMap(([resource, counts]) =>
    ops.filter((op) => counts[op] > 0).map((op) => ({ resource, op, count: counts[op] })),
  );
}

function statusesOf({ byStatus, unanswered }: HttpStats): (readonly [string, number])[] {
  const none = unanswered > 0 ? [["none", unanswered] as const] : [];
  return [...Object.entries(byStatus), ...none];
}
