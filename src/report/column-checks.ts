import { quoted } from "../store/sql-text.ts";
import type { SnapshotColumn, SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";
import type { Layout } from "./report-layout.ts";
import { yieldToLoop, type StepOptions } from "./row-copy.ts";

type Reference = SnapshotColumn & { readonly references: string };

function referencesOf(table: SnapshotTable): Reference[] {
  return table.columns.filter((column): column is Reference => column.references !== null);
}

/**
 * Foreign keys are declared where they hold in this report. A reference to a record that is not there (a
 * deleted client, a table that is not mirrored) stays as it came, and its column is left without a key: nothing
 * is invented, nothing is cut.
 */
export async function declareKeys(db: Db, layout: Layout, manners: StepOptions): Promise<void> {
  for (const table of layout.tables) {
    if (referencesOf(table).length === 0) continue;
    await yieldToLoop(manners);
    const broken = brokenKeys(db, table.name);
    if (broken.size > 0) withdrawKeys(db, table, broken);
  }
}

/** The columns that refer to a table without a declared key, by table. */
export function openKeys(db: Db, layout: Layout): Map<string, readonly string[]> {
  const open = layout.tables.map((table) => {
    const declared = declaredKeys(db, table.name);
    const names = referencesOf(table).map(({ name }) => name);
    return [table.name, names.filter((name) => !declared.has(name))] as const;
  });
  return new Map(open);
}

function declaredKeys(db: Db, table: string): Set<string> {
  const sql = `SELECT "from" FROM pragma_foreign_key_list(?, 'report')`;
  return new Set(db.prepare(sql).pluck().all(table) as string[]);
}

/** The columns of declared keys that do not hold. */
function brokenKeys(db: Db, table: string): Set<string> {
  const sql = `SELECT DISTINCT k."from" FROM pragma_foreign_key_check(?, 'report') c
    JOIN pragma_foreign_key_list(?, 'report') k ON k.id = c.fkid`;
  return new Set(db.prepare(sql).pluck().all(table, table) as string[]);
}

/** The way that SQLite's manual gives for taking a constraint off: the text that the table was made by. */
function withdrawKeys(db: Db, table: SnapshotTable, broken: ReadonlySet<string>): void {
  const sql = db
    .prepare("SELECT sql FROM report.sqlite_schema WHERE type = 'table' AND name = ?")
    .pluck()
    .get(table.name) as string;
  const lines = sql.split("\n").map((line) => {
    const column = referencesOf(table).find(({ name }) => line.startsWith(`  ${quoted(name)} `));
    if (!column || !broken.has(column.name)) return line;
    return line.replace(` REFERENCES ${quoted(column.references)} ("id")`, "");
  });
  db.unsafeMode(true);
  db.pragma("writable_schema = ON");
  db.prepare("UPDATE report.sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?").run(
    lines.join("\n"),
    table.name,
  );
  db.pragma("writable_schema = RESET");
  db.unsafeMode(false);
}

/**
 * Would a report made anew declare other keys than this one does? A key that broke since, or one left open
 * that holds by now.
 */
export function keysChanged(db: Db, layout: Layout): boolean {
  return layout.tables.some((table) => {
    const references = referencesOf(table);
    if (references.length === 0) return false;
    const declared = declaredKeys(db, table.name);
    const left = references.filter(({ name }) => !declared.has(name));
    return brokenKeys(db, table.name).size > 0 || left.some((column) => holds(db, table.name, column));
  });
}

function holds(db: Db, table: string, { name, references }: Reference): boolean {
  const sql = `SELECT 1 FROM report.${quoted(table)} t WHERE t.${quoted(name)} IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM report.${quoted(references)} p WHERE p.id = t.${quoted(name)}) LIMIT 1`;
  return db.prepare(sql).get() === undefined;
}
