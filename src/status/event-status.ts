import { isoTime } from "../base/clock.ts";
import { mayHaveLost } from "../webhook/delivery-gap/delivery-gap.ts";
import type { EventHealth } from "./event-health.ts";
import type { EndedSpan } from "../state/uptime-log.ts";

/** A time in which nobody took deliveries; ISO. */
interface Gap {
  readonly from: string;
  /** null: until now. */
  readonly to: string | null;
  /** `killed`: from the last sign of life on. */
  readonly cause: "stopped" | "killed";
}

/** What `status` says of the events of one company. */
export interface EventStatus extends Omit<EventHealth, "spans"> {
  /** A daemon takes deliveries right now. */
  readonly listening: boolean;
  /** Since when it does, or did last; null: never. */
  readonly listeningSince: string | null;
  /** Of the last days, the oldest first. */
  readonly gaps: readonly Gap[];
  /** All attempts for an event may have met nobody, and no whole reading came since. */
  readonly mayBeLost: boolean;
}

export interface Surroundings {
  /** Somebody holds the mirror's writer lock. */
  readonly written: boolean;
  /** When the reading began that last read everything whole; null: never. */
  readonly wholeSinceMs: number | null;
  readonly nowMs: number;
}

/** A daemon gives a sign of life every 15 s. */
const heartbeatOutMs = 60_000;
const gapDaysMs = 7 * 86_400_000;

/** Pure: what the receiver's history comes to. */
export function judgeEvents({ spans, ...facts }: EventHealth, around: Surroundings): EventStatus {
  const last = spans.at(-1);
  const listening = around.written && last !== undefined && isAlive(last, around.nowMs);
  const gaps = gapsOf(spans, listening);
  const recent = gaps.filter(({ to }) => to === null || Date.parse(to) > around.nowMs - gapDaysMs);
  return {
    ...facts,
    listening,
    listeningSince: last ? isoTime(last.startedMs) : null,
    gaps: recent,
    mayBeLost: spans.length > 0 && lost(spans, around),
  };
}

function isAlive({ seenMs, ended }: EndedSpan, nowMs: number): boolean {
  return ended === null && nowMs - seenMs < heartbeatOutMs;
}

function lost(spans: readonly EndedSpan[], { wholeSinceMs, nowMs }: Surroundings): boolean {
  return wholeSinceMs === null || mayHaveLost({ spans, sinceMs: wholeSinceMs, nowMs });
}

function gapsOf(spans: readonly EndedSpan[], listening: boolean): Gap[] {
  const gaps = spans.map(({ seenMs, ended }, index): Gap => {
    const next = spans[index + 1];
    const cause = ended === null ? "killed" : "stopped";
    return { from: isoTime(seenMs), to: next ? isoTime(next.startedMs) : null, cause };
  });
  return listening ? gaps.slice(0, -1) : gaps;
}

/** Events are read within seconds where a daemon runs; what waits this long is not whole. */
const overdueMs = 3_600_000;

/** Pure: does an event wait for longer than it may? Without a daemon the next run reads what waits. */
export function eventsOverdue({ listening, waitingSince }: EventStatus, nowMs: number): boolean {
  return listening && waitingSince !== null && nowMs - Date.parse(waitingSince) > overdueMs;
}
