import type { Db, LoggedChange, MirroredRecord } from "../../support/truth/compare.ts";
import type { SimulatedMachine } from "../machine/simulated-machine.ts";
import type { Witness } from "../service/service-truth.ts";
import { tableNames, type TableName } from "../service/service-types.ts";

/** What was seen of a simulation from outside the mirror. Times are those of the service's monotonic clock. */
export type Observation = Readonly<
  Pick<SimulatedMachine, "arrivals" | "acknowledged" | "deniedAtMs" | "receivedAtMs" | "asked" | "reads">
> & { readonly service: Witness };

/** Judges a mirror that nobody writes now; each line names what is wrong, none where nothing is. */
export type Check = (mirror: MirrorContents, seen: Observation) => string[];

/** What the mirror holds of one record, deleted ones too. */
export interface HeldRecord extends MirroredRecord {
  readonly table: TableName;
  readonly isProvisional: boolean;
  /** Null where the last read is not remembered. */
  readonly kind: string | null;
  /** Does the remembered read say that the record is gone? */
  readonly gone: number | null;
}

interface Change extends LoggedChange {
  readonly resource: TableName;
  readonly cause: string;
  readonly requestId: string | null;
}

interface StoredEvent {
  readonly id: string;
  readonly type: string | null;
  readonly state: string;
  readonly resource: TableName;
  readonly target: string;
  readonly body: string | Buffer;
  /** What the read that completed it found, and the id of its request. */
  readonly outcome: string | null;
  readonly requestId: string | null;
}

const changesSql = `SELECT resource, record_id AS id, op, cause, request_id AS requestId, before, after
  FROM _changes WHERE op <> 'event' ORDER BY seq`;
const eventsSql = `SELECT event_id AS id, type, state, resource, target, body, outcome, request_id AS requestId
  FROM _inbox ORDER BY seq`;

/** What stands in a mirror that nobody writes, by plain SQL; each part is read once. */
export class MirrorContents {
  readonly db: Db;
  private allRecords: ReadonlyMap<TableName, ReadonlyMap<number, HeldRecord>> | null = null;
  private allChanges: readonly Change[] | null = null;
  private allEvents: readonly StoredEvent[] | null = null;

  constructor(db: Db) {
    this.db = db;
  }

  column<T = string>(sql: string): T[] {
    return this.db.prepare(sql).pluck().all() as T[];
  }

  /** Has it no tables? The power may take a new mirror along with its first transaction. */
  get isEmpty(): boolean {
    return this.column("SELECT 1 FROM sqlite_master WHERE name = '_changes'").length === 0;
  }

  records(table: TableName): ReadonlyMap<number, HeldRecord> {
    this.allRecords ??= new Map(tableNames.map((name) => [name, recordsOf(this.db, name)]));
    return this.allRecords.get(table) ?? new Map();
  }

  *everyRecord(): Generator<HeldRecord> {
    for (const table of tableNames) yield* this.records(table).values();
  }

  /** In their order, without rows that only keep an event. */
  get changes(): readonly Change[] {
    this.allChanges ??= this.db.prepare(changesSql).all() as Change[];
    return this.allChanges;
  }

  /** In the order of arrival. */
  get events(): readonly StoredEvent[] {
    this.allEvents ??= this.db.prepare(eventsSql).all() as StoredEvent[];
    return this.allEvents;
  }
}

type RecordCells = [number, number, number, string | null, string | null, number | null];

function recordsOf(db: Db, table: TableName): ReadonlyMap<number, HeldRecord> {
  const sql = `SELECT t.id, t._deleted_at IS NOT NULL, t._detail_at IS NULL, r.json, f.source, f.gone
    FROM "${table}" t LEFT JOIN "_raw_${table}" r ON r.id = t.id LEFT JOIN "_fence_${table}" f ON f.id = t.id`;
  const rows = db.prepare(sql).raw().all() as RecordCells[];
  const records = rows.map(([id, deleted, provisional, json, kind, gone]): HeldRecord => {
    return { table, id, isDeleted: deleted === 1, isProvisional: provisional === 1, json, kind, gone };
  });
  return new Map(records.map((record) => [record.id, record]));
}
