import { minuteMs, type Clock } from "../../base/clock.ts";
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

/** What is in the way for long is logged again this often. */
const repeatMs = 15 * minuteMs;

/** The state of the event worker; logs one line at each change, and repeats what is in the way. */
export function createWorkerStatus(clock: Clock, log: Log) {
  let current: WorkerState = { state: "starting", message: null, sinceMs: clock.nowMs() };
  let failures = 0;
  let loggedMs = 0;
  return {
    state: () => current,
    works(): void {
      const { state, sinceMs } = current;
      if (state === "working") return;
      if (state === "starting") log.info("events are processed");
      else log.info("events are processed again", { after: state, for_ms: clock.nowMs() - sinceMs });
      current = { state: "working", message: null, sinceMs: clock.nowMs() };
    },
    /** Something is in the way; returns how long to pause, ms. */
    impeded(error: unknown): number {
      const state = impedimentOf(error);
      const isNew = current.state !== state;
      failures = isNew ? 1 : failures + 1;
      const message = messageOf(error);
      const waitMs = backoffMs(failures, retries.events[state]);
      const nowMs = clock.monotonicMs();
      if (isNew || nowMs - loggedMs >= repeatMs) {
        log.warn(impediments[state], { state, error: message, ...hintOf(error), retry_in_ms: waitMs });
        loggedMs = nowMs;
      }
      current = { state, message, sinceMs: isNew ? clock.nowMs() : current.sinceMs };
      return waitMs;
    },
  };
}
