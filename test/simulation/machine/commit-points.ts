import Database from "better-sqlite3";
import type { Db } from "../../../src/store/database.ts";

/** Called around each outermost transaction of a database; what it throws ends the transaction. */
export interface CommitPoints {
  begin(db: Db): void;
  /** Everything is written, and nothing is committed. */
  written(): void;
  committed(): void;
}

type Step = (...args: unknown[]) => unknown;
/** What the store makes of a step: it begins all its transactions so. */
interface Transaction extends Step {
  readonly immediate: Step;
}

const watched = new Map<string, CommitPoints>();
const { prototype } = Database;
const original = Object.getOwnPropertyDescriptor(prototype, "transaction")?.value as (
  this: Db,
  step: Step,
) => Transaction;

/** Calls `points` around the transactions of the database at this path, once it is opened. */
export function watchCommits(path: string, points: CommitPoints): void {
  if (watched.size === 0) Object.assign(prototype, { transaction: watchedTransaction });
  watched.set(path, points);
}

export function unwatchCommits(path: string): void {
  watched.delete(path);
  if (watched.size === 0) Object.assign(prototype, { transaction: original });
}

function watchedTransaction(this: Db, step: Step): Transaction {
  const points = watched.get(this.name);
  const inner = original.call(this, step);
  if (!points) return inner;
  const outermost = original.call(this, (...args) => {
    const result = step(...args);
    points.written();
    return result;
  });
  const immediate: Step = (...args) => {
    if (this.inTransaction) return inner.immediate(...args);
    points.begin(this);
    const result = outermost.immediate(...args);
    points.committed();
    return result;
  };
  return Object.assign((...args: unknown[]) => inner(...args), { immediate });
}
