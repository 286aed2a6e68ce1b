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

/** Counts while a transport works. */
export interface Counter {
  sent(): void;
  status(status: number): void;
  retried(): void;
  unanswered(): void;
  waited(ms: number): void;
  read(): HttpStats;
}

/** All counts at 0. */
export function createCounter(): Counter {
  const byStatus = new Map<string, number>();
  const counts = { requests: 0, retried: 0, unanswered: 0, waitedMs: 0 };
  return {
    sent: () => void counts.requests++,
    status: (status) => void byStatus.set(String(status), (byStatus.get(String(status)) ?? 0) + 1),
    retried: () => void counts.retried++,
    unanswered: () => void counts.unanswered++,
    waited: (ms) => void (counts.waitedMs += ms),
    read: () => ({
      ...counts,
      byStatus: Object.fromEntries(byStatus),
      rateLimited: byStatus.get("429") ?? 0,
    }),
  };
}
