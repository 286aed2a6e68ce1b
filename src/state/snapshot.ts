import { existsSync } from "node:fs";
import { MirrorError } from "../base/errors.ts";
import type { Manifest } from "../connector/manifest.ts";
import { quoted } from "../store/sql-text.ts";
import { migrations } from "../store/migrations/migrate.ts";
import { Runs } from "./runs.ts";
import { about, snapshotTables, type SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import { guarded, openDatabase, type Db } from "../store/database.ts";
import { sweptAt } from "./sweeps.ts";

export interface SnapshotOptions {
  /** The local date that ages are counted against: `2026-11-22`. */
  readonly reportDate: string;
  /** More that `_about` is to tell of the report: the company's name, the time, the program's version. */
  readonly facts?: Readonly<Record<string, string>>;
}

interface SnapshotRun {
  readonly id: number;
  readonly mode: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly outcome: string;
}

/**
 * The mirror at one moment, as people read it. Under their plain names stand live rows without own columns,
 * the connector's views, `deleted_records` and `_about`: temporary views, gone with the connection.
 *
 * Guarantee: everything read through `db` is of the same commit, however long it takes and whatever is
 * written meanwhile. Nothing is written but to the connection's own temporary tables.
 */
export interface Snapshot {
  readonly db: Db;
  readonly tables: readonly SnapshotTable[];
  /** Of the last change it holds; 0 for none. */
  readonly seq: number;
  /** The last run that ended. */
  readonly run: SnapshotRun | null;
  /** When each resource was last read whole, ISO; null: never. */
  readonly swept: Readonly<Record<string, string | null>>;
  close(): void;
}

/** Beside a running writer. Throws MirrorError `database` where there is no mirror that this version can read. */
export function openSnapshot(path: string, manifest: Manifest, options: SnapshotOptions): Snapshot {
  if (!existsSync(path)) {
    throw new MirrorError("database", `there is no mirror yet: ${path}`, {
      hint: "Run `fintoro-mirror sync` first.",
    });
  }
  const db = openDatabase(path, { readonly: true });
  try {
    return guarded(path, () => {
      db.exec("BEGIN");
      return showSnapshot(db, "main", manifest, options);
    });
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The same on a connection whose transaction has begun, of the mirror attached as `schema`. */
export function showSnapshot(db: Db, schema: string, manifest: Manifest, options: SnapshotOptions): Snapshot {
  assertReadable(db, schema);
  const seq = Number(db.prepare("SELECT coalesce(max(seq), 0) FROM _change_log").pluck().get());
  const tables = snapshotTables(db, schema, manifest);
  const runs = new Runs(db);
  const run = lastRun(db);
  const swept = Object.fromEntries(
    manifest.resources.map((resource) => [resource.name, sweptAt(manifest, resource, runs)]),
  );
  for (const table of tables) showTable(db, schema, table, tables);
  tellAbout(db, { seq, run, swept }, options);
  return { db, tables, seq, run, swept, close: () => db.close() };
}

function assertReadable(db: Db, schema: string): void {
  const isMirror = columnsIn(db, schema, "_migrations").size > 0;
  const sql = `SELECT name FROM ${quoted(schema)}._migrations`;
  const applied = isMirror ? (db.prepare(sql).pluck().all() as string[]) : [];
  if (applied.length > 0 && applied.every((name) => Object.hasOwn(migrations, name))) return;
  const why =
    applied.length === 0
      ? "it is no mirror, or its first sync was cut off at once"
      : "a newer version wrote it";
  throw new MirrorError("database", `the mirror cannot be read: ${why}: ${db.name}`, {
    hint: applied.length === 0 ? "Run sync, or check data_dir." : "Update fintoro-mirror.",
  });
}

function lastRun(db: Db): SnapshotRun | null {
  const sql = `SELECT id, mode, started_at AS startedAt, finished_at AS finishedAt, outcome FROM _runs
    WHERE finished_at IS NOT NULL ORDER BY id DESC LIMIT 1`;
  return (db.prepare(sql).get() as SnapshotRun | undefined) ?? null;
}

function showTable(db: Db, schema: string, table: SnapshotTable, all: readonly SnapshotTable[]): void {
  if (table.kind === "about") return;
  db.exec(`CREATE TEMP VIEW ${quoted(table.name)} AS ${selectOf(db, schema, table, all)}`);
}

function selectOf(db: Db, schema: string, table: SnapshotTable, all: readonly SnapshotTable[]): string {
  if (table.view) return table.view.sql;
  if (table.kind !== "deleted") return liveRows(db, schema, table);
  const arms = all.filter(({ kind }) => kind === "table").map(({ name }) => tombstones(db, schema, name));
  return arms.join(" UNION ALL ");
}

/** Columns that a newer connector knows and this mirror does not have yet are null. */
function liveRows(db: Db, schema: string, { name, kind, columns }: SnapshotTable): string {
  const present = columnsIn(db, schema, name);
  const shown = columns.map((column) => {
    if (!present.has(column.name.toLowerCase())) return `NULL AS ${quoted(column.name)}`;
    const text = column.scalar === "any" && column.type === "TEXT";
    return text ? `CAST(${quoted(column.name)} AS TEXT) AS ${quoted(column.name)}` : quoted(column.name);
  });
  if (present.size === 0) return `SELECT ${shown.join(", ")} WHERE 0`;
  const live = kind === "table" ? " WHERE _deleted_at IS NULL" : "";
  return `SELECT ${shown.join(", ")} FROM ${quoted(schema)}.${quoted(name)}${live}`;
}

function tombstones(db: Db, schema: string, name: string): string {
  const head = `SELECT '${name}' AS resource`;
  if (columnsIn(db, schema, name).size === 0) return `${head}, NULL AS record_id, NULL AS deleted_at WHERE 0`;
  return `${head}, id AS record_id, _deleted_at AS deleted_at FROM ${quoted(schema)}.${quoted(name)} WHERE _deleted_at IS NOT NULL`;
}

/** Lower-case, as SQLite compares them; never those of a temporary view of the same name. */
function columnsIn(db: Db, schema: string, table: string): Set<string> {
  const sql = "SELECT lower(name) FROM pragma_table_info(?, ?)";
  return new Set(db.prepare(sql).pluck().all(table, schema) as string[]);
}

function tellAbout(
  db: Db,
  { seq, run, swept }: Pick<Snapshot, "seq" | "run" | "swept">,
  { reportDate, facts = {} }: SnapshotOptions,
): void {
  db.exec(
    `CREATE TEMP TABLE ${about.name} (subject TEXT, fact TEXT, value TEXT, PRIMARY KEY (subject, fact))`,
  );
  const insert = db.prepare(`INSERT INTO temp.${about.name} VALUES (?, ?, ?)`);
  const tell = (subject: string, told: Readonly<Record<string, string | number | null>>) => {
    for (const [fact, value] of Object.entries(told))
      insert.run(subject, fact, value === null ? null : String(value));
  };
  tell("report", { ...facts, report_date: reportDate, seq });
  if (run) {
    const { id, mode, startedAt, finishedAt, outcome } = run;
    tell("run", { id, mode, outcome, started_at: startedAt, finished_at: finishedAt });
  }
  for (const [name, freshAt] of Object.entries(swept)) tell(name, { fresh_at: freshAt });
}
