import Database from "better-sqlite3";
import { expect } from "vitest";
import type { Company } from "./company.ts";
import { expectedRow, truthOf, type Cells, type Told, type Truth } from "./truth.ts";

type Db = Database.Database;
type Row = Record<string, string | number | null>;

/** Opens the mirror as any program would: plain SQL, nothing of ours. */
export function look<T>(file: string, use: (db: Db) => T): T {
  const db = new Database(file, { readonly: true });
  try {
    return use(db);
  } finally {
    db.close();
  }
}

export interface EqualOptions {
  /** The sandbox's company, by index. */
  readonly of?: number;
  /** These tables only. */
  readonly tables?: readonly string[];
}

/** Every record, every column and every part of the service stands in the mirror, and nothing else (I11). */
export function expectEqual(company: Company, options: EqualOptions = {}): Truth {
  const truth = truthOf(company.sandbox, options.of);
  expect(look(company.file, (db) => differences(db, truth, options.tables))).toEqual([]);
  return truth;
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

function tableDifferences(db: Db, table: string, records: ReadonlyMap<string, Told>): string[] {
  const live = rowsById(db.prepare(`SELECT * FROM "${table}" WHERE _deleted_at IS NULL`).all() as Row[]);
  const raw = rawTexts(db, table);
  const extra = [...live.keys()]
    .filter((id) => !records.has(id))
    .map((id) => `${table} ${id}: not in the service`);
  const children = childrenOf(db, table, records);
  const differing = [...records].flatMap(([id, told]) => {
    const row = live.get(id);
    if (!row) return [`${table} ${id}: missing`];
    const wrong = rowDifferences(row, expectedRow(table, told.json).cells);
    if (raw.get(id) !== told.text) wrong.push("_raw differs");
    return wrong.map((what) => `${table} ${id}: ${what}`);
  });
  return [...extra, ...differing, ...children];
}

function rowsById(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [String(row["id"]), row]));
}

function rawTexts(db: Db, table: string): Map<string, string> {
  const rows = db.prepare("SELECT id, json FROM _raw WHERE resource = ?").all(table) as {
    id: number;
    json: string;
  }[];
  return new Map(rows.map(({ id, json }) => [String(id), json]));
}

/** Both ways: what the row should hold, and that it holds nothing besides. */
export function rowDifferences(row: Row, cells: Cells): string[] {
  const wrong: string[] = [];
  for (const name of new Set([...Object.keys(cells), ...Object.keys(row)])) {
    if (name.startsWith("_")) continue;
    if (!(name in row)) {
      if (cells[name] !== null || !hasPrefix(row, name)) wrong.push(`no column ${name}`);
    } else if ((cells[name] ?? null) !== (row[name] ?? null)) {
      wrong.push(
        `${name} is ${JSON.stringify(row[name])}, the service has ${JSON.stringify(cells[name] ?? null)}`,
      );
    }
  }
  return wrong;
}

/** A nested object that is null leaves its columns empty: `status` null, `status_id` null. */
function hasPrefix(row: Row, name: string): boolean {
  return Object.keys(row).some((column) => column.startsWith(`${name}_`));
}

function childrenOf(db: Db, table: string, records: ReadonlyMap<string, Told>): string[] {
  const expected = new Map<string, Cells[]>();
  for (const [, { json }] of records) {
    for (const [child, rows] of expectedRow(table, json).children) {
      const all = expected.get(child);
      if (all) all.push(...rows);
      else expected.set(child, [...rows]);
    }
  }
  return [...expected].flatMap(([child, rows]) => childDifferences(db, child, rows));
}

function childDifferences(db: Db, child: string, expected: readonly Cells[]): string[] {
  const rows = db.prepare(`SELECT * FROM "${child}"`).all() as Row[];
  const [parentKey = ""] = Object.keys(rows[0] ?? {});
  const keyOf = (row: Cells) => `${row[parentKey]}[${row["position"]}]`;
  const present = new Map(rows.map((row) => [keyOf(row), row]));
  const count =
    rows.length === expected.length
      ? []
      : [`${child}: ${rows.length} rows, the service has ${expected.length}`];
  const wrong = expected.flatMap((cells) => {
    const row = present.get(keyOf(cells));
    const what = row ? rowDifferences(row, cells) : ["missing"];
    return what.map((one) => `${child} ${keyOf(cells)}: ${one}`);
  });
  return [...count, ...wrong];
}

/** Every row of every table but the named ones, as text: to see that nothing was written. */
export function dump(file: string, except: readonly string[] = ["_runs"]): Record<string, string[]> {
  return look(file, (db) => {
    const tables = db
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .pluck()
      .all() as string[];
    const kept = tables.filter((name) => !except.includes(name) && !name.startsWith("sqlite_"));
    return Object.fromEntries(
      kept.map((name) => [
        name,
        db
          .prepare(`SELECT * FROM "${name}"`)
          .raw()
          .all()
          .map((row) => JSON.stringify(row))
          .toSorted(),
      ]),
    );
  });
}

export function count(file: string, sql: string, ...parameters: readonly (string | number)[]): number {
  return look(file, (db) =>
    Number(
      db
        .prepare(sql)
        .pluck()
        .get(...parameters),
    ),
  );
}
