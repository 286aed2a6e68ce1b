import { isoTime } from "../base/clock.ts";
import { guarded, hasTable, inTransaction, type Db } from "../store/database.ts";
import { Repository } from "../store/repository.ts";

/** A run, stored events to be evaluated again, or the removal of what is old. */
export type DaemonCommandKind = "sync" | "replay" | "prune";

/** What another process asks of the daemon, which writes the mirror. */
export interface DaemonCommand {
  readonly id: number;
  readonly kind: DaemonCommandKind;
  /** ISO. */
  readonly askedAt: string;
  /** Process that asks and waits for the answer. */
  readonly pid: number;
  readonly options: unknown;
  readonly state: "waiting" | "running" | "done" | "failed";
  /** The answer; while the command runs, its progress; null: none yet. */
  readonly report: unknown;
}

const columns = "id, kind, asked_at AS askedAt, pid, options, state, report";

/** Answers are kept for so long at most. */
const keptMs = 7 * 86_400_000;

/**
 * Commands of other processes to the process that holds the writer lock, in that mirror's own database. The asker
 * adds one and looks at it until it has ended; the writer takes the oldest.
 *
 * Guarantee: a command is begun once by each writer.
 * Source of truth: table `_commands`.
 * Worst outcome of a crash: the next writer begins a command again (each kind may be done twice), or drops it
 * because its asker has ended.
 */
export class DaemonCommands extends Repository {
  /** Has this database the table for commands? A daemon may still be creating it. */
  static areIn(db: Db): boolean {
    return hasTable(db, "_commands");
  }

  /** Gives the id, which is never used again. */
  add(kind: DaemonCommandKind, options: unknown, asker: { atMs: number; pid: number }): number {
    const sql = "INSERT INTO _commands (kind, asked_at, pid, options) VALUES (?, ?, ?, ?)";
    const values = [kind, isoTime(asker.atMs), asker.pid, JSON.stringify(options)];
    return inTransaction(this.db, () => Number(this.execute(sql, ...values).lastInsertRowid));
  }

  find(id: number): DaemonCommand | null {
    return this.select("id = ?", id)[0] ?? null;
  }

  /** The oldest of its kind that waits. */
  next(kind: DaemonCommandKind): DaemonCommand | null {
    return this.select("state = 'waiting' AND kind = ? ORDER BY id LIMIT 1", kind)[0] ?? null;
  }

  /** Those waiting and running, the oldest first. */
  open(): DaemonCommand[] {
    return this.select("state IN ('waiting', 'running') ORDER BY id");
  }

  /** False: the asker has removed it. */
  start(id: number): boolean {
    return this.run("UPDATE _commands SET state = 'running' WHERE id = ? AND state = 'waiting'", id) === 1;
  }

  /** Shows the asker how far a running command is. */
  setProgress(id: number, view: unknown): void {
    this.run("UPDATE _commands SET report = ? WHERE id = ? AND state = 'running'", JSON.stringify(view), id);
  }

  finish(id: number, state: "done" | "failed", report: unknown, atMs: number): void {
    const sql = "UPDATE _commands SET state = ?, report = ?, settled_at = ? WHERE id = ?";
    inTransaction(this.db, () => {
      this.execute(sql, state, JSON.stringify(report), isoTime(atMs), id);
      this.removeOld(atMs);
    });
  }

  /** Removes a command that its asker no longer waits for. False: it is begun already, or not there. */
  withdraw(id: number): boolean {
    return this.run("DELETE FROM _commands WHERE id = ? AND state = 'waiting'", id) === 1;
  }

  /** Removes a command in any state: its writer has ended. */
  remove(id: number): void {
    this.run("DELETE FROM _commands WHERE id = ?", id);
  }

  /**
   * For a writer that begins: commands that an earlier writer left running wait again; those of askers that have
   * ended, and old answers, are removed. Gives how many commands were dropped.
   */
  dropStale(isAskerAlive: (pid: number) => boolean, nowMs: number): number {
    return inTransaction(this.db, () => {
      const orphans = this.open().filter(({ pid }) => !isAskerAlive(pid));
      for (const { id } of orphans) this.execute("DELETE FROM _commands WHERE id = ?", id);
      this.execute("UPDATE _commands SET state = 'waiting', report = NULL WHERE state = 'running'");
      this.removeOld(nowMs);
      return orphans.length;
    });
  }

  private removeOld(nowMs: number): void {
    this.execute("DELETE FROM _commands WHERE settled_at < ?", isoTime(nowMs - keptMs));
  }

  private run(sql: string, ...values: unknown[]): number {
    return inTransaction(this.db, () => this.execute(sql, ...values).changes);
  }

  private select(where: string, ...values: unknown[]): DaemonCommand[] {
    return guarded(this.db.name, () => {
      const sql = `SELECT ${columns} FROM _commands WHERE ${where}`;
      return this.selectAll<StoredCommand>(sql, ...values).map(parseCommand);
    });
  }
}

interface StoredCommand extends Omit<DaemonCommand, "options" | "report"> {
  readonly options: string;
  readonly report: string | null;
}

function parseCommand(row: StoredCommand): DaemonCommand {
  const report: unknown = row.report === null ? null : JSON.parse(row.report);
  return { ...row, options: JSON.parse(row.options) as unknown, report };
}

/**
 * Is it a process of this machine, of whatever user? The number of a process in another container says nothing: at
 * worst a waiting asker finds its command dropped and asks again, or a run is made that nobody waits for.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
