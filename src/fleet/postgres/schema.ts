import { sql } from "kysely";
import { MirrorError } from "../../base/errors.ts";
import type { Postgres, Sql } from "./connection.ts";
import { firstFleetTables, type FleetDb } from "./fleet-database.ts";

/** Any number that no other program takes for its advisory locks. */
const migrationLock = 5_640_917_273_001;

const keysOfTwo: Readonly<Record<string, readonly string[]>> = {
  inbox: ["company", "seq"],
  changes: ["company", "seq"],
  packages: ["company", "month"],
};

/** Tables whose rows are written once, or seldom. Those of others leave room on their page for updates. */
const steadyTables = new Set(["migrations", "companies", "inbox", "changes"]);

/** No index holds what changes often: such an update writes no index. */
function firstStep({ schema: make }: FleetDb) {
  return [
    make.createSchema("fintoro_mirror").ifNotExists(),
    ...Object.entries(firstFleetTables).map(([name, columns]) => {
      let table = make.createTable(name);
      for (const [column, { type }] of Object.entries(columns))
        table = table.addColumn(column, sql.raw(type));
      const key = keysOfTwo[name];
      if (key) table = table.addPrimaryKeyConstraint(`${name}_pkey`, key as never[]);
      return steadyTables.has(name) ? table : table.modifyEnd(sql`with (fillfactor = 50)`);
    }),
    make.createIndex("companies_account").on("companies").column("account").where("account", "is not", null),
    make.createIndex("companies_changed").on("companies").column("changed_at"),
    sql`CREATE INDEX companies_removed ON fintoro_mirror.companies (changed_at) WHERE removed`,
    // Makes the epoch a key: FOR KEY SHARE then holds off a claim (a new epoch), and no renewal (a later expiry).
    make.createIndex("owners_epoch").on("owners").columns(["company", "epoch"]).unique(),
    make.createIndex("owners_held").on("owners").column("node").where("node", "is not", null),
    sql`CREATE INDEX owners_failed ON fintoro_mirror.owners (company) WHERE failures > 0`,
    sql`CREATE INDEX inbox_heads_waiting ON fintoro_mirror.inbox_heads (company) WHERE waiting`,
    // Not the id itself: an index holds no text of more than 2,700 bytes, and the service decides how long ids are.
    sql`CREATE UNIQUE INDEX inbox_event
      ON fintoro_mirror.inbox (company, left(event_id, 200), hashtextextended(event_id, 0))`,
    // A block range index of rows whose space is used again would soon name every block as one with old rows.
    make.createIndex("inbox_received").on("inbox").column("received_at"),
    make.createIndex("changes_published").on("changes").column("published_at"),
    make.createIndex("packages_due").on("packages").column("due_at").where("due_at", "is not", null),
    sql`INSERT INTO fintoro_mirror.timeline (number, id, beats) VALUES (1, gen_random_uuid(), 0)`,
  ];
}

/**
 * The steps from nothing to the newest tables. From version 0.1.0 on, a released step never changes. A new one only
 * adds, so that nodes of the version before go on working while the fleet is replaced.
 */
const migrations = [firstStep];

/**
 * Makes the fleet's tables, or brings them to this program's version. Nodes that start at the same time wait for each
 * other.
 *
 * @throws MirrorError `database`, also where a newer program has changed the tables
 */
export async function migrateFleet(postgres: Postgres): Promise<void> {
  if ((await versionOf(postgres)) === migrations.length) return;
  await postgres.transaction(async (tx) => {
    await tx.query("SELECT pg_advisory_xact_lock($1::bigint)", [migrationLock]);
    await tx.query("SET LOCAL statement_timeout = 0");
    const present = await versionOf(tx);
    for (const [index, step] of migrations.entries()) {
      if (index < present) continue;
      for (const statement of step(tx.db)) await tx.db.executeQuery(statement.compile(tx.db));
      await tx.db
        .insertInto("migrations")
        .values({ version: index + 1 })
        .execute();
    }
  });
}

/** 0: there are no tables. */
async function versionOf(fleet: Sql): Promise<number> {
  // Not to_regclass(): after the wait for the lock it may still answer from the session's cache.
  const found = await fleet.query(
    "SELECT FROM pg_tables WHERE schemaname = 'fintoro_mirror' AND tablename = 'migrations'",
  );
  if (found.length === 0) return 0;
  const newest = fleet.db.selectFrom("migrations").select((eb) => eb.fn.max("version").as("version"));
  const { version } = await newest.executeTakeFirstOrThrow();
  if (version <= migrations.length) return version;
  const message = `the fleet's tables have version ${version}; this program knows up to ${migrations.length}`;
  const hint = "Use the version of fintoro-mirror that the other nodes have, or a newer one.";
  throw new MirrorError("database", message, { hint });
}
