import type { Clock } from "../../base/clock.ts";
import { backoffMs } from "../../base/retry.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";

/** Can the event worker read and write? As it found out last. */
export interface WorkerState {
  readonly state: "starting" | "working" | Impediment;
  /** What is in the way; null while it works. */
  readonly message: string | null;
  readonly sinceMs: number;
}

/** What keeps the event worker from its work; events are received and kept meanwhile. */
export type Impediment = "unavailable" | "unauthenticated" | "identity" | "database";

const minuteMs = 60_000;

/**
 * How long to wait before the next try. Pure.
 *
 * @param failures tries that failed, from 1
 * @returns milliseconds, at most 5 minutes
 */
export function pauseMs(impediment: Impediment, failures: number): number {
  if (impediment === "identity") return 5 * minuteMs;
  if (impediment === "unauthenticated") return backoffMs(failures, { baseMs: 30_000, maxMs: 5 * minuteMs });
  return backoffMs(failures, { baseMs: 1_000, maxMs: minuteMs });
}

/** What an error says about the event worker. Pure. */
function impedimentOf(error: unknown): Impediment {
  if (!(error instanceof MirrorError)) return "unavailable";
  const { kind } = error;
  return kind === "unauthenticated" || kind === "identity" || kind === "database" ? kind : "unavailable";
}

const messages: Readonly<Record<Impediment, string>> = {
  unavailable: "the service cannot be reached; events are kept and read when it is back",
  unauthenticated: "the service refuses the token; events are kept until it is replaced",
  identity: "the token belongs to another company; events are kept until it is replaced",
  database: "the mirror cannot be written; events are refused until it can",
};

/** The state of the event worker; logs one line at each change. */
export class WorkerStatus {
  private current: WorkerState;
  /** Failed tries since it last worked. */
  private failures = 0;
  private readonly clock: Clock;
  private readonly log: Log;

  constructor(clock: Clock, log: Log) {
    this.clock = clock;
    this.log = log;
    this.current = { state: "starting", message: null, sinceMs: clock.nowMs() };
  }

  state(): WorkerState {
    return this.current;
  }

  /** It works: a record was read, or there is nothing to do. */
  works(): void {
    const { state, sinceMs } = this.current;
    this.failures = 0;
    if (state === "working") return;
    const forMs = this.clock.nowMs() - sinceMs;
    if (state === "starting") this.log.info("events are processed");
    else this.log.info("events are processed again", { after: state, for_ms: forMs });
    this.current = { state: "working", message: null, sinceMs: this.clock.nowMs() };
  }

  /** Something is in the way; returns how long to pause, ms. */
  impeded(error: unknown): number {
    const impediment = impedimentOf(error);
    const same = this.current.state === impediment;
    this.failures = same || this.current.state === "starting" ? this.failures + 1 : 1;
    const message = messageOf(error);
    const waitMs = pauseMs(impediment, this.failures);
    if (!same) {
      const hint = error instanceof MirrorError && error.hint !== undefined ? { hint: error.hint } : {};
      this.log.warn(messages[impediment], {
        state: impediment,
        error: message,
        ...hint,
        retry_in_ms: waitMs,
      });
    }
    if (!same || this.current.message !== message)
      this.current = {
        state: impediment,
        message,
        sinceMs: same ? this.current.sinceMs : this.clock.nowMs(),
      };
    return waitMs;
  }
}
