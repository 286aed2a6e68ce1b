import type { Db, Statement } from "./database.ts";

/** Prepared statements by a name or their text. */
export type KeptStatements = Map<string, Statement>;

const kept = new WeakMap<Db, Map<unknown, KeptStatements>>();

/**
 * The statements that `owner` has prepared on a connection. A class as owner shares them among its objects: preparing
 * costs more than most statements take to run.
 */
export function keptStatements(db: Db, owner: unknown): KeptStatements {
  let owners = kept.get(db);
  if (!owners) kept.set(db, (owners = new Map()));
  let statements = owners.get(owner);
  if (!statements) owners.set(owner, (statements = new Map()));
  return statements;
}

/**
 * Lets go of what a connection keeps in memory, 4 MB after a run: statements, which are prepared again at their next
 * use, and pages of the file.
 */
export function releaseMemory(db: Db): void {
  for (const statements of kept.get(db)?.values() ?? []) statements.clear();
  db.pragma("shrink_memory");
}
