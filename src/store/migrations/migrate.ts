import { sql } from "kysely";
import { MirrorError } from "../../base/errors.ts";
import { firstTables, type OwnColumn } from "../own-tables/mirror-tables.ts";
import { builder } from "../own-tables/statement.ts";
import { hasTable, inTransaction, mayBeThere, openDatabase, type Db, type OwnedDb } from "../database.ts";
import { quoted } from "../sql-text.ts";

const make = builder.schema;

/**
 * The mirror's own tables. Resource tables are not here: they follow the connector's fields
 * (store/tables), so that a new field needs no migration.
 */
const first = [
  ...Object.entries(firstTables).map(([name, columns]) => createTable(name, columns)),
  // In the order of leases: without the rank every lease would sort the whole lane. Rechecks wait in the webhook lane
  // until they are due: they must cost nothing until then.
  make.createIndex("_work_next").on("_work").columns(["state", "lane", "due_ms", "rank", "id"]),
  make.createIndex("_work_target").on("_work").columns(["resource", "target"]).unique(),
  // Details are read in turn over the resources.
  make
    .createIndex("_work_turns")
    .on("_work")
    .columns(["lane", "resource", "rank", "id"])
    .where(sql.ref("state"), "=", "ready"),
  // By arrival: events are added at its end. An index by (resource, target) would write a page per event.
  make
    .createIndex("_inbox_waiting")
    .on("_inbox")
    .columns(["dirty_seq", "resource", "target"])
    .where(sql.ref("state"), "=", "waiting"),
  // Quick runs are many, and their reports long: whoever looks for what was read whole passes over none of them.
  make.createIndex("_runs_whole").on("_runs").column("id").where(sql.ref("mode"), "<>", "quick"),
  make.createIndex("_runs_finished").on("_runs").column("finished_at"),
  make.createIndex("document_files_by_document").on("document_files").columns(["document", "document_id"]),
].map((made) => made.compile().sql);

function createTable(name: string, columns: Readonly<Record<string, OwnColumn<unknown>>>) {
  const keys = Object.keys(columns).filter((column) => columns[column]?.isKey);
  let table = make.createTable(name);
  for (const [column, { type, define }] of Object.entries(columns))
    table = table.addColumn(column, type, define);
  if (keys.length === 0) return table.modifyEnd(sql`strict`);
  return table.addPrimaryKeyConstraint(`${name}_key`, keys as never[]).modifyEnd(sql`strict, without rowid`);
}

/** Statements by the name of their migration, in the order in which they are applied. */
export type Migrations = Readonly<Record<string, Iterable<string>>>;

/** From version 0.1.0 on, a released step never changes. */
export const migrations: Migrations = { "0001-first": first };

const table = "_migrations";

/**
 * Brings the mirror's own tables up to this version in one transaction: a crash leaves the database as it was.
 * Throws MirrorError `database`, also for a database that a newer version wrote, which stays untouched.
 */
export function migrate(db: Db, steps = migrations): void {
  const known = appliedMigrations(db);
  refuseNewer(db, steps, known);
  if (known.length === Object.keys(steps).length) return;
  inTransaction(db, () => {
    db.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (name TEXT NOT NULL PRIMARY KEY, timestamp TEXT NOT NULL) STRICT`,
    );
    // Another process may have been quicker.
    const applied = new Set(appliedMigrations(db));
    const note = db.prepare(`INSERT INTO ${table} (name, timestamp) VALUES (?, datetime('now'))`);
    for (const [name, statements] of Object.entries(steps)) {
      if (applied.has(name)) continue;
      for (const statement of statements) db.exec(statement);
      note.run(name);
    }
  });
}

/**
 * Opens a mirror to read it, also beside its writer. Null: there is none yet.
 *
 * @throws MirrorError `database` where it is no mirror, or of a newer version
 */
export function openReadable(file: string): OwnedDb | null {
  return mayBeThere(file) ? openDatabase(file, { readonly: true }, (db) => assertReadable(db)) : null;
}

/** Throws MirrorError `database` where no mirror that this version can read is attached as `schema`. */
export function assertReadable(db: Db, schema = "main"): void {
  const applied = appliedMigrations(db, schema);
  if (applied.length > 0 && applied.every((name) => Object.hasOwn(migrations, name))) return;
  const [why, hint] =
    applied.length === 0
      ? ["it is no mirror, or its first sync was cut off at once", "Run sync, or check data_dir."]
      : ["a newer version wrote it", "Update fintoro-mirror."];
  // Empty for a database in memory.
  const file = db.prepare("SELECT file FROM pragma_database_list WHERE name = ?").pluck().get(schema);
  throw new MirrorError("database", `the mirror cannot be read: ${why}: ${String(file)}`, { hint });
}

export function appliedMigrations(db: Db, schema = "main"): string[] {
  if (!hasTable(db, table, schema)) return [];
  const select = db.prepare(`SELECT name FROM ${quoted(schema)}.${table} ORDER BY name`);
  return select.pluck().all() as string[];
}

function refuseNewer(db: Db, steps: Migrations, applied: readonly string[]): void {
  const unknown = applied.filter((name) => !Object.hasOwn(steps, name));
  if (unknown.length === 0) return;
  const why = `the database was written by a newer version (${unknown.join(", ")}): ${db.name}`;
  throw new MirrorError("database", why, {
    hint: "Update fintoro-mirror, or point data_dir at another folder.",
  });
}
