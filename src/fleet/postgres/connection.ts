import { Kysely, PostgresDialect, type PostgresPoolClient } from "kysely";
import { callbackify } from "node:util";
import type * as Pg from "pg";
import { waitAtMost } from "../../base/cancellation.ts";
import { MirrorError, valueOr } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { createRedactor } from "../../base/secret.ts";
import type { FleetDatabase, FleetDb } from "./fleet-database.ts";
import { poolerHint, postgresError } from "./postgres-error.ts";

/** What runs SQL: the pool, or one transaction. */
export interface Sql {
  /**
   * Runs one statement and gives its rows. Without values it may be several statements.
   *
   * @throws MirrorError `database`; `retryable` where Postgres was away or gave way to another transaction
   */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Builds statements on the fleet's tables, and runs them by `query`. */
  readonly db: FleetDb;
}

export interface Postgres extends Sql {
  /**
   * Runs `step` in one transaction (read committed) and commits it. Whatever `step` throws rolls it back and is thrown
   * again. Where the connection breaks during the commit nobody knows whether it was made: the error is `retryable`, and
   * steps must allow for being made twice.
   */
  transaction<T>(step: (sql: Sql) => Promise<T>): Promise<T>;
  /** Ends all connections; waits for running statements a bounded time. */
  close(): Promise<void>;
}

/** Statements on one table of the fleet, for others by name. */
export abstract class FleetTable {
  protected readonly postgres: Postgres;
  protected readonly db: FleetDb;

  constructor(postgres: Postgres) {
    this.postgres = postgres;
    this.db = postgres.db;
  }
}

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 15_000;
/** Later than the server's own: it ends a statement whose answer gets lost on the way. */
const answerTimeoutMs = 20_000;
/** A paused node must not keep a row locked that another one waits for. */
const idleInTransactionMs = 5_000;
const closeTimeoutMs = 5_000;
const keepAliveDelayMs = 10_000;

const oldestVersion = 13;

/**
 * Connects to the fleet's Postgres: a pool of connections, which are made when they are needed and again after a
 * restart of the server.
 *
 * @param url `postgres://user:password@host:port/database`
 * @param node its name, which Postgres shows as `application_name`
 * @throws MirrorError `config` without the package or with a wrong URL; `database` where the server cannot be used.
 *   No message has the password.
 */
export async function openPostgres(url: string, node: string, log: Log, max = 10): Promise<Postgres> {
  const address = addressOf(url);
  const missing = "many machines need the package pg, which is not installed";
  const { Pool, types } = await loadPackage(() => import("pg"), missing);
  const pool = new Pool({
    connectionString: address.url,
    application_name: node.slice(0, 63),
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: answerTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    verify: callbackify(waitForDisk),
    // Sequence numbers, epochs and sizes stay below 2^53.
    types: {
      getTypeParser: (id, format) => (id === types.builtins.INT8 ? Number : types.getTypeParser(id, format)),
    },
  });
  const postgres = pooledPostgres(pool, address, log);
  try {
    await checkServer(postgres, address.server);
  } catch (error) {
    await postgres.close();
    throw error;
  }
  return postgres;
}

/**
 * Has every commit of the session wait for the disk, whatever the server, the database or the user has set, or is set to
 * later: deliveries would be answered before they are safe (I6), and after a crash of Postgres renewals, permits and
 * heartbeats would be gone that nodes count on. A setting that waits for a standby as well stays.
 */
async function waitForDisk(session: Pick<Pg.ClientBase, "query">): Promise<void> {
  await session.query(
    `SELECT set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false)`,
  );
}

interface Address {
  readonly url: string;
  /** Host, port and database, for messages. */
  readonly server: string;
  readonly redact: (text: string) => string;
}

function addressOf(url: string): Address {
  // The error of a wrong URL has it as a property, with the password: it is no cause here.
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^postgres(?:ql)?:$/.test(parsed.protocol))
    throw new MirrorError("config", "fleet.postgres is no URL of a Postgres database", {
      hint: "Write it as postgres://user:password@host:5432/database.",
    });
  const { password, searchParams } = parsed;
  // As it stands in the URL, and decoded where it is encoded as it should be.
  const forms = [password, ...valueOr(() => [decodeURIComponent(password)], [])];
  const redact = createRedactor([...forms, ...searchParams.getAll("password")]);
  const host = parsed.hostname || searchParams.get("host") || "localhost";
  const server = `${host}${parsed.port && `:${parsed.port}`}${parsed.pathname}`;
  searchParams.delete("application_name");
  return { url: parsed.href, server, redact };
}

/** Loads a package that only a fleet needs. Throws MirrorError `config` with the message where it is not installed. */
export async function loadPackage<Package>(load: () => Promise<Package>, message: string): Promise<Package> {
  try {
    return await load();
  } catch (cause) {
    const hint = "npm install --save-prod --omit=dev --ignore-scripts pg pg-boss";
    throw new MirrorError("config", message, { hint, cause });
  }
}

/**
 * A parameter as Postgres can hold it: its text and JSON have neither U+0000 nor half of a surrogate pair, and U+FFFD
 * stands in for them. An object becomes JSON.
 */
function storable(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed().replaceAll("\0", "\uFFFD");
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== "object" || value === null || Buffer.isBuffer(value) || value instanceof Date)
    return value;
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? storable(part) : part));
}

/** What runs all statements by this function, those of kysely too: transactions, deadlines and errors are the function's. */
export function sqlBy(query: Sql["query"]): Sql {
  const run = async (text: string, values: readonly unknown[]) => ({ rows: await query(text, values) });
  const connect = async () => ({ query: run, release: () => undefined }) as unknown as PostgresPoolClient;
  const pool = { connect, end: async () => undefined, options: {} };
  let db: FleetDb | null = null;
  const makeDb = () => new Kysely<FleetDatabase>({ dialect: new PostgresDialect({ pool }) });
  return {
    query,
    get db() {
      return (db ??= makeDb().withSchema("fintoro_mirror"));
    },
  };
}

function pooledPostgres(pool: Pg.Pool, { server, redact }: Address, log: Log): Postgres {
  const failure = (error: unknown) => postgresError(error, server, redact);
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw failure(error);
    }
  };
  const sqlOf = (runner: Pg.Pool | Pg.PoolClient) =>
    sqlBy(async <Row>(text: string, values?: readonly unknown[]) => {
      const result: unknown = await guarded(() => runner.query(text, values?.map(storable)));
      // Several statements have several results; the driver's types do not know that.
      return [result].flat().flatMap((one) => (one as Pg.QueryResult).rows as Row[]);
    });
  // Without listeners the end of an idle connection, or of one between two statements, would end the process.
  pool.on("error", (error) => log.debug("a connection to Postgres ended", { error: failure(error) }));
  pool.on("connect", (client) => client.on("error", () => undefined));
  return {
    ...sqlOf(pool),
    transaction: async (step) => {
      const client = await guarded(() => pool.connect());
      const sql = sqlOf(client);
      try {
        await sql.query("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
        const result = await step(sql);
        const { command } = await guarded(() => client.query("COMMIT"));
        // Postgres answers the commit of a failed transaction with a rollback, and no error.
        const what = "the transaction was rolled back: a statement in it failed";
        if (command !== "COMMIT") throw failure(new Error(what));
        client.release();
        return result;
      } catch (error) {
        // Where the rollback fails the connection is broken, and the server rolls back by itself.
        await client.query("ROLLBACK").then(
          () => client.release(),
          () => client.release(true),
        );
        throw error;
      }
    },
    close: async () => {
      if (!pool.ending) await waitAtMost(closeTimeoutMs, pool.end());
    },
  };
}

async function checkServer(postgres: Postgres, server: string): Promise<void> {
  const [row] = await postgres.query<{ version: number; statementMs: string; idleMs: string }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version,
       (SELECT setting FROM pg_settings WHERE name = 'statement_timeout') AS "statementMs",
       (SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout') AS "idleMs"`,
  );
  const version = row?.version ?? 0;
  if (version < oldestVersion)
    throw new MirrorError("database", `Postgres at ${server} has version ${version}`, {
      hint: `Use Postgres ${oldestVersion} or newer.`,
    });
  // What a session asks for at its start counts whatever the server's files say: only a pooler loses it.
  if (row?.statementMs !== "0" && row?.idleMs !== "0") return;
  throw new MirrorError("database", `what answers at ${server} leaves out the time limits of a session`, {
    hint: poolerHint,
  });
}
