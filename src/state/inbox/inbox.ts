import type { RecordId } from "../../base/ids.ts";
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

/**
 * `waiting`: its read is in the queue. `kept`: there is nothing to read. `excluded`: its table is not mirrored.
 * `unknown`: an event of a type or shape that the connector does not know. `unreadable`: signed, but no JSON object.
 */
export type InboxState = "waiting" | "done" | "kept" | "excluded" | "unknown" | "unreadable";

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
export type EventOutcome = "inserted" | "updated" | "unchanged" | "deleted" | "absent" | "quarantined";

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
    const { eventId, type, resourceType, resourceId, occurredAt, body } = delivery;
    const { state, resource, target, problem } = evaluation;
    const event = [eventId, type, resourceType, resourceId, occurredAt, receivedAt, body];
    const sql = `INSERT INTO _inbox (event_id, type, resource_type, resource_id, occurred_at, received_at, body,
      state, resource, target, dirty_seq, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    this.execute(sql, ...event, state, resource, target, dirtySeq, problem);
  }

  /** The record was read: completes the events that came before the read was sent (I4), and returns them. */
  complete(resource: string, target: string, sentSeq: number, read: Completion): CompletedEvent[] {
    const { outcome, requestId, at } = read;
    const sql = `UPDATE _inbox SET state = 'done', settled_at = ?, outcome = ?, request_id = ?, problem = NULL
      WHERE state = 'waiting' AND resource = ? AND target = ? AND dirty_seq <= ?
      RETURNING event_id AS eventId, type`;
    return this.selectAll(sql, at, outcome, requestId, resource, target, sentSeq);
  }

  /** By its number, as EventIds finds it. */
  find(seq: number): StoredEvent | null {
    const sql = "SELECT event_id AS eventId, state, body FROM _inbox WHERE seq = ?";
    return this.selectAll<StoredEvent>(sql, seq)[0] ?? null;
  }

  /** Replaces what a stored event means. */
  reevaluate(seq: number, evaluation: EventEvaluation, dirtySeq: number | null): void {
    const { state, resource, target, problem } = evaluation;
    const sql = `UPDATE _inbox SET state = ?, resource = ?, target = ?, dirty_seq = ?, problem = ?,
      settled_at = NULL, outcome = NULL, request_id = NULL WHERE seq = ?`;
    this.execute(sql, state, resource, target, dirtySeq, problem, seq);
  }

  /** Ids of events that wait for a read that is not queued, or whose table is no longer among `selected`. */
  lost(selected: Iterable<string>): string[] {
    const sql = `SELECT event_id FROM _inbox i WHERE state = 'waiting' AND (
      resource NOT IN (SELECT value FROM json_each(?)) OR NOT EXISTS
        (SELECT 1 FROM _work w WHERE w.resource = i.resource AND w.target = i.target))`;
    return this.selectColumn(sql, JSON.stringify([...selected]));
  }
}
