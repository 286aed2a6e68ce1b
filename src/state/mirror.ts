import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { systemClock, type Clock } from "../base/clock.ts";
import type { RecordId } from "../base/ids.ts";
import { resourceNamed, type Manifest } from "../connector/connector-manifest.ts";
import type { Resource } from "../connector/resource.ts";
import { ChangeLog, createViews } from "../store/apply/change-log.ts";
import { planTable, type Column } from "../store/tables/table-plan.ts";
import type { NewColumn } from "../store/tables/unknown-columns.ts";
import { Fences } from "../store/apply/fences.ts";
import { growTable, refillOlder, restoreGrowth } from "../store/tables/column-growth.ts";
import { Meta } from "./meta.ts";
import { migrate } from "../store/migrations/migrate.ts";
import { Quarantine } from "./quarantine.ts";
import type { ReadStamp } from "../store/apply/read-stamp.ts";
import { Records } from "../store/tables/records.ts";
import { ResourceTable, type TableContext } from "../store/apply/resource-table.ts";
import { Sequence } from "./sequence.ts";
import { guarded, inTransaction, openDatabase, type Db } from "../store/database.ts";
import { ensureTables } from "../store/tables/table-statements.ts";

/** What the store noticed while it wrote, for the log and the report. */
export interface StoreNotices {
  readonly onNewColumn?: (column: NewColumn) => void;
  readonly onMissing?: (resource: string, paths: readonly string[]) => void;
  readonly onUnkept?: (resource: string, paths: readonly string[]) => void;
}

/**
 * The live mirror of one company.
 *
 * Guarantee: rows, child rows, change log, tombstones, follow-up work and the removal of the work done
 * commit together or not at all (I1). Source of truth: the service; this file can be made again from it.
 * Worst outcome of a crash: the reads that were in flight are made once more.
 */
export class Mirror {
  readonly db: Db;
  readonly manifest: Manifest;
  readonly meta: Meta;
  readonly sequence: Sequence;
  readonly fences = new Fences();
  readonly quarantine: Quarantine;
  readonly records: Records;
  private readonly log: ChangeLog;
  private readonly notices: StoreNotices;
  private readonly tables = new Map<string, ResourceTable>();
  private readonly clock: Clock;
  private grown = new Set<string>();
  /** Told after the commit: what is rolled back was never there. */
  private newColumns: NewColumn[] = [];

  constructor(db: Db, manifest: Manifest, notices: StoreNotices, clock: Clock) {
    this.db = db;
    this.clock = clock;
    this.manifest = manifest;
    this.notices = notices;
    this.meta = new Meta(db);
    this.sequence = new Sequence(db, this.meta);
    this.quarantine = new Quarantine(db);
    this.records = new Records(db);
    this.log = new ChangeLog(db);
    for (const resource of manifest.resources) this.openTable(resource);
    createViews(db, [...this.tables.keys()]);
  }

  table(resource: string): ResourceTable {
    const table = this.tables.get(resource);
    if (!table) throw new Error(`broken promise: ${resource} has a table`);
    return table;
  }

  /** The one door: everything that one answer means, in one transaction. */
  apply<T>(step: () => T): T {
    this.grown.clear();
    this.newColumns = [];
    try {
      const result = inTransaction(this.db, () => {
        this.log.begin();
        const stepped = step();
        this.sequence.save();
        return stepped;
      });
      for (const column of this.newColumns) this.notices.onNewColumn?.(column);
      return result;
    } catch (error) {
      for (const name of this.grown) this.openTable(resourceNamed(this.manifest, name));
      throw error;
    }
  }

  /** Within `apply`: an event of something that has no route to read goes into the change log as it came (I12). */
  keepEvent(reading: ReadStamp, resource: string, id: RecordId, body: string): void {
    this.log.addEvent(reading, resource, id, body);
  }

  close(): void {
    guarded(this.db.name, () => this.db.close());
  }

  /** Also after a rollback that took new columns with it. */
  private openTable(resource: Resource): void {
    const plan = planTable(resource);
    restoreGrowth(this.db, plan);
    inTransaction(this.db, () => {
      const added = ensureTables(this.db, plan);
      const table = new ResourceTable(this.context(), resource, plan);
      this.tables.set(resource.name, table);
      if (added.length > 0) this.backfill(table, new Set(added.map(({ column }) => column)));
    });
  }

  /** Fields that a newer connector knows: older rows have them in their JSON. */
  private backfill(table: ResourceTable, added: ReadonlySet<Column>): void {
    this.log.begin();
    const { sequence } = this;
    const seqs = { sentSeq: sequence.next(), receivedSeq: sequence.next() };
    const reading = {
      ...seqs,
      cause: "schema",
      receivedAtMs: this.clock.nowMs(),
      requestId: null,
      run: null,
    } as const;
    refillOlder(this.db, table, added, reading);
  }

  private context(): TableContext {
    return {
      db: this.db,
      log: this.log,
      fences: this.fences,
      onStamped: () => this.sequence.markStored(),
      quarantine: this.quarantine,
      onMissing: (resource, paths) => this.notices.onMissing?.(resource, paths),
      onUnkept: (resource, paths) => this.notices.onUnkept?.(resource, paths),
      onUnknown: (table, unknown, reading: ReadStamp) => {
        this.grown.add(table.resource.name);
        this.newColumns.push(...growTable(this.db, table, unknown, reading));
      },
    };
  }
}

/** Opens or creates the mirror for writing. The caller holds the writer lock. */
export async function openMirror(
  path: string,
  manifest: Manifest,
  notices: StoreNotices = {},
  clock: Clock = systemClock,
): Promise<Mirror> {
  guarded(path, () => mkdirSync(dirname(path), { recursive: true }));
  const db = openDatabase(path);
  try {
    await migrate(db);
    return guarded(path, () => new Mirror(db, manifest, notices, clock));
  } catch (error) {
    db.close();
    throw error;
  }
}
