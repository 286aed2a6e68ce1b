import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import type { Random } from "../base/random.ts";

/** What of its process a run, or a part of the daemon, works with. */
export interface ProcessContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Of this program. */
  readonly version: string;
}
