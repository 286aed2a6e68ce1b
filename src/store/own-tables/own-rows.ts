import { sql, type Insertable, type SelectType, type Updateable } from "kysely";
import type { Db } from "../database.ts";
import type { MirrorTables } from "./mirror-tables.ts";
import { statement, type OwnStatement } from "./statement.ts";

/** The rows that have all of these values. */
type Where<T extends keyof MirrorTables> = {
  readonly [C in keyof MirrorTables[T]]?: NonNullable<SelectType<MirrorTables[T][C]>>;
};

/** Adds a row, `or replace` in place of the one with the same key. Gives the number that SQLite gave it. */
export function insertRow<T extends keyof MirrorTables>(
  db: Db,
  table: T,
  row: Insertable<MirrorTables[T]>,
  or: "" | "or replace" = "",
): number {
  return Number(forColumns(`insert ${or} into`, table, row).run(db, Object.values(row)).lastInsertRowid);
}

/** Changes rows. Gives how many. */
export function updateRows<T extends keyof MirrorTables>(
  db: Db,
  table: T,
  changes: Updateable<MirrorTables[T]>,
  where: Where<T>,
): number {
  const values = [...Object.values(changes), ...Object.values(where)];
  return forColumns("update", table, changes, where).run(db, values).changes;
}

/** Removes rows; all of them without a value. Gives how many. */
export function removeRows<T extends keyof MirrorTables>(db: Db, table: T, where: Where<T>): number {
  return forColumns("delete from", table, {}, where).run(db, Object.values(where)).changes;
}

const known = new Map<string, OwnStatement<readonly unknown[], unknown>>();

/** The statement of these columns, made once. */
function forColumns(verb: string, table: string, row: object, where: object | null = null) {
  const given = Object.keys(row);
  const asked = where && Object.keys(where);
  const shape = `${verb} ${table} ${given.join()} ${asked?.join()}`;
  const made =
    known.get(shape) ??
    statement((_db, p: readonly unknown[]) => {
      const head = sql`${sql.raw(verb)} ${sql.table(table)}`;
      const columns = given.map((name) => sql.ref(name));
      if (!asked)
        return sql`${head} (${sql.join(columns)}) values (${sql.join(columns.map((_one, i) => sql`${p[i]}`))})`;
      const set = columns.map((one, i) => sql`${one} = ${p[i]}`);
      const same = asked.map((name, i) => sql`${sql.ref(name)} = ${p[given.length + i]}`);
      const conditions = sql.join([sql`true`, ...same], sql` and `);
      return set.length === 0
        ? sql`${head} where ${conditions}`
        : sql`${head} set ${sql.join(set)} where ${conditions}`;
    });
  known.set(shape, made);
  return made;
}
