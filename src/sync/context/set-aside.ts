import type { WorkItem } from "../../state/work-item.ts";

/** So many records set aside in a row, without a 200 of their resource in between, hold the resource. */
export const mostSetAsideInARow = 5;

/** One run asks an item that was set aside this many times, whatever queues it again. */
const mostTimesSetAside = 3;

/** What one run knows of the work items that it set aside. In memory: the next run tries each of them again. */
export class SetAsideItems {
  private readonly inARow = new Map<string, number>();
  private readonly items = new Map<string, { readonly times: number; readonly reason: string }>();

  /** Returns how many of the resource were set aside in a row, this one included. */
  add(item: WorkItem, reason: string): number {
    const key = keyOf(item);
    this.items.set(key, { times: (this.items.get(key)?.times ?? 0) + 1, reason });
    const inARow = (this.inARow.get(item.resource) ?? 0) + 1;
    this.inARow.set(item.resource, inARow);
    return inARow;
  }

  /** The resource answered 200. */
  answered(resource: string): void {
    this.inARow.delete(resource);
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
