import type { Db, Statement } from "../../store/database.ts";
import type { WorkKind } from "../work-item.ts";
import type { RecordId } from "../../base/ids.ts";

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

/** What an event's read came to. */
export type Outcome = "inserted" | "updated" | "unchanged" | "deleted" | "absent" | "quarantined";

export interface Settlement {
  readonly outcome: Outcome;
  readonly requestId: string | null;
  /** ISO. */
  readonly at: string;
}

export interface SettledEvent {
  readonly eventId: string;
  readonly type: string;
}

export interface StoredEvent {
  readonly eventId: string;
  readonly state: InboxState;
  readonly body: string | Buffer;
}

/**
 * The events that were delivered, each once and for ever: EventIds knows which are there (I7).
 *
 * Written inside the door's transactions only: an event and its mark in the queue commit together, and so do
 * a read's rows and the settling of the events that asked for it (I1, I6). Source of truth: for what was
 * signed and answered, this table. Worst outcome of a crash: an event that was not answered comes again.
 */
export class Inbox {
  private readonly insertEvent: Statement;
  private readonly settleWaiting: Statement;
  private readonly select: Statement;
  private readonly update: Statement;
  private readonly selectLost: Statement;

  constructor(db: Db) {
    this.insertEvent = db.prepare(
      `INSERT INTO _inbox (event_id, type, resource_type, resource_id, occurred_at, received_at, body, state,
         resource, target, dirty_seq, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.settleWaiting = db.prepare(
      `UPDATE _inbox SET state = 'done', settled_at = ?, outcome = ?, request_id = ?, problem = NULL
       WHERE state = 'waiting' AND resource = ? AND target = ? AND dirty_seq <= ?
       RETURNING event_id AS eventId, type`,
    );
    this.update = db.prepare(
      `UPDATE _inbox SET state = ?, resource = ?, target = ?, dirty_seq = ?, problem = ?,
         settled_at = NULL, outcome = NULL, request_id = NULL WHERE seq = ?`,
    );
    this.select = db.prepare("SELECT event_id AS eventId, state, body FROM _inbox WHERE seq = ?");
    this.selectLost = db
      .prepare(
        `SELECT event_id FROM _inbox i WHERE state = 'waiting' AND (
           resource NOT IN (SELECT value FROM json_each(?)) OR NOT EXISTS
             (SELECT 1 FROM _work w WHERE w.resource = i.resource AND w.target = i.target))`,
      )
      .pluck();
  }

  /** Of an event that is not known yet: see EventIds. */
  insert(delivery: Delivery, receivedAt: string, verdict: EventEvaluation, dirtySeq: number | null): void {
    this.insertEvent.run(
      delivery.eventId,
      delivery.type,
      delivery.resourceType,
      delivery.resourceId,
      delivery.occurredAt,
      receivedAt,
      delivery.body,
      verdict.state,
      verdict.resource,
      verdict.target,
      dirtySeq,
      verdict.problem,
    );
  }

  /** The record was read; events that came after the read was sent stay (I4). Gives those that were settled. */
  settle(
    resource: string,
    target: string,
    sentSeq: number,
    { outcome, requestId, at }: Settlement,
  ): SettledEvent[] {
    return this.settleWaiting.all(at, outcome, requestId, resource, target, sentSeq) as SettledEvent[];
  }

  /** By its number, as EventIds finds it. */
  get(seq: number): StoredEvent | null {
    return (this.select.get(seq) as StoredEvent | undefined) ?? null;
  }

  /** The same event once more, judged anew. */
  judgeAgain(seq: number, verdict: EventEvaluation, dirtySeq: number | null): void {
    const { state, resource, target, problem } = verdict;
    this.update.run(state, resource, target, dirtySeq, problem, seq);
  }

  /** Events that wait for a read that nobody makes: it is not in the queue, or its table is mirrored no more. */
  lost(selected: Iterable<string>): string[] {
    return this.selectLost.all(JSON.stringify([...selected])) as string[];
  }
}
