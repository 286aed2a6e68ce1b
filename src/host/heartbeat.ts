import { isoTime } from "../base/clock.ts";
import type { Mirror } from "../state/mirror.ts";
import { heartbeatMs, type UptimeLog } from "../state/uptime-log.ts";
import { emptyReceiverNote, noteOf, receiverNoteKey, type ReceiverNote } from "../status/event-status.ts";
import { assertMayWrite, releaseMemory } from "../store/database.ts";
import { createErrorGuard } from "../store/transient-errors.ts";
import { assertHeld, type WriterLock } from "../store/writer-lock.ts";
import type { RefusalWatch } from "../webhook/delivery-gap/refusal-watch.ts";
import type { HostContext } from "./host-context.ts";

const checkEveryMs = 1_000;
const slept =
  "no heartbeat for a while: the machine slept, or its clock was set; deliveries may have been missed";
const nobodyReceived = "no process of the fleet received deliveries for a while: some may have been missed";
const wasRefusing = "deliveries are no longer refused: those refused before may be lost";
const releaseEveryMs = 60_000;

/**
 * Takes these steps once a second: heartbeats, and notes in the mirror for processes that only read the file. A time in
 * which the service's deliveries are refused is no time of receiving. A daemon without work would not notice that the
 * mirror was replaced, but for this.
 *
 * Guarantee: ends with `closed`; a database that fails for up to a minute ends nothing. Rejects within two seconds where
 * the lock file or the mirror was removed or replaced.
 * Source of truth: the uptime log, and `service` and `receiver` in `_meta`.
 * Worst outcome of a crash: the last heartbeat is up to 15 s old.
 */
export async function runHeartbeat(
  { clock, log, turns }: Pick<HostContext, "clock" | "log" | "turns">,
  mirror: Mirror,
  lock: WriterLock,
  steps: readonly (() => void)[],
  onWriteProblem: (problem: string | null) => void,
  closed: AbortSignal,
): Promise<void> {
  const guard = createErrorGuard(clock, log, onWriteProblem);
  let releasedMs = clock.monotonicMs();
  while (!closed.aborted) {
    // Those of many companies are due together after whatever held the event loop back.
    await turns.next();
    const succeeded = guard(() => {
      assertHeld(lock);
      assertMayWrite(mirror.db);
      for (const step of steps) step();
      // Now and then: most companies of a large daemon do nothing most of the time.
      if (clock.monotonicMs() - releasedMs < releaseEveryMs) return true;
      releaseMemory(mirror.db);
      releasedMs = clock.monotonicMs();
      return true;
    });
    await clock.sleep(succeeded ? checkEveryMs : heartbeatMs, closed);
  }
}

export function createNote(mirror: Mirror, key: string, noteNow: () => object): () => void {
  let written = JSON.stringify(mirror.meta.get(key) ?? []);
  return () => {
    const note = noteNow();
    const text = JSON.stringify(note);
    if (text !== written) mirror.apply(() => mirror.meta.set(key, note));
    written = text;
  };
}

/**
 * Renews the time of receiving, and ends it where deliveries are refused.
 *
 * @param keys the accepted webhook keys; without one, being up means nothing
 * @param onGap called after a time in which deliveries may have been lost while this process was alive. Null: nothing was
 *   received before, so nobody has to hear of it
 * @param mergeReceived takes over when other processes received deliveries; @default this process receives them
 */
export function createBeat(
  { clock, log }: Pick<HostContext, "clock" | "log">,
  uptime: UptimeLog,
  refusals: RefusalWatch,
  keys: () => readonly string[],
  onGap: (why: string | null) => void,
  mergeReceived?: () => boolean,
): () => void {
  if (mergeReceived)
    return () => {
      if (keys().length > 0 && mergeReceived()) onGap(uptime.spans().length > 1 ? nobodyReceived : null);
    };
  let beatMs: number | null = null;
  let isRefusing = false;
  return () => {
    if (keys().length === 0) return;
    const refusing = refusals.refusing();
    if (refusing) {
      if (isRefusing) return;
      const { reason, sinceMs } = refusing;
      log.warn("the service's deliveries are refused", { reason, since: isoTime(sinceMs) });
      uptime.refuse(sinceMs);
      isRefusing = true;
      return;
    }
    const nowMs = clock.nowMs();
    if (!isRefusing && beatMs !== null && nowMs >= beatMs && nowMs - beatMs < heartbeatMs) return;
    if (uptime.beat(nowMs)) onGap(slept);
    if (isRefusing) onGap(wasRefusing);
    isRefusing = false;
    beatMs = nowMs;
  };
}

/** A measured clock moves by itself a little. */
const sameSkewS = 2;

/**
 * Writes what the receiver counts where it changed: clients that are refused cause no more writes than a heartbeat.
 * The beginning and end of a time of refusals and the first dropped connection are written at once.
 */
export function createReceiverNote(
  { clock, connections, strayRefusals }: Pick<HostContext, "clock" | "connections" | "strayRefusals">,
  mirror: Mirror,
  refusals: RefusalWatch,
  skewMs: () => number | null,
): () => void {
  let written = mirror.meta.get(receiverNoteKey) as ReceiverNote | null;
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.monotonicMs();
    let note = noteOf(refusals, strayRefusals, connections.dropped, skewMs());
    const before = written?.clock_skew_seconds ?? null;
    const skew = note.clock_skew_seconds;
    if (before !== null && skew !== null && Math.abs(skew - before) < sameSkewS)
      note = { ...note, clock_skew_seconds: before };
    const isTurn = urgentOf(note) !== urgentOf(written ?? emptyReceiverNote);
    if ((!isTurn && nowMs < notBeforeMs) || JSON.stringify(note) === JSON.stringify(written)) return;
    mirror.apply(() => mirror.meta.set(receiverNoteKey, note));
    notBeforeMs = nowMs + heartbeatMs;
    written = note;
  };
}

function urgentOf({ refusing, dropped_connections: dropped }: ReceiverNote): string {
  return `${refusing !== null} ${dropped > 0}`;
}
