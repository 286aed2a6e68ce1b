import { Kysely, sql, SqliteAdapter, SqliteDialect } from "kysely";
import { Migrator, type Migration } from "kysely/migration";
import { MirrorError } from "../../base/errors.ts";
import { first } from "./0001-first.ts";
import { inbox } from "./0002-inbox.ts";
import { inboxIds } from "./0003-inbox-ids.ts";
import { planner } from "./0004-planner.ts";
import type { Db } from "../database.ts";
import { databaseError } from "../database.ts";
import { quoted } from "../sql-text.ts";
import { columnNames } from "../tables/table-layout.ts";

/** Migrations in the order of their names. A released name never changes its meaning. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001-first": migrationOf(first),
  "0002-inbox": migrationOf(inbox),
  "0003-inbox-ids": migrationOf(inboxIds),
  "0004-planner": migrationOf(planner),
};

const table = "_migrations";

function migrationOf(statements: readonly string[]): Migration {
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

/**
 * Brings the mirror's own tables up to this version in one transaction: a crash leaves the database as it was.
 * Throws MirrorError `database`, also for a database that a newer version wrote, which stays untouched.
 */
export async function migrate(db: Db, steps = migrations): Promise<void> {
  const applied = appliedMigrations(db);
  refuseNewer(db, steps, applied);
  if (applied.length === Object.keys(steps).length) return;
  const migrator = new Migrator({
    db: kyselyOn(db),
    provider: { getMigrations: async () => ({ ...steps }) },
    migrationTableName: table,
    migrationLockTableName: `${table}_lock`,
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const known = databaseError(db.name, error);
  if (known instanceof MirrorError) throw known;
  const why = `the database could not be brought up to date: ${db.name}`;
  throw new MirrorError("database", why, { cause: error });
}

/** Throws MirrorError `database` where no mirror that this version can read is attached as `schema`. */
export function assertReadable(db: Db, schema = "main"): void {
  const applied = appliedMigrations(db, schema);
  if (applied.length > 0 && applied.every((name) => Object.hasOwn(migrations, name))) return;
  const [why, hint] =
    applied.length === 0
      ? ["it is no mirror, or its first sync was cut off at once", "Run sync, or check data_dir."]
      : ["a newer version wrote it", "Update fintoro-mirror."];
  throw new MirrorError("database", `the mirror cannot be read: ${why}: ${db.name}`, { hint });
}

/** Names of the migrations that a database has, in their order. */
export function appliedMigrations(db: Db, schema = "main"): string[] {
  if (columnNames(db, table, schema).size === 0) return [];
  const select = db.prepare(`SELECT name FROM ${quoted(schema)}.${table} ORDER BY name`);
  return select.pluck().all() as string[];
}

function refuseNewer(db: Db, steps: typeof migrations, applied: readonly string[]): void {
  const unknown = applied.filter((name) => !Object.hasOwn(steps, name));
  if (unknown.length === 0) return;
  const why = `the database was written by a newer version (${unknown.join(", ")}): ${db.name}`;
  throw new MirrorError("database", why, {
    hint: "Update fintoro-mirror, or point data_dir at another folder.",
  });
}

/** SQLite creates and alters tables in transactions; kysely learns so from its adapter. */
class AtomicAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Kysely would close its database at the end; this one stays open. */
function kyselyOn(db: Db): Kysely<unknown> {
  const database = { prepare: (text: string) => db.prepare(text), close: () => undefined };
  const dialect = new SqliteDialect({ database });
  dialect.createAdapter = () => new AtomicAdapter();
  return new Kysely({ dialect });
}
