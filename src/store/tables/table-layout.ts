import { prepared, type Db } from "../database.ts";
import { quoted } from "../sql-text.ts";
import { sqlTypes, type Column, type TablePlan } from "./table-plan.ts";

/** The table of a resource's JSON as received. Apart from the typed rows, so that reports do not scan it. */
export const rawTable = (resource: string) => `_raw_${resource}`;

/** The table of the last applied read of each record. */
export const fenceTable = (resource: string) => `_fence_${resource}`;

/**
 * Creates or changes the tables of a plan. Returns whether anything changed: then the rows are to be derived again.
 *
 * A column of another type becomes ANY and keeps its values, because the values of a STRICT table cannot change their
 * type in place. So readers find the earlier value of each row until the row is derived, and `finishTables` gives the
 * column its type. A column that is not in the plan is removed: its values are in the JSON.
 */
export function layOutTables(db: Db, plan: TablePlan): boolean {
  const changed = layoutsOf(plan).map((layout) => layOut(db, layout));
  db.exec(`CREATE TABLE IF NOT EXISTS ${quoted(rawTable(plan.table))} (
    id INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT`);
  const fences = fenceTable(plan.table);
  db.exec(`CREATE TABLE IF NOT EXISTS ${quoted(fences)} (
    id INTEGER PRIMARY KEY,
    sha BLOB, listed_sha BLOB, source TEXT NOT NULL,
    received_seq INTEGER NOT NULL, read_at INTEGER NOT NULL,
    last_change INTEGER, gone INTEGER NOT NULL DEFAULT 0) STRICT`);
  // The status page counts records and looks for the oldest reads: fences are four times the size of this index. All of
  // them are counted by its pages, without a look at each, and tombstones are few. With `gone` in front SQLite would take
  // it for what few rows have, and sort all live ones by id.
  const index = (name: string, columns: string) =>
    db.exec(`CREATE INDEX IF NOT EXISTS ${quoted(`_${fences}_${name}`)} ON ${quoted(fences)} ${columns}`);
  index("by_source", "(source, gone, read_at)");
  index("where_gone", "(id) WHERE gone = 1");
  createIndexes(db, plan);
  return changed.includes(true);
}

/** Gives the columns that changed their type the new one. Call when all rows are derived. */
export function finishTables(db: Db, plan: TablePlan): void {
  for (const layout of layoutsOf(plan)) {
    const present = columnTypes(db, layout.table);
    if (layout.columns.some((column) => typeIn(present, column) !== sqlTypes[column.scalar]))
      rebuild(db, layout, present, ({ scalar }) => sqlTypes[scalar]);
  }
  createIndexes(db, plan);
}

export function addColumn(db: Db, table: string, column: Column): void {
  db.exec(`ALTER TABLE ${quoted(table)} ADD COLUMN ${quoted(column.name)} ${sqlTypes[column.scalar]}`);
}

/**
 * Names of a table's columns, lower-case as SQLite compares them; empty where there is no such table. Never those of
 * a temporary view of the same name.
 */
export function columnNames(db: Db, table: string, schema = "main"): Set<string> {
  return new Set(columnTypes(db, table, schema).keys());
}

/** The columns of a record's own row without its key; the `id` of a child row is an ordinary column. */
export function dataColumns(plan: TablePlan): Column[] {
  return plan.columns.filter((column) => column.name !== "id");
}

type TableShape = ReturnType<typeof layoutsOf>[number];

/** The tables of a resource: their own columns, those of the plan, and how both are declared. */
function layoutsOf(plan: TablePlan) {
  const main = {
    table: plan.table,
    own: ["id", "_deleted_at", "_synced_at", "_detail_at"],
    columns: dataColumns(plan),
    /** The body and the options of the table, given the DDL of `columns`. */
    ddl: (columns: string) =>
      `(id INTEGER PRIMARY KEY, ${columns}_deleted_at TEXT, _synced_at TEXT NOT NULL, _detail_at TEXT) STRICT`,
  };
  const children = plan.children.map(({ table, parentKey, columns }) => {
    const key = quoted(parentKey);
    return {
      table,
      own: [parentKey, "position"],
      columns,
      ddl: (data: string) =>
        `(${key} INTEGER NOT NULL, position INTEGER NOT NULL, ${data}PRIMARY KEY (${key}, position)) STRICT, WITHOUT ROWID`,
    };
  });
  return [main, ...children];
}

function layOut(db: Db, layout: TableShape): boolean {
  const { table, own, columns } = layout;
  const present = columnTypes(db, table);
  if (!own.every((name) => present.has(name.toLowerCase()))) {
    db.exec(`DROP TABLE IF EXISTS ${quoted(table)}`);
    create(db, table, layout, ({ scalar }) => sqlTypes[scalar]);
    return true;
  }
  const interim = (column: Column) => {
    const type = sqlTypes[column.scalar];
    return (typeIn(present, column) ?? type) === type ? type : "ANY";
  };
  const names = new Set([...own, ...columns.map(({ name }) => name)].map((name) => name.toLowerCase()));
  const absent = columns.filter((column) => typeIn(present, column) === undefined);
  const isRetyped = columns.some(
    (column) => !absent.includes(column) && typeIn(present, column) !== interim(column),
  );
  const isRebuilt = isRetyped || [...present.keys()].some((name) => !names.has(name));
  if (isRebuilt) rebuild(db, layout, present, interim);
  else for (const column of absent) addColumn(db, table, column);
  return isRebuilt || absent.length > 0;
}

/** Makes a table anew with these types, and copies its rows. A value that a type cannot hold becomes null. */
function rebuild(
  db: Db,
  layout: TableShape,
  present: ReadonlyMap<string, string>,
  typeOf: (column: Column) => string,
): void {
  const table = quoted(layout.table);
  const next = `_next_${layout.table}`;
  const kept = layout.columns.filter((column) => typeIn(present, column) !== undefined);
  const names = [...layout.own, ...kept.map(({ name }) => name)].map(quoted).join(", ");
  const values = kept.map((column) => {
    const [name, type] = [quoted(column.name), typeOf(column)];
    const cast = `CAST(${name} AS ${type})`;
    return type === "ANY" || type === typeIn(present, column)
      ? name
      : `iif(${cast} = ${name}, ${cast}, NULL)`;
  });
  create(db, next, layout, typeOf);
  const from = [...layout.own.map(quoted), ...values].join(", ");
  db.exec(`INSERT INTO ${quoted(next)} (${names}) SELECT ${from} FROM ${table}`);
  db.exec(`DROP TABLE ${table}`);
  // Otherwise a view that somebody made of this table would stop the renaming.
  db.pragma("legacy_alter_table = ON");
  db.exec(`ALTER TABLE ${quoted(next)} RENAME TO ${table}`);
  db.pragma("legacy_alter_table = OFF");
}

function create(db: Db, table: string, layout: TableShape, typeOf: (column: Column) => string): void {
  const columns = layout.columns.map((column) => `${quoted(column.name)} ${typeOf(column)}, `).join("");
  db.exec(`CREATE TABLE ${quoted(table)} ${layout.ddl(columns)}`);
}

function createIndexes(db: Db, plan: TablePlan): void {
  for (const columns of plan.indexes) {
    const name = quoted(`_${plan.table}_by_${columns.join("_")}`);
    const on = `${quoted(plan.table)} (${columns.map(quoted).join(", ")})`;
    db.exec(`CREATE INDEX IF NOT EXISTS ${name} ON ${on}`);
  }
}

function typeIn(present: ReadonlyMap<string, string>, column: Column): string | undefined {
  return present.get(column.name.toLowerCase());
}

/** Types by the lower-case name of the column. */
function columnTypes(db: Db, table: string, schema = "main"): Map<string, string> {
  const sql = "SELECT name, type FROM pragma_table_info(?, ?)";
  const rows = prepared(db, columnTypes, sql, "cells", () => sql).all(table, schema);
  return new Map((rows as [string, string][]).map(([name, type]) => [name.toLowerCase(), type]));
}
