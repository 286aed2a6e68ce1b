import type { RunResult } from "better-sqlite3";
import * as kysely from "kysely";
import { valueOr } from "../../base/errors.ts";
import { canonicalId, type RecordId } from "../../base/ids.ts";
import { databaseError, prepared, type Db, type Mode, type Statement } from "../database.ts";
import type { MirrorTables, OwnRow } from "./mirror-tables.ts";

type Builder = kysely.Kysely<MirrorTables>;

/** Where a value is bound, by its name. */
class Parameter {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const parameters = new Proxy({}, { get: (_target, name) => new Parameter(String(name)) });

/**
 * Writes constants into the text: SQLite uses a partial index only where the text has the index's own condition.
 *
 * It plans `column = ?` and `LIMIT ?` by the value that is bound, so it prepares such a statement again after each
 * binding. For the lease of a work item that took ten times as long as the search. `+?` is the same value, and its plan
 * depends on no value.
 */
class StatementCompiler extends kysely.SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (!(value instanceof Parameter)) return this.appendImmediateValue(value);
    this.addParameter(value.name);
    this.append("+?");
  }
}

/** Builds what is compiled and never run by kysely. */
export const builder: Builder = new kysely.Kysely({
  dialect: {
    createAdapter: () => new kysely.SqliteAdapter(),
    createDriver: () => new kysely.DummyDriver(),
    createIntrospector: (db) => new kysely.SqliteIntrospector(db),
    createQueryCompiler: () => new StatementCompiler(),
  },
});

/** Values by the names of a statement's parameters; nothing where it has none. Lists are bound as JSON, for `among`. */
type Values<P> = unknown extends P ? [] : [values: P];

/**
 * A statement on own tables, checked by the compiler against `MirrorTables`; `p` has its parameters, by name. It is built
 * when it is first used, and prepared once for each connection.
 *
 * @example statement((db, p: { key: string }) => db.selectFrom("_meta").select("value").where("key", "=", p.key))
 */
export function statement<P, R>(
  build: (db: Builder, p: P) => { compile(provider: kysely.QueryExecutorProvider): kysely.CompiledQuery<R> },
) {
  let compiled: kysely.CompiledQuery | null = null;
  const compile = () => (compiled ??= build(builder, parameters as P).compile(builder));
  const on = (db: Db, mode: Mode = "rows") => prepared(db, compile, mode, mode, () => compile().sql);
  const bound = ([values = {}]: readonly unknown[]) => {
    const given = values as Readonly<Record<string, unknown>>;
    return compile().parameters.map((name) => bindable(given[name as string]));
  };
  type Column = R[keyof R];
  return {
    run: (db: Db, ...values: Values<P>) => on(db).run(...bound(values)),
    all: (db: Db, ...values: Values<P>) => on(db).all(...bound(values)) as R[],
    first: (db: Db, ...values: Values<P>) => on(db).get(...bound(values)) as R | undefined,
    iterate: (db: Db, ...values: Values<P>) => on(db).iterate(bound(values)) as IterableIterator<R>,
    column: (db: Db, ...values: Values<P>) => on(db, "column").all(...bound(values)) as Column[],
    /** The only column of the first row. */
    value: (db: Db, ...values: Values<P>) => on(db, "column").get(...bound(values)) as Column | undefined,
    /** All rows, with ids of records. */
    exact: (db: Db, ...values: Values<P>) => withIds<R>(on(db, "exact").all(...bound(values))),
  };
}

/** Of rows with bigints: only ids beyond 2^53 stay such. */
function withIds<T>(rows: unknown[]): T[] {
  for (const row of rows as Record<string, unknown>[])
    for (const [name, cell] of Object.entries(row))
      if (typeof cell === "bigint") row[name] = canonicalId(cell);
  return rows as T[];
}

export const count = kysely.sql<number>`count(*)`.as("count");

/** The values of a parameter that is a list: `where("resource", "in", among(p.resources))`. */
export function among<T>(values: readonly T[]): kysely.RawBuilder<T> {
  return kysely.sql<T>`(select value from json_each(${values}))`;
}

type Table = keyof MirrorTables;
type Where<T extends Table> = { readonly [C in keyof OwnRow<T>]?: OwnRow<T>[C] | readonly OwnRow<T>[C][] };

/** Adds a row, `or replace` in place of the one with the same key. Gives the number that SQLite gave it. */
export function insertRow<T extends Table>(
  db: Db,
  table: T,
  row: kysely.Insertable<MirrorTables[T]>,
  or: "" | "or replace" | "or ignore" = "",
): number {
  const places = Object.keys(row).map(() => "+?");
  const text = `insert ${or} into ${table} (${quotedNames(Object.keys(row))}) values (${places.join()})`;
  return Number(ofText(db, text).run(Object.values(row)).lastInsertRowid);
}

/** Changes rows. Gives how many. */
export function updateRows<T extends Table>(
  db: Db,
  table: T,
  changes: kysely.Updateable<MirrorTables[T]>,
  where: Where<T>,
): number {
  const set = Object.keys(changes).map((name) => `"${name}" = +?`);
  const text = `update ${table} set ${set.join()} where ${conditions(where)}`;
  return ofText(db, text).run([...Object.values(changes), ...valuesIn(where)]).changes;
}

/** Removes rows; all of them without a value. Gives how many. */
export function removeRows<T extends Table>(db: Db, table: T, where: Where<T>): number {
  return ofText(db, `delete from ${table} where ${conditions(where)}`).run(valuesIn(where)).changes;
}

/** These columns of rows, in the order of another one. */
export function selectRows<T extends Table, C extends keyof OwnRow<T> & string>(
  db: Db,
  table: T,
  columns: readonly C[],
  where: Where<T>,
  orderBy: (keyof OwnRow<T> & string) | 1 = 1,
): Pick<OwnRow<T>, C>[] {
  const text = `select ${quotedNames(columns)} from ${table} where ${conditions(where)} order by ${orderBy}`;
  return withIds(ofText(db, text, "exact").all(valuesIn(where)));
}

export function hasRow<T extends Table>(db: Db, table: T, where: Where<T>): boolean {
  return ofText(db, `select 1 from ${table} where ${conditions(where)}`).get(valuesIn(where)) !== undefined;
}

export function countRows<T extends Table>(db: Db, table: T, where: Where<T>): number {
  const text = `select count(*) from ${table} where ${conditions(where)}`;
  return ofText(db, text, "column").get(valuesIn(where)) as number;
}

/** The highest number in a column; 0: there is no row. */
export function highest<T extends Table>(db: Db, table: T, column: keyof OwnRow<T> & string): number {
  return ofText(db, `select coalesce(max("${column}"), 0) from ${table}`, "column").get() as number;
}

/**
 * What a column holds as JSON; `isSound`: is it of the kind that is stored there?
 *
 * @throws MirrorError `database` where it is not: somebody changed it
 */
export function parseStored(db: Db, json: string, isSound = (_value: unknown) => true): unknown {
  const value = valueOr(() => JSON.parse(json) as unknown, undefined);
  if (value !== undefined && isSound(value)) return value;
  throw databaseError(db.name, new Error("malformed JSON"));
}

function quotedNames(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join();
}

function conditions(where: object): string {
  const all = Object.entries(where).map(([name, value]) => {
    if (value === null) return `"${name}" is null`;
    return `"${name}" ${Array.isArray(value) ? "in (select value from json_each(+?))" : "= +?"}`;
  });
  return ["true", ...all].join(" and ");
}

function valuesIn(where: object): unknown[] {
  return Object.values(where).flatMap((value: unknown) => (value === null ? [] : [bindable(value)]));
}

function bindable(value: unknown): unknown {
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

function ofText(db: Db, text: string, mode: Mode = "rows"): Statement {
  return prepared(db, mode, text, mode, () => text);
}

/**
 * Base of the classes whose SQL is text, because kysely makes it no clearer (see `MirrorTables`). Give a text to one of
 * these methods only, because the mode that it sets stays with the statement.
 */
export abstract class Repository {
  protected readonly db: Db;

  constructor(db: Db) {
    this.db = db;
  }

  /** The prepared statement of a text. As those of kysely, it is planned once: see `StatementCompiler`. */
  protected statement(sql: string, mode: Mode = "rows"): Statement {
    return prepared(this.db, mode, sql, mode, () => sql.replaceAll("?", "+?"));
  }

  protected execute(sql: string, ...values: readonly unknown[]): RunResult {
    return this.statement(sql).run(...values);
  }

  /** All rows; `T` has the names of the query's columns. */
  protected selectAll<T>(sql: string, ...values: readonly unknown[]): T[] {
    return this.statement(sql).all(...values) as T[];
  }

  /** All rows, with ids of records. */
  protected selectExact<T>(sql: string, ...values: readonly unknown[]): T[] {
    return withIds(this.statement(sql, "exact").all(...values));
  }

  protected exists(sql: string, ...values: readonly unknown[]): boolean {
    return this.statement(sql).get(...values) !== undefined;
  }

  protected selectColumn<T>(sql: string, ...values: readonly unknown[]): T[] {
    return this.statement(sql, "column").all(...values) as T[];
  }

  /** The first column of all rows, as ids of records. */
  protected selectIds(sql: string, ...values: readonly unknown[]): RecordId[] {
    return (this.statement(sql, "ids").all(...values) as bigint[]).map(canonicalId);
  }
}
