import { canonicalId } from "../../base/ids.ts";
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

interface InboxWork {
  readonly state: "ready" | "dead" | "held";
  readonly error: string | null;
  readonly attempts: number;
}

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

type SelectedRow = Omit<InboxRow, "resourceId" | "work" | "body"> & {
  readonly body: string | Buffer | bigint | null;
  readonly resourceId: bigint | null;
  readonly workState: InboxWork["state"] | null;
  readonly workError: string | null;
  readonly workAttempts: bigint | null;
};

/** The inbox as people look at it, on any connection. */
export class InboxView extends Repository {
  /** The latest first. */
  list(filter: InboxFilter): InboxRow[] {
    const sql = `SELECT i.event_id AS eventId, i.type, i.resource_type AS resourceType, i.resource_id AS resourceId,
        i.occurred_at AS occurredAt, i.received_at AS receivedAt, i.state, i.resource, i.target,
        i.settled_at AS doneAt, i.outcome, i.request_id AS requestId, i.problem, iif(@seqs IS NULL, NULL, i.body) AS body,
        w.state AS workState, w.error AS workError, w.attempts AS workAttempts
      FROM _inbox i LEFT JOIN _work w ON i.state = 'waiting' AND w.resource = i.resource AND w.target = i.target
      WHERE (@state IS NULL OR i.state = @state) AND (@resource IS NULL OR i.resource = @resource)
        AND i.received_at >= @since ${filter.seqs ? "AND i.seq IN (SELECT value FROM json_each(@seqs))" : ""}
      ORDER BY i.rowid DESC LIMIT @most`;
    const { state = null, resource = null, since = "", most } = filter;
    const seqs = filter.seqs ? JSON.stringify(filter.seqs) : null;
    const select = this.statement(sql).safeIntegers();
    const rows = select.all({ state, resource, since, most, seqs }) as SelectedRow[];
    return rows.map(({ workState, workError, workAttempts, resourceId, body, ...row }) => ({
      ...row,
      ...(body === null ? {} : { body: typeof body === "bigint" ? Number(body) : body }),
      resourceId: resourceId === null ? null : canonicalId(resourceId),
      work: workState && { state: workState, error: workError, attempts: Number(workAttempts) },
    }));
  }

  /** How many events are in each state. */
  counts(): Partial<Record<InboxState, number>> {
    const sql = "SELECT state, count(*) AS count FROM _inbox GROUP BY state";
    const rows = this.selectAll<{ state: InboxState; count: number }>(sql);
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }

  waiting(): number {
    return this.selectColumn<number>("SELECT count(*) FROM _inbox WHERE state = 'waiting'")[0] ?? 0;
  }

  /** ISO; null: nothing waits. */
  oldestWaiting(): string | null {
    const sql = "SELECT min(received_at) FROM _inbox WHERE state = 'waiting'";
    return this.selectColumn<string | null>(sql)[0] ?? null;
  }

  /** ISO; null: nothing ever came. */
  lastReceived(): string | null {
    return this.selectColumn<string>("SELECT received_at FROM _inbox ORDER BY rowid DESC LIMIT 1")[0] ?? null;
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
