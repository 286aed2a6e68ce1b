import type { RunResult } from "better-sqlite3";
import * as kysely from "kysely";
import type { Db, Statement } from "../database.ts";
import { keptStatements, rowsWithIds } from "../kept-statements.ts";
import type { MirrorTables } from "./mirror-tables.ts";

/** Builds statements on the mirror's own tables. It has no database. */
export type Builder = kysely.Kysely<MirrorTables>;

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

/** What a builder or the `sql` template makes. */
interface Built<R> {
  compile(provider: kysely.QueryExecutorProvider): kysely.CompiledQuery<R>;
}

/** Values by the names of a statement's parameters; nothing where it has none. Lists are bound as JSON, for `among`. */
type Values<P> = unknown extends P ? [] : [values: P];

/** A statement on own tables. It is built when it is first used, and prepared once for each connection. */
export class OwnStatement<P, R> {
  private readonly build: (db: Builder, p: P) => Built<R>;
  private compiled: { readonly text: string; readonly names: readonly string[] } | null = null;

  constructor(build: (db: Builder, p: P) => Built<R>) {
    this.build = build;
  }

  run(db: Db, ...values: Values<P>): RunResult {
    return this.prepared(db).run(...this.bound(values));
  }

  all(db: Db, ...values: Values<P>): R[] {
    return this.prepared(db).all(...this.bound(values)) as R[];
  }

  first(db: Db, ...values: Values<P>): R | undefined {
    return this.prepared(db).get(...this.bound(values)) as R | undefined;
  }

  iterate(db: Db, ...values: Values<P>): IterableIterator<R> {
    return this.prepared(db).iterate(this.bound(values)) as IterableIterator<R>;
  }

  /** The only column of all rows. */
  column(db: Db, ...values: Values<P>): R[keyof R][] {
    return this.prepared(db, "column").all(...this.bound(values)) as R[keyof R][];
  }

  /** The only column of the first row. */
  value(db: Db, ...values: Values<P>): R[keyof R] | undefined {
    return this.prepared(db, "column").get(...this.bound(values)) as R[keyof R] | undefined;
  }

  /** All rows, with ids of records. */
  exact(db: Db, ...values: Values<P>): R[] {
    return rowsWithIds(this.prepared(db, "exact"), this.bound(values));
  }

  private prepared(db: Db, mode: "rows" | "column" | "exact" = "rows"): Statement {
    const kept = keptStatements(db, this);
    const known = kept.get(mode);
    if (known) return known;
    const made = db.prepare(this.compile().text);
    if (mode === "column") made.pluck();
    kept.set(mode, made);
    return made;
  }

  private compile() {
    if (this.compiled) return this.compiled;
    const { sql: text, parameters: names } = this.build(builder, parameters as P).compile(builder);
    return (this.compiled = { text, names: names as readonly string[] });
  }

  private bound([values]: Values<P>): unknown[] {
    const given = (values ?? {}) as Readonly<Record<string, unknown>>;
    const { names } = this.compile();
    const bound: unknown[] = [];
    for (const name of names) {
      const value = given[name];
      bound.push(Array.isArray(value) ? JSON.stringify(value) : value);
    }
    return bound;
  }
}

/**
 * A statement on own tables, checked by the compiler against `MirrorTables`; `p` has its parameters, by name.
 *
 * @example statement((db, p: { key: string }) => db.selectFrom("_meta").select("value").where("key", "=", p.key))
 */
export function statement<P, R>(build: (db: Builder, p: P) => Built<R>): OwnStatement<P, R> {
  return new OwnStatement(build);
}

/** `count(*)`, as the column `count`. */
export const count = kysely.sql<number>`count(*)`.as("count");

/** The values of a parameter that is a list: `where("resource", "in", among(p.resources))`. */
export function among<T>(values: readonly T[]): kysely.RawBuilder<T> {
  return kysely.sql<T>`(select value from json_each(${values}))`;
}
