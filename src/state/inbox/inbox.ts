import type { RecordId } from "../../base/ids.ts";
import type { OwnRow } from "../../store/own-tables/mirror-tables.ts";
import { updateRows } from "../../store/own-tables/own-rows.ts";
import { statement } from "../../store/own-tables/statement.ts";
import { Repository } from "../../store/repository.ts";
import type { WorkKind } from "../work-item.ts";

/** One delivered event, taken apart. What cannot be read is kept as it came (I12). */
export interface Delivery {
  /** The signed id; of an unreadable body, made of its bytes. */
  readonly eventId: string;
  readonly readable: boolean;
  readonly type: string | null;
  readonly resourceType: string | null;
  readonly resourceId: RecordId | null;
  readonly occurredAt: string | null;
  /** As it was sent: text, or the bytes where they are no UTF-8. */
  readonly body: string | Buffer;
}

export type InboxState = OwnRow<"_inbox">["state"];

/** What an event means to this mirror. */
export interface EventEvaluation {
  readonly state: Exclude<InboxState, "done">;
  readonly resource: string | null;
  readonly target: string | null;
  /** How it is read, where it waits for a read. */
  readonly kind: WorkKind | null;
  readonly problem: string | null;
}

/** What the read of an event's record changed. */
export type EventOutcome = NonNullable<OwnRow<"_inbox">["outcome"]>;

/** The read that completes events. */
export interface Completion {
  readonly outcome: EventOutcome;
  readonly requestId: string | null;
  /** ISO. */
  readonly at: string;
}

/** An event whose record was read. */
export interface CompletedEvent {
  readonly eventId: string;
  readonly type: string;
}

/** An event as the inbox keeps it. */
export interface StoredEvent extends Pick<Delivery, "eventId"> {
  /** A number: it was pruned, and had so many bytes. */
  readonly body: Delivery["body"] | number;
  readonly state: InboxState;
}

/**
 * The events that were delivered, each once and for ever; EventIds knows which are there (I7).
 *
 * Guarantee: an event commits with its queued work, and a read's rows with the completion of the events that asked
 * for it (I1, I6).
 * Source of truth: table `_inbox`, for everything that was signed and answered.
 * Worst outcome of a crash: an event that was not answered is sent again by the service.
 */
export class Inbox extends Repository {
  /** Adds an event that EventIds does not know. `dirtySeq` is the number of its reason to read, if it waits. */
  insert(delivery: Delivery, receivedAt: string, evaluation: EventEvaluation, dirtySeq: number | null): void {
    insert.run(this.db, { ...delivery, ...evaluation, receivedAt, dirtySeq });
  }

  /** The record was read: completes the events that came before the read was sent (I4), and returns them. */
  complete(resource: string, target: string, sentSeq: number, read: Completion): CompletedEvent[] {
    return complete.all(this.db, { ...read, resource, target, sentSeq });
  }

  /** By its number, as EventIds finds it. */
  find(seq: number): StoredEvent | null {
    return bySeq.first(this.db, { seq }) ?? null;
  }

  /** Replaces what a stored event means. */
  reevaluate(seq: number, evaluation: EventEvaluation, dirtySeq: number | null): void {
    const { kind: _kind, ...meaning } = evaluation;
    const unread = { done_at: null, outcome: null, request_id: null };
    updateRows(this.db, "_inbox", { ...meaning, ...unread, dirty_seq: dirtySeq }, { seq });
  }

  /** Ids of events that wait for a read that is not queued, or whose table is no longer among `selected`. */
  lost(selected: Iterable<string>): string[] {
    const sql = `SELECT event_id FROM _inbox i WHERE state = 'waiting' AND (
      resource NOT IN (SELECT value FROM json_each(?)) OR NOT EXISTS
        (SELECT 1 FROM _work w WHERE w.resource = i.resource AND w.target = i.target))`;
    return this.selectColumn(sql, JSON.stringify([...selected]));
  }
}

type Inserted = Delivery &
  EventEvaluation & { readonly receivedAt: string; readonly dirtySeq: number | null };
const insert = statement((db, p: Inserted) =>
  db.insertInto("_inbox").values({
    event_id: p.eventId,
    type: p.type,
    resource_type: p.resourceType,
    resource_id: p.resourceId,
    occurred_at: p.occurredAt,
    received_at: p.receivedAt,
    body: p.body,
    state: p.state,
    resource: p.resource,
    target: p.target,
    dirty_seq: p.dirtySeq,
    problem: p.problem,
  }),
);
type Completed = Completion & {
  readonly resource: string;
  readonly target: string;
  readonly sentSeq: number;
};
const complete = statement((db, p: Completed) => {
  const done = { done_at: p.at, outcome: p.outcome, request_id: p.requestId, problem: null };
  const waiting = db
    .updateTable("_inbox")
    .set({ state: "done", ...done })
    .where("dirty_seq", "<=", p.sentSeq);
  const asked = waiting.where((i) => i.and({ state: "waiting", resource: p.resource, target: p.target }));
  return asked.returning(["event_id as eventId", "type"]).$narrowType<{ type: string }>();
});
const bySeq = statement((db, p: { seq: number }) =>
  db.selectFrom("_inbox").select(["event_id as eventId", "state", "body"]).where("seq", "=", p.seq),
);
