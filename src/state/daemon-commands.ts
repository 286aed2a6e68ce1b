import { isoTime } from "../base/clock.ts";
import { guarded, inTransaction, type Db } from "../store/database.ts";
import { Statements } from "../store/statements.ts";

export type DaemonCommandKind = "sync" | "replay";

/** What another process asks of the one that writes the mirror. */
export interface DaemonCommand {
  readonly id: number;
  readonly kind: DaemonCommandKind;
  readonly askedAt: string;
  /** Of the process that asks and waits for the answer. */
  readonly pid: number;
  /** As the asker wrote them. */
  readonly options: unknown;
  readonly state: "waiting" | "running" | "done" | "failed";
  /** The answer, or of one that is running how it stands; null while there is none. */
  readonly report: unknown;
  readonly settledAt: string | null;
}

/**
 * Orders to the process that holds the writer lock, in that mirror's own database: the asker adds one and
 * looks at it until it is settled, the writer takes the oldest.
 *
 * Guarantee: an order is begun once in the life of a writer. Source of truth: the row. Worst outcome of a
 * crash: the next writer begins an order again (both kinds may be done twice), or drops it with its asker.
 */
export class DaemonCommands {
  private readonly db: Db;
  private readonly statements: Statements;

  constructor(db: Db) {
    this.db = db;
    this.statements = new Statements(db);
  }

  add(
    kind: DaemonCommandKind,
    options: unknown,
    asker: { readonly atMs: number; readonly pid: number },
  ): number {
    const sql = "INSERT INTO _orders (kind, asked_at, pid, options) VALUES (?, ?, ?, ?)";
    const values = [kind, isoTime(asker.atMs), asker.pid, JSON.stringify(options)];
    return this.change(() => Number(this.statements.get(sql).run(...values).lastInsertRowid));
  }

  get(id: number): DaemonCommand | null {
    return this.read("SELECT * FROM _orders WHERE id = ?", id);
  }

  /** The oldest that waits; of one kind where the kinds are done by different hands. */
  next(kind?: DaemonCommandKind): DaemonCommand | null {
    const sql =
      "SELECT * FROM _orders WHERE state = 'waiting' AND kind = ifnull(?, kind) ORDER BY id LIMIT 1";
    return this.read(sql, kind ?? null);
  }

  /** Waiting and running, the oldest first. */
  open(): DaemonCommand[] {
    const sql = "SELECT * FROM _orders WHERE state IN ('waiting', 'running') ORDER BY id";
    return guarded(this.db.name, () => (this.statements.get(sql).all() as OrderRow[]).map(orderOf));
  }

  /** False: the asker has withdrawn it. */
  start(id: number): boolean {
    const sql = "UPDATE _orders SET state = 'running' WHERE id = ? AND state = 'waiting'";
    return this.change(() => this.statements.get(sql).run(id).changes === 1);
  }

  /** How it stands, for who waits for the answer. */
  progress(id: number, view: unknown): void {
    const sql = "UPDATE _orders SET report = ? WHERE id = ? AND state = 'running'";
    this.change(() => this.statements.get(sql).run(JSON.stringify(view), id));
  }

  finish(id: number, state: "done" | "failed", report: unknown, atMs: number): void {
    const sql = "UPDATE _orders SET state = ?, report = ?, settled_at = ? WHERE id = ?";
    const values = [state, JSON.stringify(report), isoTime(atMs), id];
    this.change(() => {
      this.statements.get(sql).run(...values);
      this.forgetOld(atMs);
    });
  }

  /** The asker no longer waits for it. False: it is already begun, or gone. */
  withdraw(id: number): boolean {
    const sql = "DELETE FROM _orders WHERE id = ? AND state = 'waiting'";
    return this.change(() => this.statements.get(sql).run(id).changes === 1);
  }

  /** The asker does it itself, or nobody does: the writer is gone. */
  forget(id: number): void {
    this.change(() => this.statements.get("DELETE FROM _orders WHERE id = ?").run(id));
  }

  /**
   * For a writer that begins: what an earlier one left running waits again; the orders of askers that are
   * gone, and answers nobody will read, are dropped. Gives how many open ones were dropped.
   */
  dropStale(alive: (pid: number) => boolean, nowMs: number): number {
    return inTransaction(this.db, () => {
      const orphans = this.open().filter((order) => !alive(order.pid));
      for (const { id } of orphans) this.statements.get("DELETE FROM _orders WHERE id = ?").run(id);
      this.statements
        .get("UPDATE _orders SET state = 'waiting', report = NULL WHERE state = 'running'")
        .run();
      this.forgetOld(nowMs);
      return orphans.length;
    });
  }

  /** A daemon lives for months. */
  private forgetOld(nowMs: number): void {
    this.statements.get("DELETE FROM _orders WHERE settled_at < ?").run(isoTime(nowMs - keptMs));
  }

  private change<T>(step: () => T): T {
    return inTransaction(this.db, step);
  }

  private read(sql: string, value: unknown): DaemonCommand | null {
    return guarded(this.db.name, () => {
      const row = this.statements.get(sql).get(value) as OrderRow | undefined;
      return row ? orderOf(row) : null;
    });
  }
}

/** Answers are looked at for so long at most. */
const keptMs = 7 * 86_400_000;

interface OrderRow {
  readonly id: number;
  readonly kind: string;
  readonly asked_at: string;
  readonly pid: number;
  readonly options: string;
  readonly state: string;
  readonly report: string | null;
  readonly settled_at: string | null;
}

function orderOf(row: OrderRow): DaemonCommand {
  return {
    id: row.id,
    kind: row.kind as DaemonCommandKind,
    askedAt: row.asked_at,
    pid: row.pid,
    options: JSON.parse(row.options) as unknown,
    state: row.state as DaemonCommand["state"],
    report: row.report === null ? null : (JSON.parse(row.report) as unknown),
    settledAt: row.settled_at,
  };
}

/**
 * A process of this machine, whoever's it is. Another container's number says nothing here: at worst an asker
 * that lives is taken for gone, finds its order dropped and asks anew, or a run is made that nobody waits for.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
