import type { Mirror } from "../../state/mirror.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import { readStored } from "./delivery.ts";
import type { Inbox } from "../../state/inbox/inbox.ts";
import type { EventIds } from "../../state/inbox/event-ids.ts";
import type { EvaluateEvent } from "./event-evaluation.ts";
import { FollowUps } from "./follow-ups.ts";

export interface Replayed {
  /** Events whose record is in the queue again. */
  readonly queued: number;
  /** Events that lead to no read. */
  readonly unread: number;
  readonly missing: readonly string[];
}

export interface ReplayParts {
  readonly mirror: Mirror;
  readonly queue: WorkQueue;
  readonly inbox: Inbox;
  readonly ids: EventIds;
  readonly judge: EvaluateEvent;
  readonly nowMs: number;
}

const mostAtOnce = 500;

/**
 * Stored events through the front door again: judged by what is known now, with a new mark in the queue and no
 * second row. An event that was in the change log is not told there twice (I7).
 */
export function replayEvents(parts: ReplayParts, eventIds: readonly string[]): Replayed {
  const missing: string[] = [];
  let queued = 0;
  for (let from = 0; from < eventIds.length; from += mostAtOnce) {
    const some = eventIds.slice(from, from + mostAtOnce);
    parts.mirror.apply(() => {
      const consequences = new FollowUps(parts.mirror, parts.queue, parts.nowMs);
      for (const eventId of some) {
        const state = replayOne(parts, eventId, consequences);
        if (state === null) missing.push(eventId);
        if (state === "waiting") queued++;
      }
      consequences.commit();
    });
  }
  return { queued, unread: eventIds.length - queued - missing.length, missing };
}

function replayOne({ inbox, ids, judge }: ReplayParts, eventId: string, consequences: FollowUps) {
  const seq = ids.find(eventId);
  const stored = seq === null ? null : inbox.get(seq);
  if (seq === null || !stored) return null;
  const delivery = readStored(stored.eventId, stored.body);
  const verdict = judge(delivery);
  if (verdict.state === stored.state && verdict.state !== "waiting") return verdict.state;
  inbox.judgeAgain(seq, verdict, verdict.state === "waiting" ? consequences.dirtySeq : null);
  consequences.add(delivery, verdict);
  return verdict.state;
}
