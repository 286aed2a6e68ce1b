export interface GroupOptions<T, R> {
  /** All or nothing; what it gives belongs to the items in their order. */
  readonly commit: (items: readonly T[]) => readonly R[];
  /** More than these wait nowhere: whoever comes then is told to come again. */
  readonly mostItems: number;
  readonly mostBytes: number;
  /** Would the same again fail for everybody? Else each item is tried alone, so that one cannot spoil the rest. */
  readonly isGeneral: (error: unknown) => boolean;
  /** Monotonic. */
  readonly nowMs: () => number;
}

export type Settled<R> = (result: R | null, error?: unknown) => void;

interface Waiting<T, R> {
  readonly item: T;
  readonly sizeBytes: number;
  readonly settled: Settled<R>;
}

const mostAtOnce = 512;
const longestWaitMs = 2;

/**
 * Group commit: waiting for the disk costs the same for one item as for a hundred.
 *
 * Guarantee: `settled` is called once for each item taken, with a result only after the commit that holds it.
 * Whatever is parsed in one turn of the event loop is committed at the end of that turn, so an item alone waits
 * for nobody. Right after a commit others may be just behind (a turn accepts a single connection): then a group
 * waits as long as every turn brings more, and never longer than that commit took. Worst outcome of a crash: items
 * that were not committed were not answered either, and come again.
 */
export class GroupCommit<T, R> {
  private readonly options: GroupOptions<T, R>;
  private waiting: Waiting<T, R>[] = [];
  private waitingBytes = 0;
  private waitUntilMs = 0;
  /** The last commit: when it was done, and how long it took, as far as that counts. */
  private endedMs = Number.NEGATIVE_INFINITY;
  private tookMs = 0;

  constructor(options: GroupOptions<T, R>) {
    this.options = options;
  }

  /** False: no room; nothing was taken and `settled` is never called. */
  add(item: T, sizeBytes: number, settled: Settled<R>): boolean {
    const { mostItems, mostBytes } = this.options;
    if (this.waiting.length >= mostItems || this.waitingBytes + sizeBytes > mostBytes) return false;
    this.waiting.push({ item, sizeBytes, settled });
    this.waitingBytes += sizeBytes;
    if (this.waiting.length === 1) this.begin();
    return true;
  }

  private begin(): void {
    const nowMs = this.options.nowMs();
    this.waitUntilMs = nowMs - this.endedMs < this.tookMs ? nowMs + this.tookMs : nowMs;
    // What is left of the turn it came in is no whole turn: under load there is always one more.
    this.schedule(0);
  }

  /** The check phase comes right after the poll phase, which read the requests. */
  private schedule(before: number): void {
    setImmediate(() => this.turn(before));
  }

  private turn(before: number): void {
    const { length } = this.waiting;
    if (length > before && length < mostAtOnce && this.options.nowMs() < this.waitUntilMs)
      this.schedule(length);
    else this.commit();
  }

  private commit(): void {
    const startedMs = this.options.nowMs();
    const group = this.waiting.splice(0, mostAtOnce);
    for (const { sizeBytes } of group) this.waitingBytes -= sizeBytes;
    this.settle(group);
    this.endedMs = this.options.nowMs();
    this.tookMs = Math.min(this.endedMs - startedMs, longestWaitMs);
    if (this.waiting.length > 0) this.begin();
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
