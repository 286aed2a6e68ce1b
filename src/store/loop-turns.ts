/** Time of work between two turns of the event loop, unless one step takes longer. */
const sliceMs = 20;

/**
 * Gives callers their turn, first come, first served: in one turn of the event loop as many as fit into 20 ms. Steps
 * that wait for the disk then hold back nobody for long, however many companies have one to make.
 */
export class LoopTurns {
  private readonly nowMs: () => number;
  private readonly waiting: (() => void)[] = [];
  /** Null: nobody had a turn since the event loop went round. */
  private sliceEndMs: number | null = null;

  /** @param nowMs monotonic */
  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  /** Resolves at the begin of the caller's turn. */
  next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push(resolve);
    setImmediate(() => this.give());
    return promise;
  }

  private give(): void {
    const nowMs = this.nowMs();
    if (this.sliceEndMs === null) {
      this.sliceEndMs = nowMs + sliceMs;
      setImmediate(() => (this.sliceEndMs = null));
    } else if (nowMs >= this.sliceEndMs) {
      setImmediate(() => this.give());
      return;
    }
    this.waiting.shift()?.();
  }
}
