import Database from "better-sqlite3";
import { expectedRow, type Cells, type ExpectedRow, type TrueRecord, type Truth } from "./truth.ts";

export type Db = Database.Database;
type Row = Record<string, string | number | null>;

/** Of the view `_raw`. */
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
  const raw = rawTexts(db);
  for (const table of tables) {
    found.push(...tableDifferences(db, table, truth.get(table) ?? new Map(), raw.get(table) ?? new Map()));
    if (found.length > 20) return [...found.slice(0, 20), "..."];
  }
  return found;
}

/** All that is not as the service has it in one table. */
function tableDifferences(
  db: Db,
  table: string,
  records: ReadonlyMap<string, TrueRecord>,
  raw: ReadonlyMap<string, string>,
): string[] {
  const live = rowsById(db.prepare(`SELECT * FROM "${table}" WHERE _deleted_at IS NULL`).all() as Row[]);
  const extra = [...live.keys()]
    .filter((id) => !records.has(id))
    .map((id) => `${table} ${id}: not in the service`);
  const rows = new Map(Array.from(records, ([id, { json }]) => [id, expectedRow(table, json)]));
  const children = childrenOf(db, [...rows.values()]);
  const differing = [...rows].flatMap(([id, { cells }]) => {
    const row = live.get(id);
    if (!row) return [`${table} ${id}: missing`];
    const wrong = rowDifferences(row, cells);
    if (raw.get(id) !== records.get(id)?.text) wrong.push("_raw differs");
    return wrong.map((what) => `${table} ${id}: ${what}`);
  });
  return [...extra, ...differing, ...children];
}

function rowsById(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [String(row["id"]), row]));
}

/** By resource and id. Read at once: the view has a part for each resource, and SQLite compiles all of them each time. */
function rawTexts(db: Db): Map<string, Map<string, string>> {
  const rows = db.prepare("SELECT resource, id, json FROM _raw").all() as RawText[];
  const byResource = Map.groupBy(rows, ({ resource }) => resource);
  return new Map(
    Array.from(byResource, ([resource, texts]) => [
      resource,
      new Map(texts.map(({ id, json }) => [String(id), json])),
    ]),
  );
}

/** Both ways: what the row should hold, and that it holds nothing besides. */
export function rowDifferences(row: Row, cells: Cells): string[] {
  const wrong: string[] = [];
  for (const name of new Set([...Object.keys(cells), ...Object.keys(row)])) {
    if (name.startsWith("_")) continue;
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

function childrenOf(db: Db, records: readonly ExpectedRow[]): string[] {
  const expected = new Map<string, Cells[]>();
  for (const { children } of records) {
    for (const [child, rows] of children) {
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
  const counted =
    rows.length === expected.length
      ? []
      : [`${child}: ${rows.length} rows, the service has ${expected.length}`];
  const wrong = expected.flatMap((cells) => {
    const row = present.get(keyOf(cells));
    const what = row ? rowDifferences(row, cells) : ["missing"];
    return what.map((one) => `${child} ${keyOf(cells)}: ${one}`);
  });
  return [...counted, ...wrong];
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

/** I5: records that the mirror calls deleted although the service has them. */
export function falseTombstones(file: string, truth: Truth): string[] {
  return look(file, (db) =>
    [...truth].flatMap(([table, records]) => {
      const ids = db
        .prepare(`SELECT id FROM "${table}" WHERE _deleted_at IS NOT NULL`)
        .pluck()
        .all() as number[];
      return ids
        .filter((id) => records.has(String(id)))
        .map((id) => `${table} ${id}: deleted here, live in the service`);
    }),
  );
}

interface Change {
  readonly resource: string;
  readonly record_id: number;
  readonly op: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** I2: where the change log from 0 does not give the live records, or a `before` is not what stood there. */
export function unreplayable(file: string): string[] {
  return look(file, (db) => {
    const live = new Map<string, string>();
    const odd: string[] = [];
    for (const change of db
      .prepare("SELECT * FROM _changes WHERE op <> 'event' ORDER BY seq")
      .iterate() as Iterable<Change>) {
      const key = `${change.resource} ${change.record_id}`;
      if ((live.get(key) ?? null) !== change.before) odd.push(`${key}: ${change.op} over something else`);
      if ((change.op === "insert") !== !live.has(key)) odd.push(`${key}: ${change.op} where it cannot be`);
      if (change.after === null) live.delete(key);
      else live.set(key, change.after);
    }
    return [...odd, ...notLive(db, live)];
  });
}

const isDetail = (column: string) => `json_type(${column}, '$.items') IS NOT NULL`;

/**
 * I3: where a preview stands in place of a detail, or a row does not say truly whether it is provisional.
 *
 * @param tables whose lists show previews, with the key of their parts that only details have
 */
export function provisionalMistakes(file: string, tables: readonly string[]): string[] {
  return look(file, (db) =>
    tables.flatMap((table) => {
      const said =
        db.prepare(`SELECT t.id FROM "${table}" t JOIN _raw r ON r.resource = '${table}' AND r.id = t.id
        WHERE t._deleted_at IS NULL AND ((t._detail_at IS NULL) <> (r.kind = 'preview')
          OR (t._detail_at IS NULL) = (${isDetail("r.json")}))`);
      const lost = db.prepare(`SELECT record_id FROM _changes WHERE resource = '${table}' AND op = 'update'
        AND ${isDetail("before")} AND NOT ${isDetail("after")}`);
      const ids = (of: typeof said) => of.pluck().all() as number[];
      return [
        ...ids(said).map((id) => `${table} ${id}: provisional or not, it says the contrary`),
        ...ids(lost).map((id) => `${table} ${id}: a preview replaced its detail`),
      ];
    }),
  );
}

function notLive(db: Db, replayed: ReadonlyMap<string, string>): string[] {
  const rows = db.prepare("SELECT resource, id, json FROM _raw").all() as RawText[];
  const tables = [...new Set(rows.map(({ resource }) => resource))];
  const gone = new Set(
    tables.flatMap((table) =>
      (db.prepare(`SELECT id FROM "${table}" WHERE _deleted_at IS NOT NULL`).pluck().all() as number[]).map(
        (id) => `${table} ${id}`,
      ),
    ),
  );
  const live = new Map(rows.map(({ resource, id, json }) => [`${resource} ${id}`, json]));
  const missing = [...live].filter(([key, json]) => !gone.has(key) && replayed.get(key) !== json);
  const extra = [...replayed.keys()].filter((key) => !live.has(key) || gone.has(key));
  return [
    ...missing.map(([key]) => `${key}: not what the log gives`),
    ...extra.map((key) => `${key}: only in the log`),
  ];
}
