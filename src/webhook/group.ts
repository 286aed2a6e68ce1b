export interface GroupOptions<T, R> {
  /** All or nothing; what it gives belongs to the items in their order. */
  readonly commit: (items: readonly T[]) => readonly R[];
  /** More than these wait nowhere: whoever comes then is told to come again. */
  readonly mostItems: number;
  readonly mostBytes: number;
  /** Would the same again fail for everybody? Else each item is tried alone, so that one cannot spoil the rest. */
  readonly isGeneral: (error: unknown) => boolean;
}

export type Settled<R> = (result: R | null, error?: unknown) => void;

interface Waiting<T, R> {
  readonly item: T;
  readonly sizeBytes: number;
  readonly settled: Settled<R>;
}

const mostAtOnce = 512;

/**
 * Group commit: waiting for the disk costs the same for one item as for a hundred.
 *
 * Guarantee: `settled` is called once for each item taken, with a result only after the commit that holds it.
 * Whatever is parsed in one turn of the event loop is committed at the end of that turn, so an item alone waits
 * for nobody, and under load the next group is what arrived while the disk was busy. Worst outcome of a crash:
 * items that were not committed were not answered either, and come again.
 */
export class Group<T, R> {
  private readonly options: GroupOptions<T, R>;
  private waiting: Waiting<T, R>[] = [];
  private waitingBytes = 0;

  constructor(options: GroupOptions<T, R>) {
    this.options = options;
  }

  /** False: no room; nothing was taken and `settled` is never called. */
  add(item: T, sizeBytes: number, settled: Settled<R>): boolean {
    const { mostItems, mostBytes } = this.options;
    if (this.waiting.length >= mostItems || this.waitingBytes + sizeBytes > mostBytes) return false;
    if (this.waiting.length === 0) this.schedule();
    this.waiting.push({ item, sizeBytes, settled });
    this.waitingBytes += sizeBytes;
    return true;
  }

  /** The check phase comes right after the poll phase, which read the requests. */
  private schedule(): void {
    setImmediate(() => this.commit());
  }

  private commit(): void {
    const group = this.waiting.splice(0, mostAtOnce);
    for (const { sizeBytes } of group) this.waitingBytes -= sizeBytes;
    if (this.waiting.length > 0) this.schedule();
    this.settle(group);
  }

  private settle(group: readonly Waiting<T, R>[]): void {
    let results: readonly R[];
    try {
      results = this.options.commit(group.map(({ item }) => item));
    } catch (error) {
      const alone = group.length === 1 || this.options.isGeneral(error);
      for (const one of group) {
        if (alone) one.settled(null, error);
        else this.settle([one]);
      }
      return;
    }
    for (const [i, { settled }] of group.entries()) settled(results[i] ?? null);
  }
}
