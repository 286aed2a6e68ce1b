import { sql, type ColumnDefinitionBuilder, type Generated, type RawBuilder } from "kysely";
import type { RecordId } from "../../base/ids.ts";

/** A column as SQLite declares it. `T`: what its values are here; no value is ever set. */
export interface Column<T> {
  readonly type: "text" | "integer" | RawBuilder<unknown>;
  readonly define: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
  /** Is it a part of the key, by which the table is stored? @default false */
  readonly isKey?: boolean;
  readonly values?: T;
}

function required<T>(type: Column<T>["type"]): Column<T> {
  return { type, define: (column) => column.notNull() };
}

export const text = required<string>("text");
export const integer = required<number>("integer");
/** The id of a record, which may be beyond 2^53. */
export const bigId = required<RecordId>("integer");
export const bytesOrText = required<string | Buffer | number>(sql`any`);
/** SQLite numbers the rows. */
export const rowNumber: Column<Generated<number>> = { type: "integer", define: (one) => one.primaryKey() };
/** The same; a number is never given again. */
export const uniqueNumber: Column<Generated<number>> = {
  type: "integer",
  define: (column) => column.primaryKey().autoIncrement(),
};

/** One of some words. */
export function wordOf<T extends string>(): Column<T> {
  return required("text");
}

/** A column that may be null. */
export function maybe<T>({ type }: Column<T>): Column<T | null> {
  return { type, define: (column) => column };
}

/** A part of the key. */
export function key<T>(column: Column<T>): Column<T> {
  return { ...column, isKey: true };
}

/** A column that need not be given. */
export function withDefault<T>({ type }: Column<T>, value: T): Column<Generated<T>> {
  return { type, define: (column) => column.notNull().defaultTo(value) };
}

/** Several columns of one kind. */
export function columnsOf<T, N extends string>(column: Column<T>, ...names: N[]): Record<N, Column<T>> {
  return Object.fromEntries(names.map((name) => [name, column])) as Record<N, Column<T>>;
}
