import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";
import { quoted } from "../store/sql-text.ts";
import { pause, type StepOptions } from "./publish-steps.ts";
import { isDay, referencesOf, type ColumnChecks, type Layout } from "./report-layout.ts";

/**
 * Reads every table of the snapshot once, before it is declared in the report, and returns by table what its
 * declaration depends on. A reference to a record that is missing (a deleted client, a table that is not
 * mirrored) stays as it is, without a key: nothing is invented and nothing is cut.
 */
export async function checkColumns(
  db: Db,
  layout: Layout,
  steps: StepOptions,
): Promise<ReadonlyMap<string, ColumnChecks>> {
  const present = new Set(layout.tables.map(({ name }) => name));
  const checks = new Map<string, ColumnChecks>();
  for (const table of layout.tables) {
    await pause(steps);
    checks.set(table.name, checkTable(db, table, present));
  }
  return checks;
}

function checkTable(db: Db, table: SnapshotTable, present: ReadonlySet<string>): ColumnChecks {
  const references = referencesOf(table).filter((column) => present.has(column.references));
  const days = table.columns.filter(({ type }) => isDay(type));
  const found = findAny(db, table.name, [
    ...references.map((column) => missingSql(quoted(column.name), column.references)),
    ...days.map((column) => numericSql(quoted(column.name))),
  ]);
  return {
    keys: new Set(references.filter((_, i) => !found[i]).map(({ name }) => name)),
    texts: new Set(days.filter((_, i) => found[references.length + i]).map(({ name }) => name)),
  };
}

/** For each condition, whether any row of the table fulfils it. */
function findAny(db: Db, table: string, conditions: readonly string[]): boolean[] {
  if (conditions.length === 0) return [];
  const shown = conditions.map((condition) => `max(${condition})`);
  const row = db
    .prepare(`SELECT ${shown.join(", ")} FROM temp.${quoted(table)} t`)
    .raw()
    .get();
  return (row as unknown[]).map((value) => value === 1);
}

function missingSql(column: string, references: string): string {
  return `t.${column} IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM temp.${quoted(references)} p WHERE p.id = t.${column})`;
}

/**
 * Whether a column declared DATE would turn the text into a number, as it does with `20260101`. A comparison
 * with a NUMERIC converts by the same rule; a number is at most infinity, a text is greater than any number.
 */
function numericSql(column: string): string {
  return `t.${column} <= CAST(9e999 AS NUMERIC)`;
}
