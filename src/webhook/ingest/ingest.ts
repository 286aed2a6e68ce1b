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
import { snakeCase } from "../../base/names.ts";
import type { EventRule, ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import { recordTarget, type NewWorkItem } from "../../state/work-item.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import type { Log, LogFields } from "../../base/logger.ts";

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
export interface Ingest extends Pick<CompanyIngest, "keyring" | "form"> {
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
  private readonly evaluate: ReturnType<typeof createEventEvaluator>;
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

/** Gives the pure function that applies the connector's event rules; `selected` are the tables that are mirrored. */
export function createEventEvaluator(declaration: ConnectorDeclaration, selected: ReadonlySet<string>) {
  const rules = new Map(declaration.events.map((rule) => [rule.type, rule]));
  return (delivery: Delivery): EventEvaluation => {
    if (!delivery.readable) return unhandled("unreadable", "the body is no JSON object");
    const rule = delivery.type === null ? undefined : rules.get(delivery.type);
    if (!rule) return unhandled("unknown", "no such type of event is known");
    return evaluate(delivery, rule, selected);
  };
}

function evaluate(delivery: Delivery, rule: EventRule, selected: ReadonlySet<string>): EventEvaluation {
  const { resourceType, resourceId } = delivery;
  if (resourceType !== rule.resourceType)
    return unhandled("unknown", `resource.type is not ${rule.resourceType}, as it is for ${rule.type}`);
  if (resourceId === null) return unhandled("unknown", "resource.id is not the id of a record");
  const { resource, action } = rule;
  if (resource === null || action === "keep")
    return { state: "kept", resource, target: null, kind: null, problem: null };
  const target = recordTarget(resourceId);
  if (!selected.has(resource)) return { state: "excluded", resource, target, kind: null, problem: null };
  const kind = action === "confirm" ? "confirm" : "detail";
  return { state: "waiting", resource, target, kind, problem: null };
}

function unhandled(state: "unknown" | "unreadable", problem: string): EventEvaluation {
  return { state, resource: null, target: null, kind: null, problem };
}

/**
 * Follow-up work of one transaction's events: one work item for each record, however many events are about it,
 * and one change-log row for each event about something that cannot be read.
 */
function createFollowUps(mirror: Mirror, queue: WorkQueue, receivedAtMs: number) {
  const dirtySeq = mirror.sequence.next();
  const work = new Map<string, NewWorkItem>();
  const facts = { receivedAtMs, requestId: null, run: null };
  const stamp: ReadStamp = { cause: "webhook", sentSeq: dirtySeq, receivedSeq: dirtySeq, ...facts };
  const addWork = (delivery: Delivery, { resource, target, kind }: EventEvaluation): void => {
    if (resource === null || target === null || kind === null) return;
    const key = `${resource} ${target}`;
    // One event that speaks of a deletion is enough to ask for proof, whatever the others say.
    const strongest = work.get(key)?.kind === "confirm" ? "confirm" : kind;
    const reason = delivery.type ?? "event";
    work.set(key, { kind: strongest, resource, target, lane: "webhook", reason, dirtySeq });
  };
  const keepEvent = ({ type, resourceId, body }: Delivery, { resource }: EventEvaluation): void => {
    if (type === null || resourceId === null || typeof body !== "string") return;
    const about = resource ?? snakeCase(type.split(".", 1)[0] ?? type);
    mirror.log.addEvent(stamp, about, resourceId, body);
  };
  return {
    /** Greater than the sequence number of any read sent so far: only a later read answers these events (I4). */
    dirtySeq,
    add(delivery: Delivery, evaluation: EventEvaluation): void {
      if (evaluation.state === "kept") keepEvent(delivery, evaluation);
      else if (evaluation.state === "waiting") addWork(delivery, evaluation);
    },
    /** Queues the work. To be called before the transaction ends. */
    commit(): void {
      for (const item of work.values()) queue.add(item);
    },
  };
}

type FollowUps = ReturnType<typeof createFollowUps>;

/** Up to so many events of one transaction get a line each; more are a burst: one line, and the rest at debug. */
const maxLines = 8;

/** Logs the events of one transaction: new ones at info, those without follow-up work at warn, duplicates at debug. */
export function logStored(log: Log, company: string, results: readonly ReceivedResult[]): void {
  const stored = results.filter(({ outcome }) => outcome === "stored");
  const isBurst = stored.length > maxLines;
  for (const result of stored) {
    const isUnhandled = result.state === "unknown" || result.state === "unreadable";
    const level = isBurst ? "debug" : isUnhandled ? "warn" : "info";
    // What it means is decided by whoever stores it in the mirror.
    const what = result.state === undefined ? "an event was received" : "an event was stored";
    log[level](what, fieldsOf(company, result));
  }
  for (const result of results)
    if (result.outcome === "duplicate")
      log.debug("a duplicate event was received", fieldsOf(company, result));
  if (!isBurst) return;
  const types = [...new Set(stored.map(({ type }) => type))];
  log.info("events were stored", { company, events: stored.length, first: stored[0]?.eventId, types });
}

function fieldsOf(company: string, { eventId, type, resource, id, state }: ReceivedResult): LogFields {
  const facts = { company, webhook_id: eventId, type };
  return state === undefined ? facts : { ...facts, resource, id, state };
}
