import { MirrorError } from "../../base/errors.ts";
import { onlyRow, type Postgres, type Sql } from "./connection.ts";

/** Any number that no other program takes for its advisory locks. */
const migrationLock = 5_640_917_273_001;

/**
 * The steps from nothing to the newest tables. From version 0.1.0 on, a released step never changes. A new one only
 * adds, so that nodes of the version before go on working while the fleet is replaced.
 */
const migrations: readonly (readonly string[])[] = [
  [
    `CREATE TABLE fintoro_mirror.companies (
      name text PRIMARY KEY, config jsonb NOT NULL, account text, schedule text, timezone text,
      added_at timestamptz NOT NULL DEFAULT now(), changed_at timestamptz NOT NULL DEFAULT now(),
      removed boolean NOT NULL DEFAULT false, forgotten_at timestamptz, last_seq bigint NOT NULL DEFAULT 0,
      tags text[] NOT NULL DEFAULT '{}')`,
    "CREATE INDEX companies_account ON fintoro_mirror.companies (account) WHERE account IS NOT NULL",
    "CREATE INDEX companies_changed ON fintoro_mirror.companies (changed_at)",
    "CREATE INDEX companies_removed ON fintoro_mirror.companies (changed_at) WHERE removed",

    // Rows that change often leave room on their page (fillfactor), and no index holds what changes often: such an
    // update writes no index.
    // expires_at: until when its owner may send requests; released: when it sent the last one.
    // losses: ownerships in a row, before the one of now, that ended with the death of their node. failures: those that
    // ended with the error failure. claimable_at: when a company may be taken that was lost again, or failed; null:
    // nobody has decided that yet, or there is no reason to wait.
    `CREATE TABLE fintoro_mirror.owners (
      company text PRIMARY KEY, epoch bigint NOT NULL CHECK (epoch > 0), node text, expires_at timestamptz NOT NULL,
      claimed_at timestamptz NOT NULL DEFAULT now(), losses integer NOT NULL DEFAULT 0, claimable_at timestamptz,
      failures integer NOT NULL DEFAULT 0, failure text, failed_at timestamptz)
      WITH (fillfactor = 50)`,
    // Makes the epoch a key: FOR KEY SHARE then holds off a claim (a new epoch), and no renewal (a later expiry).
    "CREATE UNIQUE INDEX owners_epoch ON fintoro_mirror.owners (company, epoch)",
    "CREATE INDEX owners_held ON fintoro_mirror.owners (node) WHERE node IS NOT NULL",
    "CREATE INDEX owners_failed ON fintoro_mirror.owners (company) WHERE failures > 0",

    `CREATE TABLE fintoro_mirror.nodes (
      node text PRIMARY KEY, started_at timestamptz NOT NULL, seen_at timestamptz NOT NULL, version text NOT NULL,
      role text NOT NULL, draining boolean NOT NULL DEFAULT false, held integer NOT NULL, capacity integer NOT NULL)
      WITH (fillfactor = 50)`,
    `CREATE TABLE fintoro_mirror.receiving (
      id bigserial PRIMARY KEY, started_at timestamptz NOT NULL, seen_at timestamptz NOT NULL)
      WITH (fillfactor = 50)`,

    // drained: the position in the published snapshot.
    `CREATE TABLE fintoro_mirror.inbox_heads (
      company text PRIMARY KEY, seq bigint NOT NULL, drained bigint NOT NULL DEFAULT 0,
      waiting boolean GENERATED ALWAYS AS (seq > drained) STORED) WITH (fillfactor = 50)`,
    "CREATE INDEX inbox_heads_waiting ON fintoro_mirror.inbox_heads (company) WHERE waiting",
    `CREATE TABLE fintoro_mirror.inbox (
      company text NOT NULL, seq bigint NOT NULL, event_id text NOT NULL, body bytea NOT NULL,
      received_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (company, seq))`,
    // Not the id itself: an index holds no text of more than 2,700 bytes, and the service decides how long ids are.
    `CREATE UNIQUE INDEX inbox_event
      ON fintoro_mirror.inbox (company, left(event_id, 200), hashtextextended(event_id, 0))`,
    // A block range index of rows whose space is used again would soon name every block as one with old rows.
    "CREATE INDEX inbox_received ON fintoro_mirror.inbox (received_at)",

    `CREATE TABLE fintoro_mirror.snapshots (
      company text PRIMARY KEY, epoch bigint NOT NULL, id text NOT NULL, seq bigint NOT NULL, inbox_seq bigint NOT NULL,
      size_bytes bigint NOT NULL, sha256 text NOT NULL, taken_at timestamptz NOT NULL, node text NOT NULL,
      facts jsonb NOT NULL) WITH (fillfactor = 50)`,
    // published_at: when Postgres got the change: within a company in the order of its numbers, whatever the clocks of
    // nodes show.
    `CREATE TABLE fintoro_mirror.changes (
      company text NOT NULL, log text NOT NULL, seq bigint NOT NULL, resource text NOT NULL, record_id text NOT NULL,
      op text NOT NULL, at timestamptz NOT NULL, cause text NOT NULL, published_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (company, seq))`,
    "CREATE INDEX changes_published ON fintoro_mirror.changes (published_at)",

    `CREATE TABLE fintoro_mirror.reports (
      company text PRIMARY KEY, epoch bigint NOT NULL, number bigint NOT NULL, published_at timestamptz, seq bigint,
      files jsonb NOT NULL, old jsonb NOT NULL, answers jsonb) WITH (fillfactor = 50)`,
    // state: incidents. steps: how what follows runs went last.
    "CREATE TABLE fintoro_mirror.alerts (company text PRIMARY KEY, state jsonb, steps jsonb) WITH (fillfactor = 50)",
    // due_at: when it is to be made; null: nothing is to be done.
    `CREATE TABLE fintoro_mirror.packages (
      company text NOT NULL, month text NOT NULL, proved boolean NOT NULL, asked_at timestamptz NOT NULL DEFAULT now(),
      due_at timestamptz, made_at timestamptz, made jsonb, failures integer NOT NULL DEFAULT 0, reason text, error text,
      PRIMARY KEY (company, month)) WITH (fillfactor = 50)`,
    "CREATE INDEX packages_due ON fintoro_mirror.packages (due_at) WHERE due_at IS NOT NULL",
    // One row.
    `CREATE TABLE fintoro_mirror.timeline (
      number bigint NOT NULL, id uuid NOT NULL, beats bigint NOT NULL, started_at timestamptz NOT NULL DEFAULT now(),
      seen_at timestamptz NOT NULL DEFAULT now(), set_back_to timestamptz, marked_at timestamptz)
      WITH (fillfactor = 50)`,
    "INSERT INTO fintoro_mirror.timeline (number, id, beats) VALUES (1, gen_random_uuid(), 0)",
  ],
];

const createSchema = `CREATE SCHEMA IF NOT EXISTS fintoro_mirror;
  CREATE TABLE IF NOT EXISTS fintoro_mirror.migrations (
    version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`;

/**
 * Makes the fleet's tables, or brings them to this program's version. Nodes that start at the same time wait for each
 * other.
 *
 * @throws MirrorError `database`, also where a newer program has changed the tables
 */
export async function migrateFleet(postgres: Postgres): Promise<void> {
  if ((await versionOf(postgres)) === migrations.length) return;
  await postgres.transaction(async (sql) => {
    await sql.query("SELECT pg_advisory_xact_lock($1::bigint)", [migrationLock]);
    const present = await versionOf(sql);
    if (present === 0) await sql.query(createSchema);
    for (const [index, statements] of migrations.entries())
      if (index >= present) await applyMigration(sql, index + 1, statements);
  });
}

/** 0: there are no tables. */
async function versionOf(sql: Sql): Promise<number> {
  // Not to_regclass(): after the wait for the lock it may still answer from the session's cache.
  const found = await sql.query(
    "SELECT FROM pg_tables WHERE schemaname = 'fintoro_mirror' AND tablename = 'migrations'",
  );
  if (found.length === 0) return 0;
  const newest = "SELECT coalesce(max(version), 0) AS version FROM fintoro_mirror.migrations";
  const { version } = await onlyRow<{ version: number }>(sql, newest);
  if (version <= migrations.length) return version;
  const message = `the fleet's tables have version ${version}; this program knows up to ${migrations.length}`;
  throw new MirrorError("database", message, {
    hint: "Use the version of fintoro-mirror that the other nodes have, or a newer one.",
  });
}

async function applyMigration(sql: Sql, version: number, statements: readonly string[]): Promise<void> {
  await sql.query("SET LOCAL statement_timeout = 0");
  for (const statement of statements) await sql.query(statement);
  await sql.query("INSERT INTO fintoro_mirror.migrations (version) VALUES ($1)", [version]);
}
