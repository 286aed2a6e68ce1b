import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { backoffMs, retries } from "../../retry/retry-limits.ts";

export interface WorkerState {
  readonly state: "starting" | "working" | Impediment;
  readonly message: string | null;
  readonly sinceMs: number;
}

const impediments = {
  unavailable: "the service cannot be reached; events are kept and read when it is back",
  unauthenticated: "the service refuses the token; events are kept until it is replaced",
  identity: "the token belongs to another company; events are kept until it is replaced",
  database: "the mirror cannot be written; events are refused until it can",
} as const;

/** What keeps the event worker from its work; events are received and kept meanwhile. */
type Impediment = keyof typeof impediments;

export const workerStates = ["starting", "working", ...(Object.keys(impediments) as Impediment[])] as const;

function impedimentOf(error: unknown): Impediment {
  const kind = error instanceof MirrorError ? error.kind : "";
  // Its lock file or the mirror was replaced.
  if (kind === "locked") return "database";
  return kind in impediments ? (kind as Impediment) : "unavailable";
}

/** The state of the event worker; logs one line at each change. */
export function createWorkerStatus(clock: Clock, log: Log) {
  let current: WorkerState = { state: "starting", message: null, sinceMs: clock.nowMs() };
  let failures = 0;
  return {
    state: () => current,
    works(): void {
      const { state, sinceMs } = current;
      failures = 0;
      if (state === "working") return;
      const forMs = clock.nowMs() - sinceMs;
      if (state === "starting") log.info("events are processed");
      else log.info("events are processed again", { after: state, for_ms: forMs });
      current = { state: "working", message: null, sinceMs: clock.nowMs() };
    },
    /** Something is in the way; returns how long to pause, ms. */
    impeded(error: unknown): number {
      const impediment = impedimentOf(error);
      const { state, sinceMs } = current;
      const same = state === impediment;
      failures = same || state === "starting" ? failures + 1 : 1;
      const message = messageOf(error);
      const waitMs = backoffMs(failures, retries.events[impediment]);
      if (!same) {
        const facts = { state: impediment, error: message, ...hintOf(error), retry_in_ms: waitMs };
        log.warn(impediments[impediment], facts);
      }
      current = { state: impediment, message, sinceMs: same ? sinceMs : clock.nowMs() };
      return waitMs;
    },
  };
}
