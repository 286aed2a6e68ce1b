import { isDeepStrictEqual } from "node:util";
import Database from "better-sqlite3";
import { expectedRow, partOwner, partTables } from "./truth.ts";
import type { Cells, TrueRecord, Truth } from "./truth.ts";

export type Db = Database.Database;
type Row = Record<string, string | number | null>;

interface RawText {
  readonly resource: string;
  readonly id: number;
  readonly json: string;
}

/** Opens the mirror as any program would: plain SQL, nothing of ours. */
export function look<T>(file: string, use: (db: Db) => T): T {
  const db = new Database(file, { readonly: true });
  try {
    return use(db);
  } finally {
    db.close();
  }
}

/** What is not as the service has it; at most some of it. */
export function differences(db: Db, truth: Truth, tables: readonly string[] = [...truth.keys()]): string[] {
  const found: string[] = [];
  for (const table of tables) {
    found.push(...tableDifferences(db, table, truth.get(table) ?? new Map()));
    if (found.length > 20) return [...found.slice(0, 20), "..."];
  }
  return found;
}

function tableDifferences(db: Db, table: string, records: ReadonlyMap<string, TrueRecord>): string[] {
  const live = liveRows(db, table);
  const raw = rawTexts(db, table);
  const extra = [...live.keys()]
    .filter((id) => !records.has(id))
    .map((id) => `${table} ${id}: not in the service`);
  const rows = Array.from(records, ([id, { text, json }]) => ({ id, text, ...expectedRow(table, json) }));
  const wrong = rows.flatMap(({ id, text, cells }) => {
    const row = live.get(id);
    const what = row ? rowDifferences(row, cells) : ["missing"];
    if (row && raw.get(id) !== text) what.push("_raw differs");
    return what.map((one) => `${table} ${id}: ${one}`);
  });
  const isTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?");
  const parts = partTables(table).flatMap((name) => {
    const own = rows.flatMap(({ children }) => children.get(name) ?? []);
    const isThere = own.length > 0 || isTable.get(name) !== undefined;
    return isThere ? partMistakes(db, name, partOwner(table), own) : [];
  });
  return [...extra, ...wrong, ...parts];
}

export function liveRows(db: Db, table: string): Map<string, Row> {
  const rows = db.prepare(`SELECT * FROM "${table}" WHERE _deleted_at IS NULL`).all() as Row[];
  return new Map(rows.map((row) => [String(row["id"]), row]));
}

function rawTexts(db: Db, table: string): Map<string, string> {
  const rows = db.prepare(`SELECT id, json FROM "_raw_${table}"`).raw().all() as [number, string][];
  return new Map(rows.map(([id, json]) => [String(id), json]));
}

/** At once: the view has a part for each resource, and SQLite compiles all of them each time. */
function readRaw(db: Db): RawText[] {
  return db.prepare("SELECT resource, id, json FROM _raw").all() as RawText[];
}

/** Both ways: what the row should hold, and that it holds nothing besides, in the columns that are judged. */
export function rowDifferences(row: Row, cells: Cells, isJudged = (_column: string) => true): string[] {
  const wrong: string[] = [];
  for (const name of new Set([...Object.keys(cells), ...Object.keys(row)])) {
    if (name.startsWith("_") || !isJudged(name)) continue;
    // A field may be called `constructor`.
    const expected = Object.hasOwn(cells, name) ? (cells[name] ?? null) : null;
    if (!Object.hasOwn(row, name)) {
      if (expected !== null || !hasPrefix(row, name)) wrong.push(`no column ${name}`);
    } else if (expected !== (row[name] ?? null)) {
      wrong.push(`${name} is ${JSON.stringify(row[name])}, the service has ${JSON.stringify(expected)}`);
    }
  }
  return wrong;
}

/** A nested object that is null leaves its columns empty: `status` null, `status_id` null. */
function hasPrefix(row: Row, name: string): boolean {
  return Object.keys(row).some((column) => column.startsWith(`${name}_`));
}

/** Where a table of parts holds others than those of the records, of deleted records too. */
function partMistakes(db: Db, table: string, key: string, expected: readonly Cells[]): string[] {
  const nameOf = (row: Cells) => `${row[key]}[${row["position"]}]`;
  const rows = db.prepare(`SELECT * FROM "${table}"`).all() as Row[];
  const left = new Map(rows.map((row) => [nameOf(row), row]));
  const wrong = expected.flatMap((cells) => {
    const name = nameOf(cells);
    const row = left.get(name);
    left.delete(name);
    const what = row ? rowDifferences(row, cells) : ["missing"];
    return what.map((one) => `${table} ${name}: ${one}`);
  });
  return [...wrong, ...[...left.keys()].map((name) => `${table} ${name}: belongs to no record`)];
}

/** Every row of every table but the named ones, as text: to see that nothing was written. */
export function dump(file: string, except: readonly string[] = ["_runs"]): Record<string, string[]> {
  return look(file, (db) => {
    const named = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck();
    const tables = named.all() as string[];
    const kept = tables.filter((name) => !except.includes(name) && !name.startsWith("sqlite_"));
    const rowsOf = (name: string) => db.prepare(`SELECT * FROM "${name}"`).raw().all();
    const textsOf = (name: string) => rowsOf(name).map((row) => JSON.stringify(row));
    return Object.fromEntries(kept.map((name) => [name, textsOf(name).toSorted()]));
  });
}

/** The first value that a query gives. */
export function cell(file: string, sql: string, ...parameters: readonly unknown[]): unknown {
  return look(file, (db) => {
    const found = db.prepare(sql).pluck();
    return found.get(...parameters);
  });
}

export function count(file: string, sql: string, ...parameters: readonly unknown[]): number {
  return Number(cell(file, sql, ...parameters));
}

/** I5: records that the mirror calls deleted although the service has them. */
export function falseTombstones(file: string, truth: Truth): string[] {
  return look(file, (db) =>
    [...truth].flatMap(([table, records]) => {
      const deleted = db.prepare(`SELECT id FROM "${table}" WHERE _deleted_at IS NOT NULL`).pluck();
      return (deleted.all() as number[])
        .filter((id) => records.has(String(id)))
        .map((id) => `${table} ${id}: deleted here, live in the service`);
    }),
  );
}

export interface LoggedChange {
  readonly resource: string;
  readonly id: number;
  readonly op: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** What a mirror holds of a record, deleted ones too. */
export interface MirroredRecord {
  readonly table: string;
  readonly id: number;
  readonly isDeleted: boolean;
  /** Null where there is a row and no JSON. */
  readonly json: string | null;
}

/** I2: where the change log of a mirror's file does not give its records. */
export function unreplayable(file: string): string[] {
  return look(file, (db) => {
    const sql = "SELECT record_id AS id, * FROM _changes WHERE op <> 'event' ORDER BY seq";
    const changes = db.prepare(sql).all() as LoggedChange[];
    const raw = Map.groupBy(readRaw(db), ({ resource }) => resource);
    const records = [...raw].flatMap(([table, texts]) => {
      const deleted = db.prepare(`SELECT id FROM "${table}" WHERE _deleted_at IS NOT NULL`);
      const gone = new Set(deleted.pluck().all());
      return texts.map(({ id, json }) => ({ table, id, json, isDeleted: gone.has(id) }));
    });
    return replayMistakes(changes, records);
  });
}

/** Where the change log from 0 does not give the live records, a row a change, and none for what changed nothing. */
export function replayMistakes(
  changes: readonly LoggedChange[],
  records: Iterable<MirroredRecord>,
): string[] {
  const live = new Map<string, string>();
  const odd: string[] = [];
  for (const { resource, id, op, before, after } of changes) {
    const key = `${resource} ${id}`;
    const name = `${key}: ${op}`;
    if ((live.get(key) ?? null) !== before) odd.push(`${name} over something else`);
    if ((op === "insert") !== !live.has(key)) odd.push(`${name} where it cannot be`);
    if ((op === "delete") !== (after === null)) odd.push(`${name} that leaves ${after ?? "nothing"}`);
    if (saysTheSame(before, after)) odd.push(`${name} that changes nothing`);
    if (after === null) live.delete(key);
    else live.set(key, after);
  }
  for (const { table, id, isDeleted, json } of records) {
    const key = `${table} ${id}`;
    if (!isDeleted && live.get(key) !== json) odd.push(`${key}: not what the change log gives`);
    if (isDeleted && live.has(key)) odd.push(`${key}: deleted, and the change log does not say so`);
    live.delete(key);
  }
  return [...odd, ...[...live.keys()].map((key) => `${key}: in the change log only`)];
}

/** Are two records equal but for the order of their keys? */
function saysTheSame(one: string | null, other: string | null): boolean {
  if (one === other) return true;
  if (one === null || other === null || one.length !== other.length) return false;
  return isDeepStrictEqual(JSON.parse(one), JSON.parse(other));
}
