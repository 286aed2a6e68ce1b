import type { ApplyResult } from "../../store/apply/read-stamp.ts";
import type { WorkKind } from "../../state/work-item.ts";

/** What one run did to one resource. */
export interface ResourceCounts {
  listed: number;
  inserted: number;
  updated: number;
  deleted: number;
  unchanged: number;
  failed: number;
  pending: number;
}

export interface RequestCounts {
  total: number;
  list: number;
  detail: number;
  child: number;
  confirm: number;
  file: number;
  retried: number;
  rate_limited: number;
}

/** A reason why a resource is not whole after this run; every one of them is shown, none is fatal to others. */
export interface Trouble {
  readonly resource: string;
  readonly kind: "failed" | "forbidden" | "held" | "unsettled" | "quarantined" | "dead";
  readonly message: string;
  readonly hint?: string;
  readonly requestId?: string | null;
}

/** The numbers of one run, as they grow. */
export class Tally {
  readonly requests: RequestCounts = {
    total: 0,
    list: 0,
    detail: 0,
    child: 0,
    confirm: 0,
    file: 0,
    retried: 0,
    rate_limited: 0,
  };
  readonly resources = new Map<string, ResourceCounts>();
  /** When each resource's list was last read whole, ISO. */
  readonly swept = new Map<string, string>();
  /** How many records each list says it has, for progress. */
  readonly totals = new Map<string, number>();
  private readonly troubles = new Map<string, Trouble>();

  /** Resources are told in this order, whichever answers first. */
  begin(resources: Iterable<string>): void {
    for (const resource of resources) this.of(resource);
  }

  of(resource: string): ResourceCounts {
    let counts = this.resources.get(resource);
    if (!counts) {
      counts = { listed: 0, inserted: 0, updated: 0, deleted: 0, unchanged: 0, failed: 0, pending: 0 };
      this.resources.set(resource, counts);
    }
    return counts;
  }

  fate(resource: string, fate: ApplyResult): void {
    const counts = this.of(resource);
    if (fate === "quarantined") counts.failed += 1;
    else if (fate !== "stale") counts[fate] += 1;
  }

  sent(kind: WorkKind): void {
    this.requests[kind] += 1;
    this.requests.total += 1;
  }

  /** One trouble of a kind for each resource; the latest words stand. */
  trouble(trouble: Trouble): void {
    this.troubles.set(`${trouble.resource}:${trouble.kind}`, trouble);
  }

  allTroubles(): Trouble[] {
    return [...this.troubles.values()];
  }

  /** What was counted inside a transaction that rolled back is taken back. */
  snapshot(): () => void {
    const copies = [...this.resources].map(([name, counts]) => [name, { ...counts }] as const);
    return () => {
      this.resources.clear();
      for (const [name, counts] of copies) this.resources.set(name, counts);
    };
  }
}
