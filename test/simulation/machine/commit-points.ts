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
const kinds = ["default", "deferred", "immediate", "exclusive"] as const;

const watched = new Map<string, CommitPoints>();
const { prototype } = Database;
const original = Object.getOwnPropertyDescriptor(prototype, "transaction")?.value as (
  this: Db,
  step: Step,
) => Step;

/** Calls `points` around the transactions of the database at this path, once it is opened. */
export function watchCommits(path: string, points: CommitPoints): void {
  if (watched.size === 0) Object.assign(prototype, { transaction: watchedTransaction });
  watched.set(path, points);
}

export function unwatchCommits(path: string): void {
  watched.delete(path);
  if (watched.size === 0) Object.assign(prototype, { transaction: original });
}

function watchedTransaction(this: Db, step: Step): Step {
  const points = watched.get(this.name);
  if (!points) return original.call(this, step);
  let depth = 0;
  const inner = original.call(this, (...args) => {
    const result = step(...args);
    if (depth === 1) points.written();
    return result;
  }) as Step & Record<(typeof kinds)[number], Step>;
  const watch = (run: Step): Step => {
    return (...args) => {
      if (!this.inTransaction) points.begin(this);
      depth += 1;
      let result: unknown;
      try {
        result = run(...args);
      } finally {
        depth -= 1;
      }
      if (!this.inTransaction) points.committed();
      return result;
    };
  };
  const versions = kinds.map((kind) => [kind, watch(inner[kind])] as const);
  return Object.assign(watch(inner), Object.fromEntries(versions));
}
