import type { RecordId } from "../../base/ids.ts";
import type { OwnRow } from "../../store/own-tables/mirror-tables.ts";
import { count, updateRows, statement, Repository } from "../../store/own-tables/statement.ts";
import type { WorkKind } from "../../base/lane.ts";

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

export interface EventEvaluation {
  readonly state: Exclude<InboxState, "done">;
  readonly resource: string | null;
  readonly target: string | null;
  /** How it is read, where it waits for a read. */
  readonly kind: WorkKind | null;
  readonly problem: string | null;
}

export type EventOutcome = NonNullable<OwnRow<"_inbox">["outcome"]>;

interface Completion {
  readonly outcome: EventOutcome;
  readonly requestId: string | null;
  readonly at: string;
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
    // Named one by one: to spread both takes as long as to bind them.
    const { eventId, type, resourceType, resourceId, occurredAt, body } = delivery;
    const { state, resource, target, problem } = evaluation;
    const event = { eventId, type, resourceType, resourceId, occurredAt, receivedAt, body };
    insert.run(this.db, { ...event, state, resource, target, problem, dirtySeq });
  }

  /** The record was read: completes the events that came before the read was sent (I4), and returns them. */
  complete(resource: string, target: string, sentSeq: number, read: Completion) {
    return complete.all(this.db, { ...read, resource, target, sentSeq });
  }

  /** A body that is a number was pruned, and had so many bytes. */
  find(seq: number) {
    return bySeq.first(this.db, { seq }) ?? null;
  }

  reevaluate(seq: number, evaluation: EventEvaluation, dirtySeq: number | null): void {
    const { kind: _kind, ...meaning } = evaluation;
    const unread = { done_at: null, outcome: null, request_id: null };
    updateRows(this.db, "_inbox", { ...meaning, ...unread, dirty_seq: dirtySeq }, { seq });
  }

  /** Ids of events that wait for a read that is not queued, or whose table is not among `selected`. */
  lost(selected: Iterable<string>): string[] {
    const sql = `SELECT event_id FROM _inbox i WHERE state = 'waiting' AND (dirty_seq IS NULL
      OR resource NOT IN (SELECT value FROM json_each(?)) OR NOT EXISTS
        (SELECT 1 FROM _work w WHERE w.resource = i.resource AND w.target = i.target))`;
    return this.selectColumn(sql, JSON.stringify([...selected]));
  }
}

type Inserted = Omit<Delivery, "readable"> &
  Omit<EventEvaluation, "kind"> & { readonly receivedAt: string; readonly dirtySeq: number | null };
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

/** A stored event, and the state of its read while it waits for one. Times are ISO. */
export interface InboxRow extends Omit<OwnRow<"_inbox">, "seq" | "target" | "dirty_seq" | "body"> {
  /** The queued item of a waiting event; `dead` is a dead letter. */
  readonly work: InboxWork | null;
  /** Where it was asked for. A number: it was pruned, and had so many bytes. */
  readonly body?: OwnRow<"_inbox">["body"];
}

type InboxWork = Pick<OwnRow<"_work">, "state" | "error" | "attempts">;

interface InboxFilter {
  readonly state?: InboxState;
  readonly resource?: string;
  readonly since?: string;
  readonly seqs?: readonly number[];
  readonly most: number;
}

type SelectedRow = Omit<InboxRow, "work" | "body"> &
  Record<"body", OwnRow<"_inbox">["body"] | null> & {
    readonly [F in keyof InboxWork as `work_${F}`]: InboxWork[F] | null;
  };

/** The inbox as people look at it, on any connection. */
export class InboxView extends Repository {
  list(filter: InboxFilter): InboxRow[] {
    const sql = `SELECT i.event_id, i.type, i.resource, i.resource_type, i.resource_id, i.occurred_at, i.received_at,
        i.state, i.outcome, i.done_at, i.request_id, i.problem, iif(@seqs IS NULL, NULL, i.body) AS body,
        w.state AS work_state, w.error AS work_error, w.attempts AS work_attempts
      FROM _inbox i LEFT JOIN _work w ON i.state = 'waiting' AND w.resource = i.resource AND w.target = i.target
      WHERE (@state IS NULL OR i.state = @state) AND (@resource IS NULL OR i.resource = @resource)
        AND i.received_at >= @since ${filter.seqs ? "AND i.seq IN (SELECT value FROM json_each(@seqs))" : ""}
      ORDER BY i.rowid DESC LIMIT @most`;
    const { state = null, resource = null, since = "", most } = filter;
    const seqs = filter.seqs ? JSON.stringify(filter.seqs) : null;
    const rows = this.selectExact<SelectedRow>(sql, { state, resource, since, most, seqs });
    return rows.map(({ work_state, work_error: error, work_attempts, body, ...row }) => ({
      ...row,
      ...(body !== null && { body }),
      work: work_state && { state: work_state, error, attempts: work_attempts ?? 0 },
    }));
  }

  counts(): Partial<Record<InboxState, number>> {
    return Object.fromEntries(byState.all(this.db).map((found) => [found.state, found.count]));
  }

  waiting(): number {
    return waiting.value(this.db) ?? 0;
  }

  /** ISO; null: nothing waits. */
  oldestWaiting(): string | null {
    return oldestWaiting.value(this.db) ?? null;
  }

  /** ISO; null: nothing ever came. */
  lastReceived(): string | null {
    return lastReceived.value(this.db) ?? null;
  }

  /** Waiting events whose read was given up or is held. */
  stuck(): number {
    const sql = `SELECT count(*) FROM _inbox i JOIN _work w ON w.resource = i.resource AND w.target = i.target
      WHERE i.state = 'waiting' AND w.state <> 'ready'`;
    return this.selectColumn<number>(sql)[0] ?? 0;
  }

  /** Types of unknown events, the most frequent first. */
  unknownTypes(most = 5): { readonly type: string | null; readonly count: number }[] {
    const sql = `SELECT type, count(*) AS count FROM _inbox WHERE state = 'unknown'
      GROUP BY type ORDER BY count(*) DESC, type LIMIT ?`;
    return this.selectAll(sql, most);
  }

  /** Ids of the events received at or after `since` (ISO), of one state or of all, in the order they came. */
  idsSince(since: string, state: InboxState | null): string[] {
    const sql =
      "SELECT event_id FROM _inbox WHERE received_at >= ? AND state = ifnull(?, state) ORDER BY rowid";
    return this.selectColumn(sql, since, state);
  }
}

const byState = statement((db) => db.selectFrom("_inbox").select(["state", count]).groupBy("state"));
const waiting = statement((db) => db.selectFrom("_inbox").select(count).where("state", "=", "waiting"));
const oldestWaiting = statement((db) => {
  const at = db.fn.min<string | null>("_inbox.received_at").as("at");
  return db.selectFrom("_inbox").select(at).where("state", "=", "waiting");
});
const lastReceived = statement((db) =>
  db.selectFrom("_inbox").select("received_at").orderBy("seq", "desc").limit(1),
);
