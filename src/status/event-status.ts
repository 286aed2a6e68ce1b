import { isoTime } from "../base/clock.ts";
import { InboxView } from "../state/inbox/inbox.ts";
import { Meta } from "../state/meta.ts";
import { heartbeatMs, UptimeLog, type EndedSpan } from "../state/uptime-log.ts";
import type { Db } from "../store/database.ts";
import type { LockHolder } from "../store/writer-lock.ts";
import { emptyReceiverNote, receiverNoteKey, type ReceiverNote } from "./receiver-note.ts";

/** Where the daemon writes them in `_meta`. */
export const ordersKey = "orders";

/** What another process asks of the daemon. */
export interface OpenCommand {
  readonly kind: "sync" | "replay" | "prune";
  /** ISO. */
  readonly askedAt: string;
  /** Process that asks and waits for the answer. */
  readonly pid: number;
  readonly state: "waiting" | "running";
}

/** A time in which nobody received deliveries; ISO. */
interface ReceiverGap {
  readonly from: string;
  /** null: until now. */
  readonly to: string | null;
  /**
   * `killed`: counted from the last heartbeat; `silent`: the same, and the daemon is there; `refused`: the receiver
   * refused every delivery.
   */
  readonly cause: "stopped" | "killed" | "silent" | "refused";
}

/** What judging events needs besides. */
export interface EventSurroundings {
  /** Who holds the mirror's writer lock; null: nobody. */
  readonly writer: Pick<LockHolder, "command" | "since"> | null;
  readonly mayBeLost: boolean;
  readonly nowMs: number;
}

const mostSpans = 1_000;
const heartbeatLostMs = 4 * heartbeatMs;
const gapDaysMs = 7 * 86_400_000;

/** What a mirror's file says of events. */
export type EventFacts = ReturnType<typeof readEventFacts>;

/** Reads it from one snapshot, beside the daemon. */
export function readEventFacts(db: Db) {
  return db.transaction(() => {
    const inbox = new InboxView(db);
    const meta = new Meta(db);
    return {
      counts: inbox.counts(),
      /** When the oldest event that waits for its read was received, ISO; null: none waits. */
      waitingSince: inbox.oldestWaiting(),
      /** Waiting events whose read was given up or is held. */
      stuck: inbox.stuck(),
      lastReceivedAt: inbox.lastReceived(),
      /** Types of unknown events, the most frequent first. */
      unknownTypes: inbox.unknownTypes(),
      /** When `serve` received deliveries, the oldest first. */
      spans: new UptimeLog(db).latest(mostSpans),
      service: serviceNote(meta.get("service")),
      ...emptyReceiverNote,
      ...(meta.get(receiverNoteKey) as ReceiverNote | null),
      /** Commands of other processes that the daemon has not finished. */
      orders: (meta.get(ordersKey) ?? []) as readonly OpenCommand[],
    };
  })();
}

/** The state of the event worker, as the daemon wrote it last. */
function serviceNote(value: unknown) {
  if (typeof value !== "object" || value === null) return null;
  const { state, message, since } = value as Record<string, unknown>;
  if (typeof state !== "string" || typeof since !== "string") return null;
  return { state, message: typeof message === "string" ? message : null, since };
}

export type EventStatus = ReturnType<typeof judgeEvents>;

/** Judges the facts: is a daemon receiving, and when was none? Pure. */
export function judgeEvents({ spans, ...facts }: EventFacts, around: EventSurroundings) {
  const { writer, mayBeLost, nowMs } = around;
  const last = spans.at(-1);
  const isFresh = last?.ended === null && nowMs - last.seenMs < heartbeatLostMs;
  const isReceiving = writer !== null && isFresh;
  const listening = isReceiving || (writer !== null && last?.ended === "refused");
  const open = isReceiving ? null : isSilent({ spans, ...facts }, around) ? "silent" : "killed";
  const gaps = gapsBetween(spans, open);
  return {
    ...facts,
    orders: writer === null ? [] : facts.orders,
    /** Does a daemon receive deliveries now? */
    listening,
    /** Since when it does, or did last; ISO, null: never. */
    listeningSince: last ? isoTime(last.startedMs) : null,
    /** Of the last seven days, the oldest first. */
    gaps: gaps.filter(({ to }) => to === null || Date.parse(to) > nowMs - gapDaysMs),
    mayBeLost,
  };
}

/** `open`: why nobody receives, where the last span has no end; null: somebody does. */
function gapsBetween(spans: readonly EndedSpan[], open: "killed" | "silent" | null): ReceiverGap[] {
  const gaps = spans.map(({ seenMs, ended }, index): ReceiverGap => {
    const next = spans[index + 1];
    const cause = ended === null ? "killed" : ended === "refused" ? "refused" : "stopped";
    return { from: isoTime(seenMs), to: next ? isoTime(next.startedMs) : null, cause };
  });
  const last = gaps.pop();
  return last && open ? [...gaps, open === "silent" ? { ...last, cause: open } : last] : gaps;
}

/** Does a daemon hold the mirror and write nothing? Without a webhook secret it writes no heartbeats. */
function isSilent({ spans, service }: EventFacts, { writer, nowMs }: EventSurroundings): boolean {
  if (writer?.command !== "serve" || writer.since === undefined) return false;
  const heldMs = Date.parse(writer.since);
  const last = spans.at(-1);
  if (last && last.startedMs >= heldMs) return last.ended === null && nowMs - last.seenMs >= heartbeatLostMs;
  const hasWritten = service !== null && Date.parse(service.since) >= heldMs;
  return !hasWritten && nowMs - heldMs >= heartbeatLostMs;
}

/** Does a daemon hold the mirror without writing its heartbeats? Pure. */
export function daemonSilent({ gaps }: EventStatus): boolean {
  return gaps.some(({ to, cause }) => to === null && cause === "silent");
}
