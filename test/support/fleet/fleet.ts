import type { RawBuilder } from "kysely";
import { PgBoss } from "pg-boss";
import { test as plainTest } from "vitest";
import { silentLog } from "../../../src/base/logger.ts";
import { startJobEngine, type JobKind } from "../../../src/fleet/jobs/job-engine.ts";
import { sqlBy, type Postgres, type Sql } from "../../../src/fleet/postgres/connection.ts";
import { fleetTables, type FleetTables } from "../../../src/fleet/postgres/tables/fleet-tables.ts";
import type { InboxDelivery } from "../../../src/fleet/postgres/tables/inbox-table.ts";
import type { Owner } from "../../../src/fleet/postgres/tables/owners-table.ts";
import type { ChangeRow } from "../../../src/fleet/postgres/tables/snapshots-table.ts";
import { connectNode, freshDatabase } from "../postgres/databases.ts";
import { eventually } from "../eventually.ts";
import { runCommand, temporaryFolder } from "../program/cli.ts";

/** Longer than a test may last. */
export const ttlMs = 600_000;

export type Fleet = Awaited<ReturnType<typeof openFleet>>;

export async function openFleet() {
  const url = await freshDatabase();
  const postgres = await connectNode(url);
  const tables = fleetTables(postgres);
  const { companies, owners, reports, snapshots } = tables;
  /** Sets columns of all rows of a table, or of some. */
  const set = async (table: string, columns: string, where = "true") => {
    await postgres.query(`UPDATE fintoro_mirror.${table} SET ${columns} WHERE ${where}`);
  };
  return {
    ...tables,
    ...probesOf(postgres, url),
    url,
    postgres,
    /** Adds companies with an empty config. */
    add: async (...names: string[]) => {
      for (const name of names) await companies.put(name, {});
    },
    /** Adds the company, if need be, and claims it, which must succeed. */
    owned: async (company: string, node = "node-1"): Promise<Owner> => {
      await companies.put(company, {});
      const claim = await owners.claim(company, node, ttlMs);
      if (!("epoch" in claim)) throw new Error(`${company} was not claimed: ${claim.refused}`);
      return { company, epoch: claim.epoch, node };
    },
    /** Publishes a snapshot whose mirror ends with this change and this position in the inbox. */
    publishUpTo: (owner: Owner, seq: number, inboxSeq = 0, more: object = {}, changes = changesUpTo(seq)) =>
      snapshots.publish(owner, { ...snapshotOf(seq, inboxSeq), ...more }, changes),
    /** Publishes a report of no files, with these answers. */
    publishAnswers: async (owner: Owner, answers: Readonly<Record<string, string>> | null) => {
      await reports.begin(owner, 1, []);
      await reports.publish(owner, { seq: 3, files: [], answers, old: [] });
    },
    /** Lets an ownership expire, as time would: for the first time, however often it did before. */
    expire: (company: string) =>
      set("owners", "expires_at = now() - interval '1 second', losses = 0", `company = '${company}'`),
    set,
  };
}

export const test = plainTest.extend("fleet", () => openFleet());

function probesOf(postgres: Postgres, url: string) {
  return {
    /** How many updates of a table a step made over a connection of its own, and how many of them wrote into its indexes. */
    indexWrites: async (table: string, step: (tables: FleetTables) => Promise<void>) => {
      const alone = await connectNode(url, "alone", 1);
      const count = async () => {
        await alone.query("SELECT pg_stat_force_next_flush()");
        const [row] = await alone.query<{ updates: number; indexed: number }>(
          `SELECT n_tup_upd AS updates, n_tup_upd - n_tup_hot_upd AS indexed FROM pg_stat_user_tables
           WHERE schemaname = 'fintoro_mirror' AND relname = $1`,
          [table],
        );
        return row ?? { updates: 0, indexed: 0 };
      };
      const before = await count();
      await step(fleetTables(alone));
      const after = await count();
      return { updates: after.updates - before.updates, indexed: after.indexed - before.indexed };
    },
    /** How Postgres finds what a statement asks for. */
    planOf: async (statement: RawBuilder<unknown>) => {
      const { sql, parameters } = statement.compile(postgres.db);
      const lines = await postgres.query<{ "QUERY PLAN": string }>(`EXPLAIN ${sql}`, parameters);
      return lines.map((line) => line["QUERY PLAN"]).join("\n");
    },
    lockWait: async () => {
      const waiting = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'`;
      const isWaiting = async () => (await postgres.query(waiting)).length > 0;
      await eventually(isWaiting, "a transaction that waits for a lock");
    },
    /** Calls `step` so many times at once, each with a connection that is there already. */
    atOnce: async <T>(count: number, step: (index: number) => Promise<T>) => {
      const all = Array.from({ length: count }, (_, index) => index);
      await Promise.all(all.map(() => postgres.query("SELECT pg_sleep(0.02)")));
      return Promise.all(all.map(step));
    },
    /** The same connection, whose statements outside of transactions are counted. */
    counting: () => {
      let statements = 0;
      const query: Postgres["query"] = (text, values) => {
        statements++;
        return postgres.query(text, values);
      };
      return { postgres: { ...postgres, ...sqlBy(query) }, count: () => statements };
    },
  };
}

/** A connection whose next transaction pauses behind its first statement. */
export function pausingBehind({ postgres }: Fleet) {
  const paused = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  const pausing = (sql: Sql) =>
    sqlBy(async <Row>(text: string, values?: readonly unknown[]) => {
      const rows = await sql.query<Row>(text, values);
      paused.resolve();
      await resumed.promise;
      return rows;
    });
  const transaction: Postgres["transaction"] = (step) => postgres.transaction((sql) => step(pausing(sql)));
  return {
    postgres: { ...pausing(postgres), transaction, close: () => postgres.close() },
    paused: paused.promise,
    resume: resumed.resolve,
  };
}

/** Sends a job that is due for so many seconds, and has pg-boss count it. */
export async function sendJob({ postgres, url }: Fleet, kind: JobKind, dueSeconds = 0): Promise<void> {
  const sender = await startJobEngine(postgres, silentLog, false);
  await sender.send(kind, ["acme"]);
  await sender.stop();
  const due = "now() - $1::int * interval '1 second'";
  await postgres.query(`UPDATE pgboss.job SET created_on = ${due}, start_after = ${due}`, [dueSeconds]);
  // A worker does it every ten seconds.
  const quiet = { supervise: false, schedule: false, persistQueueStats: true };
  const boss = new PgBoss({ connectionString: url, ...quiet });
  await boss.start();
  await boss.supervise(kind);
  await boss.stop({ graceful: false });
}

/** Runs `fleet …` of an operator whose config names this fleet; `stores`: what it says besides. */
export function runFleet(
  { url }: Pick<Fleet, "url">,
  args: readonly string[],
  stores = "snapshots: s3://bucket/mirrors",
) {
  const config = `fleet: { postgres: "\${env:DATABASE_URL}", ${stores} }\n`;
  const cwd = temporaryFolder({ "config.yaml": config });
  return runCommand(["fleet", ...args], { cwd, env: { DATABASE_URL: url } });
}

export function deliveries(...eventIds: string[]): InboxDelivery[] {
  return eventIds.map((eventId) => ({ eventId, body: Buffer.from(`{"id":"${eventId}"}`) }));
}

/** A stored snapshot whose mirror ends with this change and this position in the inbox. */
function snapshotOf(seq: number, inbox_seq = 0) {
  const content = { size_bytes: 1_000, sha256: "0".repeat(64) };
  return { id: `s${seq}`, seq, inbox_seq, ...content, taken_at: "1970-01-01T00:00:00.001Z", facts: {} };
}

/** The change log of a mirror that ends with `seq`. */
export function changesUpTo(seq: number): (afterSeq: number) => Iterable<ChangeRow[]> {
  const record = { resource: "orders", recordId: "1", op: "update", cause: "sweep" };
  const row = { ...record, log: "a1", at: "2026-03-01T00:00:00.000Z" };
  return (afterSeq) => [
    Array.from({ length: seq - afterSeq }, (_, i) => ({ ...row, seq: afterSeq + 1 + i })),
  ];
}
