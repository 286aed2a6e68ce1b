import { isoTime } from "../base/clock.ts";
import { guarded, hasTable, inTransaction, type Db } from "../store/database.ts";
import type { OwnRow } from "../store/own-tables/mirror-tables.ts";
import { insertRow, removeRows, updateRows } from "../store/own-tables/own-rows.ts";
import { Repository } from "../store/repository.ts";
import { statement, type Builder } from "../store/own-tables/statement.ts";

type StoredCommand = OwnRow<"_commands">;

/** A run, stored events to be evaluated again, or the removal of what is old. */
export type DaemonCommandKind = StoredCommand["kind"];

/** What another process asks of the daemon, which writes the mirror. */
export interface DaemonCommand {
  readonly id: number;
  readonly kind: DaemonCommandKind;
  /** ISO. */
  readonly askedAt: string;
  /** Process that asks and waits for the answer. */
  readonly pid: number;
  readonly options: unknown;
  readonly state: StoredCommand["state"];
  /** The answer; while the command runs, its progress; null: none yet. */
  readonly report: unknown;
}

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
    const command = { kind, asked_at: isoTime(asker.atMs), pid: asker.pid, options: JSON.stringify(options) };
    return inTransaction(this.db, () => insertRow(this.db, "_commands", command));
  }

  find(id: number): DaemonCommand | null {
    return this.parsed(() => byId.all(this.db, { id }))[0] ?? null;
  }

  /** The oldest of its kind that waits. */
  next(kind: DaemonCommandKind): DaemonCommand | null {
    return this.parsed(() => nextWaiting.all(this.db, { kind }))[0] ?? null;
  }

  /** Those waiting and running, the oldest first. */
  open(): DaemonCommand[] {
    return this.parsed(() => notEnded.all(this.db));
  }

  /** False: the asker has removed it. */
  start(id: number): boolean {
    return this.update({ state: "running" }, { id, state: "waiting" }) === 1;
  }

  /** Shows the asker how far a running command is. */
  setProgress(id: number, view: unknown): void {
    this.update({ report: JSON.stringify(view) }, { id, state: "running" });
  }

  finish(id: number, state: "done" | "failed", report: unknown, atMs: number): void {
    inTransaction(this.db, () => {
      this.update({ state, report: JSON.stringify(report), done_at: isoTime(atMs) }, { id });
      this.removeOld(atMs);
    });
  }

  /** Removes a command that its asker no longer waits for. False: it is begun already, or not there. */
  withdraw(id: number): boolean {
    return inTransaction(this.db, () => removeRows(this.db, "_commands", { id, state: "waiting" })) === 1;
  }

  /** Removes a command in any state: its writer has ended. */
  remove(id: number): void {
    inTransaction(this.db, () => removeRows(this.db, "_commands", { id }));
  }

  /**
   * For a writer that begins: commands that an earlier writer left running wait again; those of askers that have
   * ended, and old answers, are removed. Gives how many commands were dropped.
   */
  dropStale(isAskerAlive: (pid: number) => boolean, nowMs: number): number {
    return inTransaction(this.db, () => {
      const orphans = this.open().filter(({ pid }) => !isAskerAlive(pid));
      for (const { id } of orphans) this.remove(id);
      this.update({ state: "waiting", report: null }, { state: "running" });
      this.removeOld(nowMs);
      return orphans.length;
    });
  }

  private removeOld(nowMs: number): void {
    removeOld.run(this.db, { before: isoTime(nowMs - keptMs) });
  }

  private update(
    changes: Partial<StoredCommand>,
    where: Partial<Pick<StoredCommand, "id" | "state">>,
  ): number {
    return inTransaction(this.db, () => updateRows(this.db, "_commands", changes, where));
  }

  private parsed(select: () => SelectedCommand[]): DaemonCommand[] {
    return guarded(this.db.name, select).map((row) => {
      const report: unknown = row.report === null ? null : JSON.parse(row.report);
      return { ...row, options: JSON.parse(row.options) as unknown, report };
    });
  }
}

type SelectedCommand = Omit<StoredCommand, "asked_at" | "done_at"> & { readonly askedAt: string };

const selected = (db: Builder) =>
  db
    .selectFrom("_commands")
    .select(["id", "kind", "asked_at as askedAt", "pid", "options", "state", "report"]);
const byId = statement((db, p: { id: number }) => selected(db).where("id", "=", p.id));
const nextWaiting = statement((db, p: { kind: DaemonCommandKind }) =>
  selected(db).where("state", "=", "waiting").where("kind", "=", p.kind).orderBy("id").limit(1),
);
const notEnded = statement((db) => selected(db).where("state", "in", ["waiting", "running"]).orderBy("id"));
const removeOld = statement((db, p: { before: string }) =>
  db.deleteFrom("_commands").where("done_at", "<", p.before),
);

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
