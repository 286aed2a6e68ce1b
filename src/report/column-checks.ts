import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";
import { quoted } from "../store/sql-text.ts";
import type { ReportDraft } from "./publish-draft.ts";
import { isDay, referencesOf, type ColumnChecks } from "./report-layout.ts";

/**
 * Checks the rows of a table of the report against what its declaration depends on. Both queries use the indexes
 * of the report, so they are cheap for the columns that have one.
 */
export function checkColumns({ db, layout }: ReportDraft, table: SnapshotTable): ColumnChecks {
  const present = new Set(layout.tables.map(({ name }) => name));
  const keys = referencesOf(table).filter(
    ({ name, references }) => present.has(references) && !hasOrphan(db, table.name, name, references),
  );
  const texts = table.columns.filter(({ name, type }) => isDay(type) && hasNumber(db, table.name, name));
  return { keys: new Set(keys.map(({ name }) => name)), texts: new Set(texts.map(({ name }) => name)) };
}

/** Whether a reference leads to a record that is missing. */
function hasOrphan(db: Db, table: string, column: string, references: string): boolean {
  const ids = `SELECT DISTINCT ${quoted(column)} AS id FROM report.${quoted(table)}`;
  const parent = `SELECT 1 FROM report.${quoted(references)} p WHERE p.id = r.id`;
  return isTrue(
    db,
    `SELECT EXISTS (SELECT 1 FROM (${ids}) r WHERE r.id IS NOT NULL AND NOT EXISTS (${parent}))`,
  );
}

/**
 * Whether a day is a number for a column declared DATE, as `20260101` is. The comparison with a NUMERIC converts
 * texts by the same rule; every number is at most infinity, every text greater.
 */
function hasNumber(db: Db, table: string, column: string): boolean {
  const found = `SELECT 1 FROM report.${quoted(table)} WHERE ${quoted(column)} <= CAST(9e999 AS NUMERIC)`;
  return isTrue(db, `SELECT EXISTS (${found})`);
}

function isTrue(db: Db, sql: string): boolean {
  return db.prepare(sql).pluck().get() === 1;
}
