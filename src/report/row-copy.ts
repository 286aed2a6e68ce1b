import { MirrorError } from "../base/errors.ts";
import { quoted } from "../store/sql-text.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";

/** How far a publish is. */
export interface PublishStep {
  readonly table: string;
  /** Rows written so far, all tables together. */
  readonly rows: number;
}

/** What long work needs to stay polite: it lets others have their turn, ends when told to, and says where it is. */
export interface StepOptions {
  readonly signal: AbortSignal;
  readonly onStep: (step: PublishStep) => void;
}

/** Between two slices, so that whoever shares the thread waits for one slice at the most. */
export async function yieldToLoop({ signal }: Pick<StepOptions, "signal">): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  if (signal.aborted) throw new MirrorError("stopped", "publishing was interrupted; the old report stays");
}

const rowsAtOnce = 20_000;

/** Copies a table in the order of its key. Returns its number of rows. */
export async function copyRows(
  db: Db,
  table: SnapshotTable,
  manners: StepOptions,
  before: number,
): Promise<number> {
  const key = table.primaryKey.map(quoted).join(", ");
  const target = `report.${quoted(table.name)}`;
  const names = table.columns.map(({ name }) => quoted(name)).join(", ");
  const head = `INSERT INTO ${target} (${names}) SELECT ${names} FROM temp.${quoted(table.name)}`;
  const marks = table.primaryKey.map(() => "?").join(", ");
  const tail = `ORDER BY ${key} LIMIT ${rowsAtOnce}`;
  const first = db.prepare(`${head} ${tail}`);
  const next = db.prepare(`${head} WHERE (${key}) > (${marks}) ${tail}`);
  const descending = table.primaryKey.map((column) => `${quoted(column)} DESC`).join(", ");
  const reached = db.prepare(`SELECT ${key} FROM ${target} ORDER BY ${descending} LIMIT 1`);
  reached.raw(true).safeIntegers(true);
  let rows = first.run().changes;
  for (let copied = rows; copied === rowsAtOnce; rows += copied) {
    manners.onStep({ table: table.name, rows: before + rows });
    await yieldToLoop(manners);
    copied = next.run(...(reached.get() as unknown[])).changes;
  }
  return rows;
}
