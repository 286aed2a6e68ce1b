import { isoTime } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import { EventIds } from "../../state/inbox/event-ids.ts";
import { Inbox, type Delivery, type EventEvaluation, type InboxState } from "../../state/inbox/inbox.ts";
import type { DeliveryForm } from "../../connector/service-protocol.ts";
import type { Mirror } from "../../state/mirror.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import { createBusyRetry } from "../../store/transient-errors.ts";
import type { Keyring } from "../keys/keyring.ts";
import { readStored, signedForm } from "./delivery.ts";
import { createEventEvaluator, createFollowUps, type EvaluateEvent, type FollowUps } from "./follow-ups.ts";

export type ReplayResult = ReturnType<typeof noReplay>;

export function noReplay() {
  return { queued: 0, unread: 0, missing: [] as string[], pruned: [] as string[] };
}

interface IngestParts {
  readonly mirror: Mirror;
  readonly queue: WorkQueue;
  readonly selected: ReadonlySet<string>;
  readonly keyring: Keyring;
}

/** What storing did. Where events are evaluated later, it does not say what they mean. */
export interface ReceivedResult
  extends Pick<Delivery, "eventId" | "type">, Partial<Pick<EventEvaluation, "resource" | "state">> {
  /** `duplicate`: it was stored before, and nothing was written. */
  readonly outcome: "stored" | "duplicate";
  readonly id?: RecordId | null;
}

export interface ReceivedDelivery {
  readonly delivery: Delivery;
  readonly receivedAtMs: number;
}

/** What the receiver needs of a company. A store that waits for another machine gives promises. */
export interface Ingest extends Pick<CompanyIngest, "keyring">, Partial<Pick<CompanyIngest, "form">> {
  has(eventId: string): boolean | Promise<boolean>;
  /** As `CompanyIngest.store`: all deliveries or none; one result for each. */
  store(
    deliveries: readonly Delivery[],
    receivedAtMs: number,
  ): readonly ReceivedResult[] | Promise<readonly ReceivedResult[]>;
}

const replayedAtOnce = 500;

/**
 * Stores deliveries of one company.
 *
 * Guarantee: when `store` returns, each event, its queued work and its change-log row are committed in one
 * transaction (I1, I6). A duplicate changes nothing (I7). Every signed delivery is kept (I12).
 * Source of truth: table `_inbox`.
 * Worst outcome of a crash: deliveries not yet answered are sent again by the service.
 */
export class CompanyIngest {
  readonly keyring: Keyring;
  readonly form: DeliveryForm;
  private readonly parts: IngestParts;
  private readonly inbox: Inbox;
  private readonly ids: EventIds;
  private readonly evaluate: EvaluateEvent;
  private readonly retryWhileBusy: <T>(step: () => T) => T;

  constructor(parts: IngestParts) {
    const { db, declaration } = parts.mirror;
    this.parts = parts;
    this.keyring = parts.keyring;
    this.form = declaration.webhooks?.deliveries ?? signedForm;
    this.inbox = new Inbox(db);
    this.ids = new EventIds(db);
    this.evaluate = createEventEvaluator(declaration, parts.selected);
    this.retryWhileBusy = createBusyRetry(db);
  }

  has(eventId: string): boolean {
    return this.ids.find(eventId) !== null;
  }

  /** Stores deliveries in one transaction. Throws a MirrorError of kind `database`. */
  store(deliveries: readonly Delivery[], receivedAtMs: number): readonly ReceivedResult[] {
    const received = deliveries.map((delivery) => ({ delivery, receivedAtMs }));
    return this.storeReceived(received, receivedAtMs);
  }

  /** As `store`, for deliveries that other processes received before. `within` writes to the same transaction. */
  storeReceived(
    received: readonly ReceivedDelivery[],
    nowMs: number,
    within: () => void = () => undefined,
  ): readonly ReceivedResult[] {
    return this.retryWhileBusy(() =>
      this.inTransaction(nowMs, (followUps) => {
        this.ids.begin(received.map(({ delivery }) => delivery.eventId));
        const results = received.map(({ delivery, receivedAtMs }) =>
          this.storeOne(delivery, isoTime(receivedAtMs), followUps),
        );
        this.ids.end();
        within();
        return results;
      }),
    );
  }

  /**
   * Replays stored events: evaluates them again and queues their records; inserts no second inbox row. An event
   * that is in the change log already is not written there again (I7). What came of each is added to `into`.
   */
  replay(eventIds: readonly string[], nowMs: number, into = noReplay()): ReplayResult {
    for (let from = 0; from < eventIds.length; from += replayedAtOnce)
      this.inTransaction(nowMs, (followUps) => {
        for (const eventId of eventIds.slice(from, from + replayedAtOnce)) {
          const state = this.replayOne(eventId, followUps);
          if (state === null) into.missing.push(eventId);
          else if (state === "pruned") into.pruned.push(eventId);
          else into[state === "waiting" ? "queued" : "unread"]++;
        }
      });
    return into;
  }

  /** Replays events that wait for a read which is not in the queue any more. Gives how many are queued again. */
  requeueLost(nowMs: number): number {
    return this.replay(this.inbox.lost(this.parts.selected), nowMs).queued;
  }

  private inTransaction<T>(nowMs: number, step: (followUps: FollowUps) => T): T {
    const { mirror, queue } = this.parts;
    return mirror.apply(() => {
      const followUps = createFollowUps(mirror, queue, nowMs);
      const result = step(followUps);
      followUps.commit();
      return result;
    });
  }

  private storeOne(delivery: Delivery, receivedAt: string, followUps: FollowUps): ReceivedResult {
    const { eventId, type, resourceId: id } = delivery;
    const evaluation = this.evaluate(delivery);
    const { state, resource } = evaluation;
    const isNew = !this.ids.has(eventId);
    if (isNew) {
      const dirtySeq = state === "waiting" ? followUps.dirtySeq : null;
      this.inbox.insert(delivery, receivedAt, evaluation, dirtySeq);
      this.ids.add(eventId);
      followUps.add(delivery, evaluation);
    }
    return { eventId, outcome: isNew ? "stored" : "duplicate", type, resource, id, state };
  }

  /** Gives the event's state; null: there is no such event. */
  private replayOne(eventId: string, followUps: FollowUps): InboxState | "pruned" | null {
    const seq = this.ids.find(eventId);
    const stored = seq === null ? null : this.inbox.find(seq);
    if (seq === null || !stored) return null;
    if (typeof stored.body === "number") return "pruned";
    const delivery = readStored(stored.eventId, stored.body, this.form);
    const evaluation = this.evaluate(delivery);
    const { state } = evaluation;
    if (state === stored.state && state !== "waiting") return state;
    this.inbox.reevaluate(seq, evaluation, state === "waiting" ? followUps.dirtySeq : null);
    followUps.add(delivery, evaluation);
    return state;
  }
}
