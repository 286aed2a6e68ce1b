import { expect, test } from "vitest";
import { silentLog } from "../../../src/base/logger.ts";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { postgresError } from "../../../src/fleet/postgres/postgres-error.ts";
import { rejectionOf } from "../../support/errors.ts";
import { aTcpRelay } from "../../support/fleet/tcp-relay.ts";
import {
  connectNode,
  freshDatabase,
  ownServer,
  describeWithPostgres,
} from "../../support/postgres/databases.ts";

/** A StartupMessage that names user and database alone: length, version, then names and values that end with a zero byte each. */
function withUserAlone(start: Buffer): Buffer {
  const texts = start.subarray(8).toString().split("\0");
  const pairs = texts.flatMap((name, i) =>
    i % 2 === 0 && ["user", "database"].includes(name) ? [name, texts[i + 1]] : [],
  );
  const body = Buffer.from(`${pairs.join("\0")}\0\0`);
  const head = Buffer.from(start.subarray(0, 8));
  head.writeUInt32BE(body.length + 8);
  return Buffer.concat([head, body]);
}

describeWithPostgres("the connection to Postgres", () => {
  // Fault: fleet | a connection pooler drops what a session asks for at its start | the first connection | it is refused, with what to name instead
  test("is refused where a connection pooler ignores settings of a session, with what to do", async () => {
    const url = new URL(await freshDatabase({ tables: false }));
    // As PgBouncer does with `ignore_startup_parameters`.
    url.port = String((await aTcpRelay(Number(url.port), withUserAlone)).port);
    const failure = await rejectionOf(openPostgres(url.href, "worker-7", silentLog));
    expect(failure).toMatchObject({ kind: "database", retryable: false });
    expect(failure.hint).toContain("name the Postgres server itself");
  });

  test("Postgres shows which node a connection is of, and whole numbers are numbers", async () => {
    const url = await freshDatabase({ tables: false });
    const postgres = await connectNode(`${url}?application_name=else`, "worker-7");
    const settings = "SELECT current_setting('application_name') AS node, 7::bigint AS seq";
    const [row] = await postgres.query(settings);
    expect(row).toEqual({ node: "worker-7", seq: 7 });
  });

  test("a transaction in which a statement failed is no success, even if its error was caught", async () => {
    const postgres = await connectNode(await freshDatabase({ tables: false }));
    const failing = postgres.transaction((sql) => sql.query("SELECT 1 / 0").catch(() => undefined));
    const failure = await rejectionOf(failing);
    expect(failure).toMatchObject({ kind: "database", retryable: false });
    expect(failure.message).toContain("rolled back");
  });

  test("commits wait for the disk, single statements too, whatever the server's setting says, or says later (I6); after a crash it connects again by itself, and meanwhile errors are retryable", async () => {
    const setting = "SELECT current_setting('synchronous_commit') AS setting";
    const settingsOf = async (postgres: Postgres) => [
      ...(await postgres.query(setting)),
      ...(await postgres.transaction((sql) => sql.query(setting))),
    ];
    const server = await ownServer();
    const url = server.url("postgres");
    const before = await connectNode(url);
    await before.query("ALTER SYSTEM SET synchronous_commit = off");
    await before.query("SELECT pg_reload_conf(), pg_sleep(0.2)");
    const on = { setting: "on" };
    expect(await settingsOf(before)).toEqual([on, on]);
    expect(await settingsOf(await connectNode(url))).toEqual([on, on]);
    const standby = { setting: "remote_apply" };
    const strict = await connectNode(`${url}?options=-c%20synchronous_commit%3Dremote_apply`);
    expect(await settingsOf(strict)).toEqual([standby, standby]);

    await before.query("CREATE TABLE t AS SELECT 1 AS n");
    const between = before.transaction(async (sql) => {
      await sql.query("SELECT 1");
      await server.crash();
      await sql.query("SELECT 2");
    });
    expect(await rejectionOf(between)).toMatchObject({ kind: "database", retryable: true });
    const away = await rejectionOf(before.query("SELECT 1"));
    expect(away).toMatchObject({ kind: "database", retryable: true });
    expect(away.message).toContain(`Postgres at 127.0.0.1:${server.port}/postgres does not answer`);
    expect(away.hint).toContain("fleet.postgres");
    await server.start();
    expect(await before.query("SELECT n FROM t")).toEqual([{ n: 1 }]);
  });

  test("a transaction that pauses gives its locks back, and the process lives on", async () => {
    const url = await freshDatabase({ tables: false });
    const setting = "SELECT current_setting('idle_in_transaction_session_timeout') AS pause";
    expect(await (await connectNode(url)).query(setting)).toEqual([{ pause: "5s" }]);
    const postgres = await connectNode(`${url}?idle_in_transaction_session_timeout=200`);
    await postgres.query("CREATE TABLE t (n int); INSERT INTO t VALUES (1)");
    const [locked, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const paused = postgres.transaction(async (sql) => {
      await sql.query("SELECT n FROM t FOR UPDATE");
      locked.resolve();
      await changed.promise;
      await sql.query("UPDATE t SET n = 2");
    });
    const outcome = rejectionOf(paused);
    await locked.promise;
    await postgres.query("UPDATE t SET n = 3");
    changed.resolve();
    expect(await outcome).toMatchObject({ kind: "database", retryable: true });
    expect(await postgres.query("SELECT n FROM t")).toEqual([{ n: 3 }]);
  });
});

test("a connection pooler that refuses settings of a session is no Postgres, and what to name is", () => {
  const refusal = new Error("unsupported startup parameter: statement_timeout");
  const { retryable, hint } = postgresError(refusal, "host", String);
  expect([retryable, hint]).toEqual([false, expect.stringContaining("name the Postgres server itself")]);
});

test.each(["mysql://user:hunter2@host/db", "user:hunter2@host", "postgres//user:hunter2@host"])(
  "an address that is no Postgres URL is refused without being shown: %s",
  async (url) => {
    const failure = await rejectionOf(openPostgres(url, "n", silentLog));
    expect(failure).toMatchObject({ kind: "config", cause: undefined });
    expect(`${failure.message}${failure.hint}`).not.toContain("hunter2");
    expect(failure.hint).toContain("postgres://user:password@host:5432/database");
  },
);
