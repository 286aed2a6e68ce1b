import type { Outage } from "../../retry/retry-policies.ts";
import type { ApplyResult } from "../../store/apply/read-stamp.ts";
import type { WorkKind } from "../../base/lane.ts";

/** Of single records: a report names no more; `status` shows what was set aside. */
const mostTroubles = 100;
const noRecords = {
  listed: 0,
  inserted: 0,
  updated: 0,
  /** Provisional rows that got their record. They were counted as inserted when their preview came. */
  hydrated: 0,
  deleted: 0,
  unchanged: 0,
  failed: 0,
  pending: 0,
  /** Rows without their record at the end of the run. */
  provisional: 0,
};
const unsent = { total: 0, list: 0, detail: 0, child: 0, confirm: 0, file: 0, retried: 0, rate_limited: 0 };

export type ResourceCounts = typeof noRecords;

export type RequestCounts = typeof unsent;

/** Why a resource is not complete after this run. Each is shown; none stops other resources. */
export interface Trouble {
  readonly resource: string;
  readonly kind: "failed" | "forbidden" | "held" | "unsettled" | "quarantined" | "dead";
  /** The record that is in quarantine, or whose read was set aside; null: it has no id, or it is a page of a list. */
  readonly id?: string | null;
  readonly message: string;
  readonly hint?: string;
  readonly requestId?: string | null;
}

/** The counts of one run while it works. */
export class Tally {
  outage: Outage | null = null;
  readonly requests: RequestCounts = { ...unsent };
  readonly resources = new Map<string, ResourceCounts>();
  /** Resources of which a list was read whole. */
  readonly swept = new Set<string>();
  /** How many reads the scrub chose; null: everything listed is not in yet. For progress. */
  scrubPlanned: number | null = null;
  /** How many records each list has, as the service says; for progress. */
  readonly totals = new Map<string, number>();
  private readonly troubles = new Map<string, Trouble>();

  of(resource: string): ResourceCounts {
    const counts = this.resources.get(resource) ?? { ...noRecords };
    this.resources.set(resource, counts);
    return counts;
  }

  /** Counts one applied record. `stale` counts as nothing: the record is read again. */
  count(resource: string, result: ApplyResult): void {
    const counts = this.of(resource);
    if (result === "quarantined") counts.failed += 1;
    else if (result !== "stale") counts[result] += 1;
  }

  sent(kind: WorkKind): void {
    this.requests[kind] += 1;
    this.requests.total += 1;
  }

  /** Keeps one trouble per resource, kind and record; the latest message stays. Past 100, new records are not kept. */
  trouble(trouble: Trouble): void {
    const key = `${trouble.resource}:${trouble.kind}:${trouble.id ?? ""}`;
    if (trouble.id === undefined || this.troubles.has(key) || this.troubles.size < mostTroubles)
      this.troubles.set(key, trouble);
  }

  allTroubles(): Trouble[] {
    return [...this.troubles.values()];
  }

  /** Returns a function that takes back what is counted from now on, for a transaction that rolls back. */
  snapshot(): () => void {
    const copies = [...this.resources].map(([name, counts]) => [name, { ...counts }] as const);
    return () => {
      this.resources.clear();
      for (const [name, counts] of copies) this.resources.set(name, counts);
    };
  }
}
