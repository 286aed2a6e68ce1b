import type { WorkItem } from "../../state/work-item.ts";

/** So many records refused in a row, without a 200 of another one in between, hold the resource's records. */
export const mostRefusedInARow = 5;

/** Why a record is not asked for that its list shows after that. */
export const refusedInARow = "reads of other records were refused in a row";

/** One run asks an item that was set aside this many times, whatever queues it again. */
const mostTimesSetAside = 3;

/** What one run knows of the work items that it set aside. In memory: the next run tries each of them again. */
export class SetAsideItems {
  /** By resource: the targets refused since its last 200. */
  private readonly inARow = new Map<string, Set<string>>();
  private readonly items = new Map<string, { readonly times: number; readonly reason: string }>();

  add(item: WorkItem, reason: string): void {
    const key = keyOf(item);
    this.items.set(key, { times: (this.items.get(key)?.times ?? 0) + 1, reason });
  }

  /** Returns how many records of the resource were refused in a row, this one included. */
  refused({ resource, target }: WorkItem): number {
    const inARow = (this.inARow.get(resource) ?? new Set()).add(target);
    this.inARow.set(resource, inARow);
    return inARow.size;
  }

  /** A record of the resource was answered with 200, or its refusals are explained. */
  answered(resource: string): void {
    this.inARow.delete(resource);
  }

  /** Are records of the resource refused, so that asking for others makes no sense? */
  isRefused(resource: string): boolean {
    return (this.inARow.get(resource)?.size ?? 0) >= mostRefusedInARow;
  }

  /** Why the item is not asked again in this run; null: it may be asked. */
  spentReason(item: WorkItem): string | null {
    const known = this.items.get(keyOf(item));
    return known && known.times >= mostTimesSetAside ? known.reason : null;
  }
}

function keyOf({ resource, target }: WorkItem): string {
  return `${resource} ${target}`;
}
