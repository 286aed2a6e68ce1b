interface GroupOptions<T, R> {
  /**
   * Commits all items or none; gives one result for each, in their order. A promise of them is waited for, and what
   * comes meanwhile waits for the next commit.
   */
  readonly commit: (items: readonly T[]) => readonly R[] | Promise<readonly R[]>;
  /** Limits of what waits or is being committed; more is not taken. */
  readonly maxItems: number;
  readonly maxBytes: number;
  /** Would the same error meet every item? Otherwise each is tried alone, so that one cannot spoil the rest. */
  readonly failsForAll: (error: unknown) => boolean;
  readonly nowMs: () => number;
}

/** Called once for each item, with the result of its commit or with null and the error. */
type Committed<R> = (result: R | null, error?: unknown) => void;

interface WaitingItem<T, R> {
  readonly item: T;
  readonly sizeBytes: number;
  readonly committed: Committed<R>;
}

const maxPerCommit = 512;
const maxWaitMs = 2;

/**
 * Group commit: items that arrive together share one transaction, because waiting for the disk takes as long for
 * one as for a hundred.
 *
 * What is parsed in one turn of the event loop is committed at the end of that turn, so an item alone waits for
 * nobody. Right after a commit more may be close behind: those who were answered send their next ones, and a turn accepts
 * a single new connection. Then the group waits until it has as many as that commit, and on as long as every turn adds
 * items, and never longer than that commit took, or than the millisecond that is a timer's least.
 *
 * Guarantee: `committed` is called once for each item taken, with a result only after the commit that holds it.
 * Source of truth: what `commit` wrote; waiting items are in memory only.
 * Worst outcome of a crash: items not yet committed were not answered either, and are sent again.
 */
export class GroupCommit<T, R> {
  private readonly options: GroupOptions<T, R>;
  private waiting: WaitingItem<T, R>[] = [];
  private committingItems = 0;
  private heldBytes = 0;
  /** Runs while the group has fewer items than the last commit. */
  private timer: NodeJS.Timeout | null = null;
  private waitUntilMs = 0;
  /** The last commit: when it ended, how many it held, and how long it took, `maxWaitMs` at most. */
  private last = { endedMs: Number.NEGATIVE_INFINITY, items: 0, tookMs: 0 };

  constructor(options: GroupOptions<T, R>) {
    this.options = options;
  }

  /** False: the limits are reached; nothing was taken and `committed` is never called. */
  add(item: T, sizeBytes: number, committed: Committed<R>): boolean {
    const { maxItems, maxBytes } = this.options;
    const heldItems = this.waiting.length + this.committingItems;
    if (heldItems >= maxItems || this.heldBytes + sizeBytes > maxBytes) return false;
    this.waiting.push({ item, sizeBytes, committed });
    this.heldBytes += sizeBytes;
    if (heldItems === 0) this.begin();
    else if (this.timer && this.waiting.length >= this.last.items) this.commitAfterTurn();
    return true;
  }

  private begin(): void {
    const { endedMs, items, tookMs } = this.last;
    const nowMs = this.options.nowMs();
    const waitMs = nowMs - endedMs < tookMs ? tookMs : 0;
    this.waitUntilMs = nowMs + waitMs;
    if (waitMs > 0 && items > 1) this.timer = setTimeout(() => this.commitAfterTurn(), waitMs);
    else this.commitAfterTurn();
  }

  /** The check phase comes right after the poll phase, which read the requests. */
  private commitAfterTurn(before = 0): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    setImmediate(() => {
      const { length } = this.waiting;
      if (length > before && length < maxPerCommit && this.options.nowMs() < this.waitUntilMs)
        this.commitAfterTurn(length);
      else void this.commit();
    });
  }

  private async commit(): Promise<void> {
    const startedMs = this.options.nowMs();
    const group = this.waiting.splice(0, maxPerCommit);
    this.committingItems = group.length;
    await this.commitGroup(group);
    this.committingItems = 0;
    for (const { sizeBytes } of group) this.heldBytes -= sizeBytes;
    const endedMs = this.options.nowMs();
    this.last = { endedMs, items: group.length, tookMs: Math.min(endedMs - startedMs, maxWaitMs) };
    // What came meanwhile has waited.
    if (this.waiting.length > 0) this.commitAfterTurn();
  }

  /** One group of several that fails is tried again, each item alone, one after the other. */
  private async commitGroup(group: readonly WaitingItem<T, R>[]): Promise<void> {
    const { commit, failsForAll } = this.options;
    const items = group.map(({ item }) => item);
    const [outcome] = await Promise.allSettled([(async () => commit(items))()]);
    if (outcome.status === "fulfilled") {
      for (const [i, { committed }] of group.entries()) committed(outcome.value[i] ?? null);
    } else if (group.length === 1 || failsForAll(outcome.reason)) {
      for (const { committed } of group) committed(null, outcome.reason);
    } else for (const one of group) await this.commitGroup([one]);
  }
}
