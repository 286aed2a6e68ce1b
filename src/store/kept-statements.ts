import { canonicalId } from "../base/ids.ts";
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

/** All rows of a statement that gives bigints; of these only ids beyond 2^53 stay such. */
export function rowsWithIds<T>(statement: Statement, values: readonly unknown[]): T[] {
  const rows = statement.safeIntegers().all(...values) as Record<string, unknown>[];
  for (const row of rows)
    for (const [name, cell] of Object.entries(row))
      if (typeof cell === "bigint") row[name] = canonicalId(cell);
  return rows as T[];
}

/** What SQLite keeps for a statement, about. */
const statementBytes = 60_000;
/** Statements let go of, of whose memory the engine does not know. */
let unknown = 0;
const mostUnknown = 100;

/**
 * Lets go of what a connection keeps in memory, 4 MB after a run: statements, which are prepared again at their next
 * use, and pages of the file.
 */
export function releaseMemory(db: Db): void {
  for (const statements of kept.get(db)?.values() ?? []) {
    unknown += statements.size;
    statements.clear();
  }
  db.pragma("shrink_memory");
  if (unknown < mostUnknown) return;
  weigh(unknown * statementBytes);
  unknown = 0;
}

/**
 * A statement's memory is freed with its object, and the engine does not know how much that is: after the runs of 200
 * companies 400 MB waited for a collection. A buffer of that size, which is never touched and let go of at once, lets
 * it know: it begins to collect in small steps. A collection on demand would stop everything for 0.1 s.
 */
function weigh(sizeBytes: number): void {
  Buffer.allocUnsafeSlow(sizeBytes);
}
