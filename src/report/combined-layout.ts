import { quoted } from "../store/sql-text.ts";
import type { Db } from "../store/database.ts";

/** A column as the reports of single companies declare it. */
interface SourceColumn {
  readonly name: string;
  readonly type: string;
  /** Its place in the primary key, from 1; 0: none. */
  readonly pk: number;
}

/** A table or view of one company's report. */
export interface SourceTable {
  readonly name: string;
  readonly columns: readonly SourceColumn[];
  /** Foreign keys: the column, and the table whose id it is. */
  readonly keys: readonly { readonly from: string; readonly table: string }[];
  /** Indexed columns. */
  readonly indexes: readonly string[];
}

/** A table of the combined report. A view of the single ones is a table here, with the rows it had. */
export interface CombinedTable extends SourceTable {
  readonly types: ReadonlyMap<string, string>;
}

/** A column's name in the combined report: a field that the service calls `company` makes room for whose row it is. */
export function combinedColumn(name: string): string {
  return name === "company" ? "company_2" : name;
}

/** Reads what the report attached as `source` has, in its order. */
export function readSourceTables(db: Db): SourceTable[] {
  const names = db
    .prepare(
      "SELECT name FROM source.sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY rowid",
    )
    .pluck()
    .all() as string[];
  return names.map((name) => {
    const pragma = <T>(what: string) => db.pragma(`source.${what}(${quoted(name)})`) as T[];
    const indexes = pragma<{ name: string; origin: string }>("index_list").filter(
      ({ origin }) => origin === "c",
    );
    const indexed = indexes.flatMap(
      (index) => db.pragma(`source.index_info(${quoted(index.name)})`) as { name: string }[],
    );
    return {
      name,
      columns: pragma<SourceColumn>("table_info"),
      keys: pragma<{ from: string; table: string }>("foreign_key_list"),
      indexes: indexed.map((column) => column.name).toSorted(),
    };
  });
}

/**
 * The tables of a report over several, each with the columns that any of them has. A foreign key is declared where all
 * that have the table declare it. Pure.
 */
export function combineTables(sources: readonly (readonly SourceTable[])[]): CombinedTable[] {
  const names = [...new Set(sources.flatMap((tables) => tables.map(({ name }) => name)))];
  return names.map((name) => {
    const same = sources.flatMap((tables) => tables.filter((table) => table.name === name));
    const found = same
      .flatMap((table) => table.columns)
      .map((one) => ({ ...one, name: combinedColumn(one.name) }));
    const types = new Map<string, string>();
    for (const { name: column, type } of found) types.set(column, widerColumn(types.get(column), type));
    const columns = [...new Map(found.map((one) => [one.name, one])).values()];
    const isShared = (key: SourceTable["keys"][number]) =>
      same.every(({ keys }) => keys.some(({ from, table }) => from === key.from && table === key.table));
    const keys = (same[0]?.keys ?? []).filter(isShared);
    return { name, columns, types, keys, indexes: [...new Set(same.flatMap((table) => table.indexes))] };
  });
}

/** Where two reports differ: a date that one has as a number is text, as in its own report. */
function widerColumn(known: string | undefined, type: string): string {
  if (known === undefined || known === type) return type;
  return [known, type].every((one) => /^(INT|REAL|DECIMAL)/.test(one)) ? "REAL" : "TEXT";
}

/** `CREATE TABLE`. Ids are unique within a company only, so the company is the first part of each key. */
export function combinedTableSql({ name, columns, types, keys }: CombinedTable): string {
  const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
  const isKey = new Set(key.map((column) => column.name));
  const lines = columns.map(
    (column) =>
      `${quoted(column.name)} ${types.get(column.name) ?? ""}${isKey.has(column.name) ? " NOT NULL" : ""}`,
  );
  const primary = ["company", ...key.map((column) => column.name)].map(quoted).join(", ");
  if (key.length > 0) lines.push(`PRIMARY KEY (${primary})`);
  for (const { from, table } of keys)
    lines.push(`FOREIGN KEY ("company", ${quoted(from)}) REFERENCES ${quoted(table)} ("company", "id")`);
  const body = ['"company" TEXT NOT NULL', ...lines].map((line) => `\n  ${line}`).join(",");
  return `CREATE TABLE report.${quoted(name)} (${body}\n)${key.length > 0 ? " WITHOUT ROWID" : ""}`;
}
