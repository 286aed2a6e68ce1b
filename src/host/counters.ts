import type { HttpTransport } from "../http/http-transport.ts";
import type { CompanyStatusView } from "../status/company-view.ts";
import type { Tally } from "../sync/context/tally.ts";
import type { RunEnd } from "../runs/run-queue.ts";

const ops = ["inserted", "updated", "hydrated", "deleted", "unchanged"] as const;

interface Counting {
  readonly tally: Tally;
  readonly transport: Pick<HttpTransport, "stats">;
}

type Totals = Pick<CompanyStatusView, "rows" | "requests" | "waitedMs">;

/**
 * What a company has counted since the start of the daemon, over all its runtimes. The totals only grow: what a run
 * counted is added in the moment it stops counting itself.
 */
export class CompanyCounters {
  readonly runs: Record<string, number> = {};
  readonly deliveries = new Map<string, number>();
  lastRun: RunEnd | null = null;
  private lastWholeRun: RunEnd | null = null;
  /** What went wrong after the last run, where it is recorded nowhere; undefined: nothing was made yet. */
  afterRunProblem: string | null | undefined;
  private totals: Totals = { rows: [], requests: {}, waitedMs: 0 };

  /** The one to show: a quick run that ended well proves nothing, and hides no failure of a whole one. Null: as the mirror says. */
  get shownRun(): RunEnd | null {
    const isWell = ["complete", "partial"].includes(this.lastRun?.outcome ?? "");
    return isWell ? this.lastWholeRun : this.lastRun;
  }

  countDelivery(result: string): void {
    this.deliveries.set(result, (this.deliveries.get(result) ?? 0) + 1);
  }

  countRun(run: Counting, ended: RunEnd, isQuick: boolean): void {
    this.add(run);
    this.lastRun = ended;
    if (!isQuick) this.lastWholeRun = ended;
    this.runs[ended.outcome] = (this.runs[ended.outcome] ?? 0) + 1;
  }

  add(ended: Counting): void {
    this.totals = sum(this.totals, [ended]);
  }

  with(counting: readonly Counting[]): Totals {
    return sum(this.totals, counting);
  }
}

function sum(totals: Totals, counting: readonly Counting[]): Totals {
  const rows = new Map(totals.rows.map((row) => [`${row.resource} ${row.op}`, row]));
  const requests: Record<string, number> = { ...totals.requests };
  const addRequests = (status: string, count: number) => {
    if (count > 0) requests[status] = (requests[status] ?? 0) + count;
  };
  let { waitedMs } = totals;
  for (const { tally, transport } of counting) {
    const stats = transport.stats();
    for (const [resource, counts] of tally.resources)
      for (const op of ops) {
        const key = `${resource} ${op}`;
        const count = counts[op] + (rows.get(key)?.count ?? 0);
        if (count > 0) rows.set(key, { resource, op, count });
      }
    for (const [status, count] of stats.byStatus) addRequests(String(status), count);
    addRequests("none", stats.unanswered);
    waitedMs += stats.waitedMs;
  }
  return { rows: [...rows.values()], requests, waitedMs };
}
