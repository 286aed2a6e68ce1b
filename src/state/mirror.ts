import { dirname } from "node:path";
import { yieldToLoop } from "../base/cancellation.ts";
import { idsHeld, readEachHeld } from "../store/apply/held-record.ts";
import { stampWithoutRead } from "../store/apply/read-stamp.ts";
import { makeFolders } from "../base/files/atomic-file.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import { resourceNamed, type ConnectorDeclaration } from "../connector/connector-declaration.ts";
import type { Resource } from "../connector/resource.ts";
import { createViews } from "../store/apply/change-log.ts";
import { ResourceTable, type DeriveResult } from "../store/apply/resource-table.ts";
import { TableContext } from "../store/apply/table-context.ts";
import { silentLog, type Log } from "../base/logger.ts";
import { type LoopTurns, retryInTurn, retryWhileBusy, shareTurns } from "../store/transient-errors.ts";
import { guardOpenFiles, type OpenFiles } from "../store/open-files.ts";
import type { WriterLock } from "../store/writer-lock.ts";
import { guarded, guardWrites, inTransaction, openDatabase } from "../store/database.ts";
import type { Db, OwnedDb } from "../store/database.ts";
import { migrate } from "../store/migrations/migrate.ts";
import { Derivations, derivationVersion } from "../store/tables/derivations.ts";
import { Records } from "../store/tables/stored-records.ts";
import { finishTables, layOutTables } from "../store/tables/table-layout.ts";
import { planWithUnknown } from "../store/tables/unknown-columns.ts";
import { beginLog, findLog, readLog } from "./log-identity.ts";
import { assertConnector, Meta } from "./meta.ts";
import { highest, Repository, statement } from "../store/own-tables/statement.ts";

/**
 * Numbers the moments of this mirror: one more at each sending, each receiving and each reason to read again. Local
 * and only rising, so that no clock is trusted (I3, I4).
 *
 * Guarantee: after a restart, no number is given that a table holds already.
 * Source of truth: key `seq` of `_meta`, written with whatever a transaction stores, and the numbers of queued work,
 * open listings and waiting events.
 * Worst outcome of a crash: numbers that were given and not stored are given again; their requests ended with the
 * process.
 */
class Sequence extends Repository {
  private readonly meta = new Meta(this.db);
  private stored = false;
  private last = Math.max(
    Number(this.meta.get("seq") ?? 0),
    highest(this.db, "_work", "dirty_seq"),
    highest(this.db, "_listings", "started_seq"),
    // An event that found its record queued already is noted in the inbox alone.
    lastWaiting.value(this.db) ?? 0,
  );

  next(): number {
    this.last += 1;
    return this.last;
  }

  /** Numbers up to this one are given already, although the mirror does not know it. In a transaction. */
  skipTo(seq: number): void {
    this.last = Math.max(this.last, seq);
    this.stored = true;
  }

  /** Call when a transaction stores a number, so that `save` stores how far the sequence is. */
  markStored(): void {
    this.stored = true;
  }

  /** Call at the end of each transaction. Writes nothing where no number was stored. */
  save(): void {
    if (this.stored) this.meta.set("seq", this.last);
    this.stored = false;
  }
}

/** Finds it in the index of what waits: the inbox keeps events for years. */
const lastWaiting = statement((db) => {
  const waiting = db.selectFrom("_inbox").where("state", "=", "waiting");
  return waiting.select(db.fn.max<number | null>("dirty_seq").as("seq"));
});

/**
 * The live mirror of one company: the tables of its resources, and what is written with them.
 *
 * Guarantee: rows, child rows, change log, tombstones, follow-up work and the removal of the work done commit
 * together or not at all (I1).
 * Source of truth: the service; this file can be made again from it.
 * Worst outcome of a crash: the reads that were in flight are made once more.
 */
export class Mirror extends TableContext {
  readonly declaration: ConnectorDeclaration;
  readonly meta = new Meta(this.db);
  override readonly sequence = new Sequence(this.db);
  readonly records = new Records(this.db);
  readonly derivations = new Derivations(this.db);
  private readonly tables = new Map<string, ResourceTable>();
  private readonly files: OpenFiles | null;

  /** @param files null: nobody else can write the mirror */
  constructor(db: Db, declaration: ConnectorDeclaration, log: Log, files: OpenFiles | null) {
    super(db, log, readLog(db).first);
    this.files = files;
    this.declaration = declaration;
    // One transaction: a new mirror waits for the disk once, and not for each of its tables.
    inTransaction(db, () => {
      for (const resource of declaration.resources) {
        const isChanged = layOutTables(db, planWithUnknown(db, resource));
        this.derivations.begin(resource.name, derivationVersion(resource), isChanged);
        this.openTable(resource);
      }
      createViews(db, [...this.tables.keys()]);
    });
  }

  table(resource: string): ResourceTable {
    const table = this.tables.get(resource);
    if (!table) throw new Error(`broken promise: ${resource} has a table`);
    return table;
  }

  /**
   * The only way into the tables: runs everything that one answer means in one transaction, or as a part of the one
   * around it that can roll back alone.
   */
  apply<T>(step: () => T): T {
    const { tables, columns } = this.growth;
    const isWhole = !this.db.inTransaction;
    if (isWhole) tables.clear();
    const known = isWhole ? 0 : columns.length;
    columns.length = known;
    try {
      const result = inTransaction(this.db, () => {
        this.log.begin();
        this.differences.begin();
        const stepped = step();
        this.sequence.save();
        return stepped;
      });
      if (isWhole) for (const column of columns) this.notices.newColumn(column);
      return result;
    } catch (error) {
      // The rollback removed their new columns.
      columns.length = known;
      for (const name of tables) this.openTable(resourceNamed(this.declaration, name));
      throw error;
    }
  }

  close(): void {
    guarded(this.db.name, () => {
      try {
        this.files?.rescueLog();
      } finally {
        this.db.close();
      }
    });
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Reads only: after a rollback the next transaction may fail, too. */
  private openTable(resource: Resource): void {
    this.tables.set(resource.name, new ResourceTable(this, resource, planWithUnknown(this.db, resource)));
  }
}

interface OpenOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** Ends the deriving of rows between two transactions; the next opening continues. */
  readonly signal?: AbortSignal;
  /** Without it no transaction checks that this process may still write. */
  readonly lock?: WriterLock;
  /** Shared with other mirrors: each transaction of a run, and each step of the opening, has one of its own. */
  readonly turns?: LoopTurns;
}

/**
 * Opens or creates the mirror for writing. The caller holds the writer lock. Where columns or decoding are others than
 * those of the version that wrote it, rows are first derived again from their JSON.
 *
 * @throws MirrorError `database`, `identity` for another connector's, or `stopped` where the signal aborted
 */
export async function openMirror(
  path: string,
  declaration: ConnectorDeclaration,
  { clock = systemClock, log = silentLog, signal, lock, turns }: OpenOptions = {},
): Promise<Mirror> {
  guarded(path, () => makeFolders(dirname(path)));
  const db = openDatabase(path);
  const files = lock ? guardOpenFiles(db, lock) : null;
  if (files) guardWrites(db, () => files.assertInPlace());
  if (turns) shareTurns(db, turns);
  try {
    const wait = { clock, log, signal: signal ?? new AbortController().signal };
    await retryInTurn(db, () => migrate(db), wait);
    const open = () => {
      assertConnector(db, declaration);
      if (!findLog(db)) beginLog(db, path, clock.nowMs());
      return new Mirror(db, declaration, log, files);
    };
    const mirror = await retryInTurn(db, () => guarded(path, () => inTransaction(db, open)), wait);
    for (const { name } of declaration.resources)
      await retryWhileBusy(db, () => deriveAgain(mirror, name, { clock, signal }), wait);
    return mirror;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens the database of a mirror that need not outlive this process, for what is only compared. Throws MirrorError `database`. */
export function openScratch(path: string): OwnedDb {
  const db = openDatabase(path);
  db.pragma("journal_mode = MEMORY");
  db.pragma("main.synchronous = OFF");
  // Nobody else can open it, and its locks are a third of what the comparison of a small company costs.
  db.pragma("main.locking_mode = EXCLUSIVE");
  migrate(db);
  return db;
}

/** Records of one transaction: less than 0.1 s of work, so that timers and other companies get their turn. */
const recordsAtOnce = 1_000;

/**
 * Derives the rows of a resource from their JSON where `Derivations` says so. Reports progress to the notices.
 *
 * Guarantee: at each commit, rows and change log fit together, and readers find each row as it was or as it is now.
 * Source of truth: `_raw_<resource>`, and `_derivations` for what is done.
 * Worst outcome of a crash: the next opening continues with the transaction that was cut off.
 *
 * @throws MirrorError `stopped` when the signal aborted
 */
async function deriveAgain(
  mirror: Mirror,
  resource: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const totals: Record<DeriveResult, number> = { same: 0, written: 0, unusable: 0 };
  const deriveSome = (table: ResourceTable, from: bigint) =>
    mirror.apply(() => {
      const { ids, next } = idsHeld(mirror.db, table.plan, from, recordsAtOnce);
      const stamp = stampWithoutRead("schema", clock);
      for (const [id, held] of readEachHeld(table, ids))
        totals[table.derive(id, stamp, undefined, held)] += 1;
      if (next === null) finishTables(mirror.db, table.plan);
      mirror.derivations.advance(resource, next);
      return next;
    });
  for (let from = mirror.derivations.nextId(resource); from !== null;) {
    from = deriveSome(mirror.table(resource), from);
    mirror.notices.derived({ resource, ...totals, isDone: from === null });
    if (from !== null) await yieldToLoop(signal, `stopped while the rows of ${resource} were derived again`);
  }
}
