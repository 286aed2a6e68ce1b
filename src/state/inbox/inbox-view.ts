import { canonicalId, type RecordId } from "../../base/ids.ts";
import type { Db } from "../../store/database.ts";
import type { InboxState, Outcome } from "./inbox.ts";

/** A delivery with its fate, and where its read stands while it waits for one. */
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
  readonly settledAt: string | null;
  readonly outcome: Outcome | null;
  readonly requestId: string | null;
  readonly problem: string | null;
  /** The queue's row of a waiting event: `dead` is a dead letter. */
  readonly work: InboxWork | null;
}

interface InboxWork {
  readonly state: "ready" | "dead" | "held";
  readonly error: string | null;
  readonly attempts: number;
}

export interface InboxFilter {
  readonly eventId?: string;
  readonly state?: InboxState;
  readonly type?: string;
  readonly resource?: string;
  /** ISO, received at or after. */
  readonly since?: string;
  readonly most: number;
}

/** The inbox as people look at it: any connection will do, also of a mirror that never had one. */
export class InboxView {
  private readonly db: Db;
  private readonly present: boolean;

  constructor(db: Db) {
    this.db = db;
    const table = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_inbox'");
    this.present = table.get() !== undefined;
  }

  /** The latest first. */
  list(filter: InboxFilter): InboxRow[] {
    if (!this.present) return [];
    const { eventId = null, state = null, type = null, resource = null, since = "", most } = filter;
    const rows = this.db
      .prepare(
        `SELECT i.event_id, i.type, i.resource_type, i.resource_id, i.occurred_at, i.received_at, i.state, i.resource,
           i.target, i.settled_at, i.outcome, i.request_id, i.problem,
           w.state AS work_state, w.error AS work_error, w.attempts AS work_attempts
         FROM _inbox i LEFT JOIN _work w ON i.state = 'waiting' AND w.resource = i.resource AND w.target = i.target
         WHERE (@eventId IS NULL OR i.event_id = @eventId) AND (@state IS NULL OR i.state = @state)
           AND (@type IS NULL OR i.type = @type) AND (@resource IS NULL OR i.resource = @resource)
           AND i.received_at >= @since
         ORDER BY i.rowid DESC LIMIT @most`,
      )
      .safeIntegers(true)
      .all({ eventId, state, type, resource, since, most });
    return (rows as Row[]).map(rowOf);
  }

  counts(): Partial<Record<InboxState, number>> {
    if (!this.present) return {};
    const rows = this.db.prepare("SELECT state, count(*) AS count FROM _inbox GROUP BY state").all();
    return Object.fromEntries(
      (rows as { state: InboxState; count: number }[]).map((r) => [r.state, r.count]),
    );
  }

  waiting(): number {
    return Number(this.one("SELECT count(*) FROM _inbox WHERE state = 'waiting'") ?? 0);
  }

  /** ISO; null: nothing waits. */
  oldestWaiting(): string | null {
    return this.one("SELECT min(received_at) FROM _inbox WHERE state = 'waiting'") as string | null;
  }

  /** ISO; null: nothing ever came. */
  lastReceived(): string | null {
    return this.one("SELECT received_at FROM _inbox ORDER BY rowid DESC LIMIT 1") as string | null;
  }

  /** Waiting events whose read was given up or is held. */
  stuck(): number {
    const sql = `SELECT count(*) FROM _inbox i JOIN _work w ON w.resource = i.resource AND w.target = i.target
      WHERE i.state = 'waiting' AND w.state <> 'ready'`;
    return Number(this.one(sql) ?? 0);
  }

  /** Types of unknown events, the most frequent first. */
  unknownTypes(most = 5): { readonly type: string | null; readonly count: number }[] {
    if (!this.present) return [];
    const sql = `SELECT type, count(*) AS count FROM _inbox WHERE state = 'unknown'
      GROUP BY type ORDER BY count(*) DESC, type LIMIT ?`;
    return this.db.prepare(sql).all(most) as { type: string | null; count: number }[];
  }

  /** Ids of the events received at or after `since` (ISO), of one state or of all, in the order they came. */
  idsSince(since: string, state: InboxState | null): string[] {
    if (!this.present) return [];
    const sql =
      "SELECT event_id FROM _inbox WHERE received_at >= ? AND state = ifnull(?, state) ORDER BY rowid";
    return this.db.prepare(sql).pluck().all(since, state) as string[];
  }

  private one(sql: string): unknown {
    return this.present ? (this.db.prepare(sql).pluck().get() ?? null) : null;
  }
}

interface Row {
  readonly event_id: string;
  readonly type: string | null;
  readonly resource_type: string | null;
  readonly resource_id: bigint | null;
  readonly occurred_at: string | null;
  readonly received_at: string;
  readonly state: InboxState;
  readonly resource: string | null;
  readonly target: string | null;
  readonly settled_at: string | null;
  readonly outcome: Outcome | null;
  readonly request_id: string | null;
  readonly problem: string | null;
  readonly work_state: InboxWork["state"] | null;
  readonly work_error: string | null;
  readonly work_attempts: bigint | null;
}

function rowOf(row: Row): InboxRow {
  const { work_state: state, work_error: error, work_attempts: attempts } = row;
  return {
    eventId: row.event_id,
    type: row.type,
    resourceType: row.resource_type,
    resourceId: row.resource_id === null ? null : canonicalId(row.resource_id),
    occurredAt: row.occurred_at,
    receivedAt: row.received_at,
    state: row.state,
    resource: row.resource,
    target: row.target,
    settledAt: row.settled_at,
    outcome: row.outcome,
    requestId: row.request_id,
    problem: row.problem,
    work: state === null ? null : { state, error, attempts: Number(attempts) },
  };
}
