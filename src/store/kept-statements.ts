import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
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

/** Statements let go of, 10 kB each, after which their memory is given back. */
const collectedAtOnce = 5_000;
let uncollected = 0;
let collect: (() => void) | null = null;

/**
 * Lets go of what a connection keeps in memory, 4 MB after a run: statements, which are prepared again at their next
 * use, and pages of the file.
 */
export function releaseMemory(db: Db): void {
  for (const statements of kept.get(db)?.values() ?? []) {
    uncollected += statements.size;
    statements.clear();
  }
  db.pragma("shrink_memory");
  if (uncollected < collectedAtOnce) return;
  uncollected = 0;
  collect ??= garbageCollector();
  collect();
}

/**
 * A statement's memory is freed with its object, and the engine does not know how much that is: after the runs of 200
 * companies 400 MB waited for a collection. One takes 0.1 s.
 */
function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
