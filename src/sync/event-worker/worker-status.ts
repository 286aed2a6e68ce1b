import type { Clock } from "../../base/clock.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";

/** How the way to the service stands, as its tender last found it. */
export interface WorkerState {
  readonly state: "starting" | "working" | Impediment;
  /** What is in the way; null while it works. */
  readonly message: string | null;
  readonly sinceMs: number;
}

/** What keeps a tender from its work; events are received and kept meanwhile. */
export type Impediment = "unavailable" | "unauthenticated" | "identity" | "database";

const minuteMs = 60_000;

/** Pure: how long to wait before the next try, after so many in vain. */
export function pauseMs(impediment: Impediment, failures: number): number {
  if (impediment === "identity") return 5 * minuteMs;
  const doubled = 2 ** Math.min(failures - 1, 16);
  if (impediment === "unauthenticated") return Math.min(5 * minuteMs, 30_000 * doubled);
  return Math.min(minuteMs, 1_000 * doubled);
}

/** Pure: what an error says of the way to the service. */
function impedimentOf(error: unknown): Impediment {
  if (!(error instanceof MirrorError)) return "unavailable";
  const { kind } = error;
  return kind === "unauthenticated" || kind === "identity" || kind === "database" ? kind : "unavailable";
}

const words: Readonly<Record<Impediment, string>> = {
  unavailable: "the service cannot be reached; events are kept until it is back",
  unauthenticated: "the service does not take the token; events are kept until it does",
  identity: "the token is another company's; events are kept until that is settled",
  database: "the mirror cannot be written; events are refused until it can",
};

/** The state and its story in the log: one line at each change. */
export class WorkerStatus {
  private current: WorkerState;
  /** Tries in vain since it last worked. */
  private failures = 0;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly onState: (state: WorkerState) => void;

  constructor(clock: Clock, log: Log, onState: (state: WorkerState) => void) {
    this.clock = clock;
    this.log = log;
    this.onState = onState;
    this.current = { state: "starting", message: null, sinceMs: clock.nowMs() };
  }

  state(): WorkerState {
    return this.current;
  }

  works(): void {
    const { state, sinceMs } = this.current;
    this.failures = 0;
    if (state === "working") return;
    const forMs = this.clock.nowMs() - sinceMs;
    if (state === "starting") this.log.info("events are worked on");
    else this.log.info("events are worked on again", { after: state, for_ms: forMs });
    this.become({ state: "working", message: null, sinceMs: this.clock.nowMs() });
  }

  /** Gives how long to pause. */
  impeded(error: unknown): number {
    const impediment = impedimentOf(error);
    const same = this.current.state === impediment;
    this.failures = same || this.current.state === "starting" ? this.failures + 1 : 1;
    const message = messageOf(error);
    const waitMs = pauseMs(impediment, this.failures);
    if (!same) {
      const hint = error instanceof MirrorError && error.hint !== undefined ? { hint: error.hint } : {};
      this.log.warn(words[impediment], { state: impediment, error: message, ...hint, retry_in_ms: waitMs });
    }
    if (!same || this.current.message !== message)
      this.become({ state: impediment, message, sinceMs: same ? this.current.sinceMs : this.clock.nowMs() });
    return waitMs;
  }

  private become(state: WorkerState): void {
    this.current = state;
    try {
      this.onState(state);
    } catch (error) {
      this.log.warn("the state could not be told", { error: messageOf(error) });
    }
  }
}
