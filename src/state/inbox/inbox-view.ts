import { canonicalId, type RecordId } from "../../base/ids.ts";
import type { Db } from "../../store/database.ts";
import { Statements } from "../../store/statements.ts";
import type { EventOutcome, InboxState } from "./inbox.ts";

/** A stored event, and the state of its read while it waits for one. Times are ISO. */
export interface InboxRow {
  readonly eventId: string;
  readonly type: string | null;
  readonly resourceType: string | null;
  readonly resourceId: RecordId | null;
  readonly occurredAt: string | null;
  readonly receivedAt: string;
  readonly state: InboxState;
  readonly resource: string | null;
  readonly target: string | null;
  readonly doneAt: string | null;
  readonly outcome: EventOutcome | null;
  readonly requestId: string | null;
  readonly problem: string | null;
  /** The queued item of a waiting event; `dead` is a dead letter. */
  readonly work: InboxWork | null;
}

interface InboxWork {
  readonly state: "ready" | "dead" | "held";
  readonly error: string | null;
  readonly attempts: number;
}

/** Which events are listed. */
export interface InboxFilter {
  readonly eventId?: string;
  readonly state?: InboxState;
  readonly type?: string;
  readonly resource?: string;
  /** ISO, received at or after. */
  readonly since?: string;
  readonly most: number;
}

type SelectedRow = Omit<InboxRow, "resourceId" | "work"> & {
  readonly resourceId: bigint | null;
  readonly workState: InboxWork["state"] | null;
  readonly workError: string | null;
  readonly workAttempts: bigint | null;
};

/** The inbox as people look at it, on any connection; empty in a mirror that is older than the table. */
export class InboxView {
  private readonly statements: Statements;
  private readonly isPresent: boolean;

  constructor(db: Db) {
    this.statements = new Statements(db);
    const sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_inbox'";
    this.isPresent = this.statements.column(sql).length > 0;
  }

  /** The latest first. */
  list(filter: InboxFilter): InboxRow[] {
    if (!this.isPresent) return [];
    const { eventId = null, state = null, type = null, resource = null, since = "", most } = filter;
    const rows = this.statements
      .get(
        `SELECT i.event_id AS eventId, i.type, i.resource_type AS resourceType, i.resource_id AS resourceId,
           i.occurred_at AS occurredAt, i.received_at AS receivedAt, i.state, i.resource, i.target,
           i.settled_at AS doneAt, i.outcome, i.request_id AS requestId, i.problem,
           w.state AS workState, w.error AS workError, w.attempts AS workAttempts
         FROM _inbox i LEFT JOIN _work w ON i.state = 'waiting' AND w.resource = i.resource AND w.target = i.target
         WHERE (@eventId IS NULL OR i.event_id = @eventId) AND (@state IS NULL OR i.state = @state)
           AND (@type IS NULL OR i.type = @type) AND (@resource IS NULL OR i.resource = @resource)
           AND i.received_at >= @since
         ORDER BY i.rowid DESC LIMIT @most`,
      )
      .safeIntegers(true)
      .all({ eventId, state, type, resource, since, most });
    return (rows as SelectedRow[]).map(({ workState, workError, workAttempts, resourceId, ...row }) => ({
      ...row,
      resourceId: resourceId === null ? null : canonicalId(resourceId),
      work:
        workState === null ? null : { state: workState, error: workError, attempts: Number(workAttempts) },
    }));
  }

  /** How many events are in each state. */
  counts(): Partial<Record<InboxState, number>> {
    const sql = "SELECT state, count(*) AS count FROM _inbox GROUP BY state";
    const rows = this.isPresent ? this.statements.all<{ state: InboxState; count: number }>(sql) : [];
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }

  waiting(): number {
    return Number(this.first("SELECT count(*) FROM _inbox WHERE state = 'waiting'") ?? 0);
  }

  /** ISO; null: nothing waits. */
  oldestWaiting(): string | null {
    return this.first("SELECT min(received_at) FROM _inbox WHERE state = 'waiting'") as string | null;
  }

  /** ISO; null: nothing ever came. */
  lastReceived(): string | null {
    return this.first("SELECT received_at FROM _inbox ORDER BY rowid DESC LIMIT 1") as string | null;
  }

  /** Waiting events whose read was given up or is held. */
  stuck(): number {
    const sql = `SELECT count(*) FROM _inbox i JOIN _work w ON w.resource = i.resource AND w.target = i.target
      WHERE i.state = 'waiting' AND w.state <> 'ready'`;
    return Number(this.first(sql) ?? 0);
  }

  /** Types of unknown events, the most frequent first. */
  unknownTypes(most = 5): { readonly type: string | null; readonly count: number }[] {
    if (!this.isPresent) return [];
    const sql = `SELECT type, count(*) AS count FROM _inbox WHERE state = 'unknown'
      GROUP BY type ORDER BY count(*) DESC, type LIMIT ?`;
    return this.statements.all(sql, most);
  }

  /** Ids of the events received at or after `since` (ISO), of one state or of all, in the order they came. */
  idsSince(since: string, state: InboxState | null): string[] {
    if (!this.isPresent) return [];
    const sql =
      "SELECT event_id FROM _inbox WHERE received_at >= ? AND state = ifnull(?, state) ORDER BY rowid";
    return this.statements.column(sql, since, state);
  }

  private first(sql: string): unknown {
    return this.isPresent ? (this.statements.column(sql)[0] ?? null) : null;
  }
}
