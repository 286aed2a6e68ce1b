import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";

/** Any table, any column: the connector names them at run time. */
type AnyTables = Record<string, Record<string, unknown>>;

/**
 * Kysely as a compiler only: each statement is compiled once and prepared once. Kysely itself would prepare it at
 * every call, which is seven times slower.
 */
const sqlBuilder = new Kysely<AnyTables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** `INSERT … ON CONFLICT(key) DO UPDATE SET` every other column; parameters in the order of `columns`. */
export function upsertSql(table: string, key: string, columns: readonly string[]): string {
  const others = columns.filter((column) => column !== key);
  return sqlBuilder
    .insertInto(table)
    .values(Object.fromEntries(columns.map((column) => [column, null])))
    .onConflict((conflict) =>
      conflict
        .column(key)
        .doUpdateSet((excluded) =>
          Object.fromEntries(others.map((column) => [column, excluded.ref(`excluded.${column}`)])),
        ),
    )
    .compile().sql;
}

/** `INSERT` of one or several rows; parameters in the order of `columns`. */
export function insertSql(table: string, columns: readonly string[], rows = 1): string {
  const row = Object.fromEntries(columns.map((column) => [column, null]));
  return sqlBuilder
    .insertInto(table)
    .values(Array.from({ length: rows }, () => row))
    .compile().sql;
}

/** `"name"` with inner quotes doubled: names can come from the service. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
