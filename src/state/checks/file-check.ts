import { databaseError, openDatabase, type Db } from "../../store/database.ts";
import { migrate } from "../../store/migrations/migrate.ts";
import { columnNames } from "../../store/tables/table-layout.ts";

/** A table or index of the mirror's own, as the migrations make it. */
interface OwnObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  readonly sql: string | null;
}

/**
 * What SQLite says of the file's pages, indexes and types; empty: all is well.
 *
 * @throws MirrorError `database`
 */
export function integrityOf(db: Db): string[] {
  try {
    const lines = db.prepare("PRAGMA integrity_check(20)").pluck().all() as string[];
    return lines.filter((line) => line !== "ok");
  } catch (error) {
    const known = databaseError(db.name, error);
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (known instanceof Error && code.startsWith("SQLITE_CORRUPT")) return [known.message];
    throw known;
  }
}

/** Own tables and indexes that the migrations made and that are not there, or lack a column. */
export function absentOwnTables(db: Db): OwnObject[] {
  using expected = openDatabase(":memory:");
  migrate(expected);
  return ownObjects(expected).filter(({ type, name }) => {
    if (isAbsent(db, name)) return true;
    const present = columnNames(db, name);
    return type !== "index" && [...columnNames(expected, name)].some((column) => !present.has(column));
  });
}

/** Makes what `absentOwnTables` names, empty; a table that lacks a column is left. Returns the names. */
export function restoreOwnTables(db: Db, absent: readonly OwnObject[]): string[] {
  const made = absent.filter(({ type, name, sql }) => sql && (type === "index" || isAbsent(db, name)));
  for (const { sql } of made.toSorted((a, b) => b.type.localeCompare(a.type))) db.exec(sql ?? "");
  return made.map(({ name }) => name);
}

function ownObjects(db: Db): OwnObject[] {
  const sql = `SELECT type, name, tbl_name AS "table", sql FROM sqlite_master
    WHERE type IN ('table', 'index') AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_migrations%'`;
  return db.prepare(sql).all() as OwnObject[];
}

function isAbsent(db: Db, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(name) === undefined;
}
