/** Counts of a transport, for reports and metrics. */
export class HttpCounters {
  /** Requests given to a connection, repeated ones too, and those that lost their right in that very step. */
  requests = 0;
  /** A map: an object with the key 404 gets room for all numbers below it, 5 kB for each company. */
  readonly byStatus = new Map<number, number>();
  /** Attempts after the first of their call. */
  retried = 0;
  /** Answers of 429. */
  rateLimited = 0;
  /** Attempts without an answer. */
  unanswered = 0;
  /** Time waited for permits, all requests together. */
  waitedMs = 0;
}

/** The counts at one moment. */
export type HttpStats = Readonly<HttpCounters>;
