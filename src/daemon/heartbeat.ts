import { isoTime } from "../base/clock.ts";
import type { Mirror } from "../state/mirror.ts";
import { heartbeatMs, type Span, type UptimeLog } from "../state/uptime-log.ts";
import { emptyReceiverNote, noteOf, receiverNoteKey, type ReceiverNote } from "../status/receiver-note.ts";
import { ordersKey, type EventFacts } from "../status/event-status.ts";
import type { CompanyStatusView } from "../status/company-view.ts";
import { assertMayWrite, releaseMemory } from "../store/database.ts";
import { createErrorGuard } from "../store/transient-errors.ts";
import type { LogWatch } from "../store/write-ahead-log.ts";
import { assertHeld, type WriterLock } from "../store/writer-lock.ts";
import type { RefusalWatch } from "../webhook/delivery-gap/refusal-watch.ts";
import type { DaemonContext } from "./daemon-context.ts";

export interface HeartbeatParts {
  readonly mirror: Mirror;
  readonly uptime: UptimeLog;
  readonly context: Pick<DaemonContext, "clock" | "log" | "connections" | "strayRefusals" | "turns">;
  readonly closed: AbortSignal;
  /** Of the mirror: a daemon without work would not notice that it was replaced. */
  readonly lock: WriterLock;
  readonly refusals: RefusalWatch;
  readonly logWatch: LogWatch;
  /** The accepted webhook keys; without one, being up means nothing. */
  readonly keys: () => readonly string[];
  /** By how much this clock is ahead of the service's, milliseconds; null: not known. */
  readonly skewMs: () => number | null;
  readonly service: () => CompanyStatusView["service"];
  /** Commands of other processes that are not answered. */
  readonly orders: () => EventFacts["orders"];
  /** When other processes received deliveries; @default this process receives them */
  readonly receivedSpans?: (() => readonly Span[]) | undefined;
  /**
   * Called after a time in which deliveries may have been lost while this process was alive. Null: nothing was received
   * before, so nobody has to hear of it.
   */
  readonly onGap: (why: string | null) => void;
  /** Gets why the mirror cannot be written; null: it can. */
  readonly onWriteProblem: (problem: string | null) => void;
}

const checkEveryMs = 1_000;
const slept =
  "no heartbeat for a while: the machine slept, or its clock was set; deliveries may have been missed";
const nobodyReceived = "no process of the fleet received deliveries for a while: some may have been missed";
const wasRefusing = "deliveries are no longer refused: those refused before may be lost";
const releaseEveryMs = 60_000;

/**
 * Writes heartbeats, the state of the service and what the receiver refuses to the mirror, for processes that only read
 * the file. A time in which the service's deliveries are refused is no time of receiving.
 *
 * Guarantee: ends with `closed`; a database that fails for up to a minute ends nothing. Rejects within two seconds where
 * the lock file or the mirror was removed or replaced.
 * Source of truth: the uptime log, and `service` and `receiver` in `_meta`.
 * Worst outcome of a crash: the last heartbeat is up to 15 s old.
 */
export async function runHeartbeat(parts: HeartbeatParts): Promise<void> {
  const { mirror, closed } = parts;
  const { clock, log, turns } = parts.context;
  const guard = createErrorGuard(clock, log, parts.onWriteProblem);
  const beat = createBeat(parts);
  const noteReceiver = createReceiverNote(parts);
  let written: CompanyStatusView["service"] | null = null;
  let writtenOrders = JSON.stringify(mirror.meta.get(ordersKey) ?? []);
  const release = createRelease(parts);
  while (!closed.aborted) {
    // Those of many companies are due together after whatever held the event loop back.
    await turns.next();
    const succeeded = guard(() => {
      assertHeld(parts.lock);
      assertMayWrite(mirror.db);
      const service = parts.service();
      const { state, message, sinceMs } = service;
      if (state !== written?.state || message !== written.message)
        mirror.apply(() => mirror.meta.set("service", { state, message, since: isoTime(sinceMs) }));
      written = service;
      const orders = parts.orders();
      const isChanged = JSON.stringify(orders) !== writtenOrders;
      if (isChanged) mirror.apply(() => mirror.meta.set(ordersKey, orders));
      writtenOrders = JSON.stringify(orders);
      parts.logWatch.look();
      parts.refusals.observe(parts.skewMs(), parts.keys());
      noteReceiver();
      beat();
      release();
    });
    await clock.sleep(succeeded ? checkEveryMs : heartbeatMs, closed);
  }
}

/** Lets go of what a connection keeps, now and then: most companies of a large daemon do nothing most of the time. */
function createRelease({ mirror, context: { clock } }: HeartbeatParts): () => void {
  let releasedMs = clock.monotonicMs();
  return () => {
    if (clock.monotonicMs() - releasedMs < releaseEveryMs) return;
    releaseMemory(mirror.db);
    releasedMs = clock.monotonicMs();
  };
}

/** Renews the time of receiving, and ends it where deliveries are refused. */
function createBeat({ context, uptime, refusals, keys, receivedSpans, onGap }: HeartbeatParts): () => void {
  const { clock, log } = context;
  if (receivedSpans)
    return () => {
      if (keys().length > 0 && uptime.merge(receivedSpans()))
        onGap(uptime.spans().length > 1 ? nobodyReceived : null);
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
function createReceiverNote({ mirror, context, refusals, skewMs }: HeartbeatParts): () => void {
  const { clock, connections, strayRefusals } = context;
  let written = mirror.meta.get(receiverNoteKey) as ReceiverNote | null;
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  return () => {
    const { dropped } = connections;
    const facts = { refusals, strayRefusals, dropped, skewMs: skewMs() };
    const nowMs = clock.monotonicMs();
    let note = noteOf(facts);
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
