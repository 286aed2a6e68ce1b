import type { OwnRow } from "../../store/own-tables/mirror-tables.ts";
import { count, statement } from "../../store/own-tables/statement.ts";
import { Repository } from "../../store/repository.ts";
import type { Delivery, EventEvaluation, EventOutcome, InboxState, StoredEvent } from "./inbox.ts";

/** A stored event, and the state of its read while it waits for one. Times are ISO. */
export interface InboxRow
  extends Omit<Delivery, "readable" | "body">, Pick<EventEvaluation, "resource" | "target" | "problem"> {
  readonly receivedAt: string;
  readonly state: InboxState;
  readonly doneAt: string | null;
  readonly outcome: EventOutcome | null;
  readonly requestId: string | null;
  /** The queued item of a waiting event; `dead` is a dead letter. */
  readonly work: InboxWork | null;
  /** Where it was asked for. A number: it was pruned, and had so many bytes. */
  readonly body?: StoredEvent["body"];
}

type InboxWork = Pick<OwnRow<"_work">, "state" | "error" | "attempts">;

/** Which events are listed. */
export interface InboxFilter {
  readonly state?: InboxState;
  readonly resource?: string;
  /** ISO, received at or after. */
  readonly since?: string;
  /** Only these, by their numbers. */
  readonly seqs?: readonly number[];
  readonly most: number;
}

type SelectedRow = Omit<InboxRow, "work" | "body"> &
  Record<"body", StoredEvent["body"] | null> & {
    readonly [F in keyof InboxWork as `work_${F}`]: InboxWork[F] | null;
  };

/** The inbox as people look at it, on any connection. */
export class InboxView extends Repository {
  /** The latest first. */
  list(filter: InboxFilter): InboxRow[] {
    const sql = `SELECT i.event_id AS eventId, i.type, i.resource_type AS resourceType, i.resource_id AS resourceId,
        i.occurred_at AS occurredAt, i.received_at AS receivedAt, i.state, i.resource, i.target,
        i.done_at AS doneAt, i.outcome, i.request_id AS requestId, i.problem, iif(@seqs IS NULL, NULL, i.body) AS body,
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

  /** How many events are in each state. */
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
