/** Counts of a transport, for reports and metrics. */
export interface HttpStats {
  /** Requests sent, repeated ones too. */
  readonly requests: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Attempts after the first of their call. */
  readonly retried: number;
  /** Answers of 429. */
  readonly rateLimited: number;
  /** Attempts without an answer. */
  readonly unanswered: number;
  /** Time waited for permits, all requests together. */
  readonly waitedMs: number;
}

/** Counts while a transport works; all begin at 0. */
export class Counter {
  requests = 0;
  retried = 0;
  unanswered = 0;
  waitedMs = 0;
  readonly #byStatus: Record<string, number> = {};

  addStatus(status: number): void {
    this.#byStatus[status] = (this.#byStatus[status] ?? 0) + 1;
  }

  read(): HttpStats {
    const { requests, retried, unanswered, waitedMs } = this;
    const byStatus = { ...this.#byStatus };
    return { requests, byStatus, retried, rateLimited: byStatus["429"] ?? 0, unanswered, waitedMs };
  }
}
