/** Gives callers a turn of the event loop each, first come, first served: what each does blocks nothing but itself. */
export class LoopTurns {
  private last: Promise<void> = Promise.resolve();

  /** Resolves at the begin of the caller's turn. */
  next(): Promise<void> {
    this.last = this.last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.last;
  }
}
