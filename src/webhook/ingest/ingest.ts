import { isoTime, type Clock } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Mirror } from "../../state/mirror.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import type { Delivery } from "../../state/inbox/inbox.ts";
import { Inbox } from "../../state/inbox/inbox.ts";
import { EventIds } from "../../state/inbox/event-ids.ts";
import { FollowUps } from "./follow-ups.ts";
import { createBusyRetry } from "./busy-retry.ts";
import { replayEvents, type Replayed } from "./event-replay.ts";
import { createEventEvaluator } from "./event-evaluation.ts";
import type { InboxState } from "../../state/inbox/inbox.ts";

/** One company's, as the receiver knows it. */
export interface Ingest {
  /** Accepted now: the configured ones, and those retired not long ago. */
  secrets(): readonly string[];
  /** One transaction. Throws a MirrorError of kind `database`. */
  store(deliveries: readonly Delivery[], receivedAtMs: number): readonly StoreResult[];
  /** After a wrong signature: have the secrets changed? True: try again with `secrets()`. */
  refresh?(): boolean;
}

export interface StoreResult {
  readonly eventId: string;
  /** `known`: it came before, and nothing was written. */
  readonly fate: "stored" | "known";
  readonly type: string | null;
  readonly resource: string | null;
  readonly id: RecordId | null;
  readonly state: InboxState;
  readonly problem: string | null;
}

/** With what the one who writes the mirror may ask besides. */
export interface CompanyIngest extends Ingest {
  /** Puts stored events through the front door again: judged anew, a new mark, no second row. */
  replay(eventIds: readonly string[]): Replayed;
  /** Events that wait for a read nobody makes any more are judged anew. Gives how many are in the queue again. */
  requeueLost(): number;
}

export interface IngestParts {
  readonly mirror: Mirror;
  readonly queue: WorkQueue;
  /** Names of the resources that this config mirrors. */
  readonly selected: ReadonlySet<string>;
  readonly secrets: () => readonly string[];
  readonly refresh?: () => boolean;
  readonly clock: Clock;
  /** Told after the commit: an event that leads to nothing, because nobody can read it or knows its type. */
  readonly onUnheard?: (receipt: StoreResult) => void;
}

/**
 * Guarantee: an event, its mark in the queue and its change-log row are committed together by the time `take`
 * returns (I1, I6); an event that is known changes nothing (I7); nothing signed is dropped (I12).
 * Source of truth: the inbox. Worst outcome of a crash: what was not answered comes again.
 */
export function createIngest(parts: IngestParts): CompanyIngest {
  const { mirror, queue, selected, secrets, refresh, clock, onUnheard } = parts;
  const inbox = new Inbox(mirror.db);
  const ids = new EventIds(mirror.db);
  const judge = createEventEvaluator(mirror.manifest, selected);
  const briefly = createBusyRetry(mirror.db);

  const store = (delivery: Delivery, receivedAt: string, consequences: FollowUps): StoreResult => {
    const { eventId, type, resourceId: id } = delivery;
    const verdict = judge(delivery);
    const { state, resource, problem } = verdict;
    const dirtySeq = state === "waiting" ? consequences.dirtySeq : null;
    const isNew = !ids.has(eventId);
    if (isNew) {
      inbox.insert(delivery, receivedAt, verdict, dirtySeq);
      ids.add(eventId);
      consequences.add(delivery, verdict);
    }
    return { eventId, fate: isNew ? "stored" : "known", type, resource, id, state, problem };
  };
  const take = (deliveries: readonly Delivery[], receivedAtMs: number): readonly StoreResult[] =>
    mirror.apply(() => {
      const receivedAt = isoTime(receivedAtMs);
      const consequences = new FollowUps(mirror, queue, receivedAtMs);
      ids.begin();
      const receipts = deliveries.map((delivery) => store(delivery, receivedAt, consequences));
      consequences.commit();
      ids.end();
      return receipts;
    });
  const replay = (eventIds: readonly string[]) =>
    replayEvents({ mirror, queue, inbox, ids, judge, nowMs: clock.nowMs() }, eventIds);

  return {
    secrets,
    ...(refresh && { refresh }),
    store: (deliveries, receivedAtMs) => {
      const receipts = briefly(() => take(deliveries, receivedAtMs));
      for (const receipt of receipts) if (isUnheard(receipt)) onUnheard?.(receipt);
      return receipts;
    },
    replay,
    requeueLost: () => replay(inbox.lost(selected)).queued,
  };
}

function isUnheard({ fate, state }: StoreResult): boolean {
  return fate === "stored" && (state === "unknown" || state === "unreadable");
}
