import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import type { Random } from "../base/random.ts";

export interface ProcessContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
}

/** How long each part of a process may take to stop, milliseconds. What hangs longer than `all` ends with the process. */
export const stopDeadlines = {
  /** Responses to deliveries and pages on their way. */
  answers: 3_000,
  /** Requests to the service in flight, with the answers that are applied. */
  requests: 19_000,
  /** The same where a company of the fleet is released: its last snapshot follows. */
  releasedRequests: 10_000,
  /** A node's snapshots, from the signal on. */
  snapshots: 18_000,
  /** What comes after a node's last snapshot. */
  signOff: 2_000,
  all: 23_000,
} as const;
