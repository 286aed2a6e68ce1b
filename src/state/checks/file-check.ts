import { databaseError, openDatabase, type Db } from "../../store/database.ts";
import { migrate } from "../../store/migrations/migrate.ts";
import { Repository } from "../../store/repository.ts";
import { quoted } from "../../store/sql-text.ts";
import { columnNames, fenceTable } from "../../store/tables/table-layout.ts";

/** A table or index of the mirror's own, as the migrations make it. */
interface OwnObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  readonly sql: string | null;
}

/** The file as SQLite sees it, and the mirror's own tables. */
export class FileCheck extends Repository {
  /** What SQLite says of its pages, indexes and types; empty: all is well. Throws MirrorError `database`. */
  integrity(): string[] {
    try {
      const lines = this.selectColumn<string>("PRAGMA integrity_check(20)");
      return lines.filter((line) => line !== "ok");
    } catch (error) {
      const known = databaseError(this.db.name, error);
      if (known instanceof Error && isDamaged(error)) return [known.message];
      throw known;
    }
  }

  /** Makes all indexes anew, from their tables. */
  reindex(): void {
    this.db.exec("REINDEX");
  }

  /** Keys of `_meta` of which the value is no JSON. */
  oddFacts(): string[] {
    return this.selectColumn("SELECT key FROM _meta WHERE NOT json_valid(value)");
  }

  /** The highest number of the sequence that a read of these resources was given. */
  lastReceivedSeq(resources: readonly string[]): number {
    const highest = resources.map((resource) => {
      const sql = `SELECT max(received_seq) FROM ${quoted(fenceTable(resource))}`;
      return this.selectColumn<number | null>(sql)[0] ?? 0;
    });
    return Math.max(0, ...highest);
  }
}

function isDamaged(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_CORRUPT");
}

/** Own tables and indexes that the migrations made and that are not there, or lack a column. */
export function absentOwnTables(db: Db): OwnObject[] {
  const expected = openDatabase(":memory:");
  try {
    migrate(expected);
    return ownObjects(expected).filter((one) => !isThere(db, expected, one));
  } finally {
    expected.close();
  }
}

/** Makes what `absentOwnTables` names, empty; a table that lacks a column is left. Returns the names. */
export function restoreOwnTables(db: Db, absent: readonly OwnObject[]): string[] {
  const made = absent.filter(
    ({ type, name, sql }) => sql !== null && (type === "index" || isAbsent(db, name)),
  );
  for (const { sql } of made.toSorted(tablesFirst)) db.exec(sql ?? "");
  return made.map(({ name }) => name);
}

function ownObjects(db: Db): OwnObject[] {
  const sql = `SELECT type, name, tbl_name AS "table", sql FROM sqlite_master
    WHERE type IN ('table', 'index') AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_migrations%'`;
  return db.prepare(sql).all() as OwnObject[];
}

function isThere(db: Db, expected: Db, { type, name }: OwnObject): boolean {
  if (isAbsent(db, name)) return false;
  const present = columnNames(db, name);
  return type === "index" || [...columnNames(expected, name)].every((column) => present.has(column));
}

function isAbsent(db: Db, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(name) === undefined;
}

function tablesFirst(a: OwnObject, b: OwnObject): number {
  return a.type === b.type ? 0 : a.type === "table" ? -1 : 1;
}
