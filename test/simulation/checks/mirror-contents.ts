import type { Db } from "../../support/truth/compare.ts";
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
interface MirrorRecord {
  readonly id: number;
  readonly isDeleted: boolean;
  readonly isProvisional: boolean;
  /** Null where there is a row and no JSON. */
  readonly json: string | null;
  /** Null where the last read is not remembered. */
  readonly kind: string | null;
  /** Does the remembered read say that the record is gone? */
  readonly gone: number | null;
}

/** A row of the change log. */
interface Change {
  readonly resource: TableName;
  readonly record_id: number;
  readonly op: string;
  readonly cause: string;
  readonly request_id: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** An event in the inbox. */
interface StoredEvent {
  readonly event_id: string;
  readonly type: string | null;
  readonly state: string;
  readonly resource: TableName;
  readonly target: string;
  readonly body: string | Buffer;
  /** What the read that completed it found, and the id of its request. */
  readonly outcome: string | null;
  readonly request_id: string | null;
}

const recordsSql = tableNames
  .map(
    (
      table,
    ) => `SELECT '${table}', t.id, t._deleted_at IS NOT NULL, t._detail_at IS NULL, r.json, f.source, f.gone
      FROM "${table}" t LEFT JOIN "_raw_${table}" r ON r.id = t.id LEFT JOIN "_fence_${table}" f ON f.id = t.id`,
  )
  .join(" UNION ALL ");

type RecordCells = [TableName, number, number, number, string | null, string | null, number | null];

/** What stands in a mirror that nobody writes, by plain SQL; each part is read once. */
export class MirrorContents {
  readonly db: Db;
  private allRecords: ReadonlyMap<TableName, ReadonlyMap<number, MirrorRecord>> | null = null;
  private allChanges: readonly Change[] | null = null;
  private allEvents: readonly StoredEvent[] | null = null;

  constructor(db: Db) {
    this.db = db;
  }

  /** Has it no tables? The power may take a new mirror along with its first transaction. */
  get isEmpty(): boolean {
    return this.db.prepare("SELECT 1 FROM sqlite_master WHERE name = '_changes'").get() === undefined;
  }

  /** By id. */
  records(table: TableName): ReadonlyMap<number, MirrorRecord> {
    this.allRecords ??= readRecords(this.db);
    return this.allRecords.get(table) ?? new Map();
  }

  /** Each record of each table. */
  *everyRecord(): Generator<{ readonly table: TableName } & MirrorRecord> {
    for (const table of tableNames)
      for (const record of this.records(table).values()) yield { table, ...record };
  }

  /** In their order, without rows that only keep an event. */
  get changes(): readonly Change[] {
    this.allChanges ??= this.db
      .prepare(
        "SELECT resource, record_id, op, cause, request_id, before, after FROM _changes WHERE op <> 'event' ORDER BY seq",
      )
      .all() as Change[];
    return this.allChanges;
  }

  /** In the order of arrival. */
  get events(): readonly StoredEvent[] {
    this.allEvents ??= this.db
      .prepare(
        "SELECT event_id, type, state, resource, target, body, outcome, request_id FROM _inbox ORDER BY seq",
      )
      .all() as StoredEvent[];
    return this.allEvents;
  }
}

function readRecords(db: Db): ReadonlyMap<TableName, ReadonlyMap<number, MirrorRecord>> {
  const all = new Map<TableName, Map<number, MirrorRecord>>();
  for (const table of tableNames) all.set(table, new Map());
  const rows = db.prepare(recordsSql).raw().iterate() as IterableIterator<RecordCells>;
  for (const [table, id, deleted, provisional, json, kind, gone] of rows) {
    const flags = { isDeleted: deleted === 1, isProvisional: provisional === 1 };
    all.get(table)?.set(id, { id, ...flags, json, kind, gone });
  }
  return all;
}
