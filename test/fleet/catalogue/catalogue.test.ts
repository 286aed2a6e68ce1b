import { expect, test } from "vitest";
import { dayMs } from "../../../src/base/clock.ts";
import { sqlBy, type Postgres, type Sql } from "../../../src/fleet/postgres/connection.ts";
import { commitSnapshot } from "../../../src/fleet/postgres/catalogue/commit-snapshot.ts";
import { readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import { aLake, lakeReaders, pageSql, type TestLake, type TestTable } from "../../support/fleet/lake.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const money = { id: "INTEGER", total: "DECIMAL(18,6)" } as const;
const invoices = (...rows: readonly string[]): TestTable => ({ columns: money, rows });
const all = "SELECT company, id, total FROM invoices ORDER BY company, id";

/** Numbers of snapshots and of files that the catalogue knows. */
async function known({ postgres }: TestLake) {
  const snapshots = "SELECT snapshot_id AS id FROM fintoro_lake.ducklake_snapshot ORDER BY 1";
  return {
    snapshots: (await postgres.query<{ id: number }>(snapshots)).map(({ id }) => id),
    files: (await postgres.query("SELECT FROM fintoro_lake.ducklake_data_file")).length,
  };
}

/** Two companies in the catalogue, and the time before one of them published something else. */
async function withHistory(lake: TestLake) {
  await lake.publish("acme", { invoices: invoices("1, 10.5", "2, 20") });
  await lake.publish("007", { invoices: invoices("1, 1") });
  await lake.commit();
  const before = await lake.now();
  await lake.publish("acme", { invoices: invoices("1, 11") });
  return before;
}

const acmeBefore = [
  ["acme", "1", "10.500000"],
  ["acme", "2", "20.000000"],
];
const bond = ["007", "1", "1.000000"];

/** Moves these snapshots and those before them into the past. */
const longAgo = (id: number) => `UPDATE fintoro_lake.ducklake_snapshot
  SET snapshot_time = snapshot_time - interval '25 hours' WHERE snapshot_id <= ${id}`;

describeWithPostgres.each(lakeReaders)("a catalogue of what companies publish, read by %s", (reader) => {
  test("has all companies of the fleet, as of now and of every moment since the first snapshot", async () => {
    const lake = await aLake(reader);
    const before = await withHistory(lake);
    expect(await lake.ask(all)).toEqual([bond, ...acmeBefore]);
    expect(await lake.commit()).toBe(1);
    expect(await lake.commit()).toBe(0);
    expect(await lake.ask(all)).toEqual([bond, ["acme", "1", "11.000000"]]);
    expect(await lake.ask("SELECT count(*) FROM invoices")).toEqual([["2"]]);
    expect(await lake.ask("SELECT total FROM invoices WHERE company = '007'")).toEqual([["1.000000"]]);
    expect(await lake.ask(all, before)).toEqual([bond, ...acmeBefore]);
    expect(await lake.ask("SELECT count(*) FROM invoices", before)).toEqual([["3"]]);

    await lake.companies.remove("acme");
    expect(await lake.commit()).toBe(1);
    expect(await lake.ask(all)).toEqual([bond]);
    expect(await lake.ask(all, before)).toHaveLength(3);
    await lake.add("acme");
    expect(await lake.commit()).toBe(1);
    expect(await lake.ask(all)).toHaveLength(2);
  });

  test("has the columns of all, also one that comes while somebody reads; of types that hold what each of them has", async () => {
    const lake = await aLake(reader);
    await lake.publish("acme", { invoices: invoices("1, 10.5") });
    await lake.publish("empty", { invoices: { columns: { ...money, Note: "TEXT" }, rows: [] } });
    await lake.commit();
    const types = "SELECT DISTINCT typeof(total), typeof(id), typeof(company) FROM invoices";
    expect(await lake.ask(types)).toEqual([["DECIMAL(18,6)", "BIGINT", "VARCHAR"]]);
    expect(await lake.ask('SELECT "Note" FROM invoices')).toEqual([[null]]);
    const first = await lake.now();
    const wide = { total: "DECIMAL(38,18)", company: "TEXT", paid: "BOOLEAN", at: "TIMESTAMP" } as const;
    const rows = ["0.000000000000000001, 'x', true, NULL"];
    await lake.publish("wide", { invoices: { columns: wide, rows } });
    await lake.commit();
    await lake.publish("acme", { invoices: invoices("1, 10.5") });
    await lake.commit();
    expect(await lake.ask("SELECT company, id, total, paid FROM invoices ORDER BY company")).toEqual([
      ["acme", "1", "10.500000000000000000", null],
      ["wide", null, "0.000000000000000001", "true"],
    ]);
    expect(await lake.ask(types, first)).toEqual([["DECIMAL(18,6)", "BIGINT", "VARCHAR"]]);
    const hashed = { id: "REAL", total: "TEXT" } as const;
    await lake.publish("hashed", { invoices: { columns: hashed, rows: ["0.5, 'a1'"] } });
    await lake.commit();
    expect(await lake.ask("SELECT id, total FROM invoices ORDER BY company")).toEqual([
      ["1.0", "10.500000"],
      ["0.5", "a1"],
      [null, "0.000000000000000001"],
    ]);
  });

  test("has views with the day of their report, and nothing of a table that a company has no more", async () => {
    const lake = await aLake(reader);
    const open = { columns: money, rows: ["1, 5"], day: "2026-11-27" } as const;
    await lake.publish("acme", { open_items: open, invoices: invoices("1, 5") });
    await lake.commit();
    const asked = "SELECT company, report_date, total, typeof(report_date) FROM open_items";
    const ofAcme = ["acme", "2026-11-27", "5.000000", "DATE"];
    const items = () => lake.ask(`${asked} ORDER BY company`);
    expect(await items()).toEqual([ofAcme]);
    // Another connector's view of this name does not count against a day.
    await lake.publish("other", { open_items: { columns: money, rows: ["1, 6"] } });
    await lake.commit();
    expect(await items()).toEqual([ofAcme, ["other", null, "6.000000", "DATE"]]);
    await lake.publish("other", { open_items: { ...open, rows: ["1, 7"] } });
    await lake.publish("acme", { open_items: null });
    await lake.commit();
    expect(await items()).toEqual([["other", "2026-11-27", "7.000000", "DATE"]]);
    expect(await lake.ask(all)).toHaveLength(1);
  });

  test("forgets what is older than files are kept, but what was there when that time began", async () => {
    const lake = await aLake(reader);
    await withHistory(lake);
    await lake.commit();
    await lake.publish("acme", { invoices: invoices("1, 12") });
    await lake.commit();
    expect(await known(lake)).toEqual({ snapshots: [0, 1, 2, 3], files: 4 });
    await lake.postgres.query(longAgo(2));
    await lake.commit(dayMs);
    expect(await known(lake)).toEqual({ snapshots: [2, 3], files: 3 });
    expect(await lake.ask(all, await lake.now("-24 hours"))).toEqual([bond, ["acme", "1", "11.000000"]]);
    await lake.postgres.query(longAgo(3));
    await lake.commit(dayMs);
    expect(await known(lake)).toEqual({ snapshots: [3], files: 2 });
    expect(await lake.ask(all)).toEqual([bond, ["acme", "1", "12.000000"]]);
  });
});

/** A Postgres whose connection is lost at the given statement of a transaction. */
function losingAt(postgres: Postgres, statement: number): Postgres {
  let count = 0;
  const lost = (sql: Sql) =>
    sqlBy((text, values) =>
      ++count === statement ? Promise.reject(new Error("connection lost")) : sql.query(text, values),
    );
  const transaction: Postgres["transaction"] = (step) => postgres.transaction((sql) => step(lost(sql)));
  return { ...postgres, transaction };
}

describeWithPostgres("a snapshot of the catalogue", () => {
  // Fault: fleet | the node that commits the catalogue is lost after any statement | transaction | the last snapshot is whole; the next call commits
  test("is there whole or not at all, wherever its node is lost, also the first one", async () => {
    const lake = await aLake("SQL on its tables");
    await lake.publish("acme", { invoices: invoices("1, 10.5") });
    const commit = (statement: number) =>
      commitSnapshot(losingAt(lake.postgres, statement), lake.folder, dayMs).catch(() => "lost");
    for (const rows of [[], [["acme", "1", "10.500000"]]]) {
      let statement = 1;
      for (; (await commit(statement)) === "lost"; statement++)
        if (rows.length > 0) expect(await lake.ask(all)).toEqual(rows);
        else await expect(lake.ask(all)).rejects.toThrow("does not exist");
      expect(statement).toBeGreaterThan(10);
      await lake.publish("acme", { invoices: invoices("2, 1") });
    }
    expect(await lake.ask(all)).toEqual([["acme", "2", "1.000000"]]);
  });

  test("is made by one of several nodes, with a later time than the one before whatever the clock shows", async () => {
    const lake = await aLake("SQL on its tables");
    await withHistory(lake);
    await lake.postgres.query(
      "UPDATE fintoro_lake.ducklake_snapshot SET snapshot_time = '2100-01-01' WHERE snapshot_id = 1",
    );
    const looked = await Promise.all(Array.from({ length: 5 }, () => lake.commit()));
    expect(looked.filter((count) => count > 0)).toEqual([1]);
    expect((await known(lake)).snapshots).toEqual([0, 1, 2]);
    expect(await lake.ask(all, "2100-01-01")).toHaveLength(3);
    expect(await lake.ask(all)).toHaveLength(2);
  });

  test("that lacks what was published ten minutes ago shows in the fleet's status, also where none was ever made", async () => {
    const lake = await aLake("SQL on its tables");
    const problems = async () => {
      const status = await readFleetStatus(lake.postgres, null);
      return status.problems.flatMap(({ kind, message }) => (kind === "catalogue_late" ? [message] : []));
    };
    const tenMinutesPass = async () => {
      await lake.set("reports", "published_at = published_at - interval '11 minutes'");
      await lake.set("companies", "added_at = added_at - interval '11 minutes'");
    };
    await lake.publish("acme", { invoices: invoices("1, 10.5") });
    expect(await problems()).toEqual([]);
    await tenMinutesPass();
    expect(await problems()).toEqual(["the catalogue lacks what 1 company published: workers log why"]);
    await lake.commit();
    expect(await problems()).toEqual([]);
    await tenMinutesPass();
    expect(await problems()).toHaveLength(1);
    await lake.companies.remove("acme");
    expect(await problems()).toEqual([]);
    // Added again, it is in the next snapshot with what it published before.
    await lake.companies.put("acme", {});
    expect(await problems()).toEqual([]);
  });

  test("has everything again after the schema was dropped, and of hundreds of companies at once", async () => {
    const lake = await aLake("SQL on its tables");
    await lake.publish("acme", { invoices: invoices("1, 10.5") });
    await lake.postgres.query(`INSERT INTO fintoro_mirror.companies (name, config)
        SELECT 'company-' || n, '{}' FROM generate_series(1, 500) n;
      INSERT INTO fintoro_mirror.reports SELECT (jsonb_populate_record(r, jsonb_build_object('company', c.name))).*
        FROM fintoro_mirror.reports r, fintoro_mirror.companies c WHERE c.name <> 'acme'`);
    const commitAll = async () => {
      const looked: number[] = [];
      while (looked.at(-1) !== 0) looked.push(await lake.commit());
      return looked;
    };
    expect(await commitAll()).toEqual([200, 200, 101, 0]);
    await lake.postgres.query("DROP SCHEMA fintoro_lake CASCADE");
    expect(await commitAll()).toEqual([200, 200, 101, 0]);
    expect(await known(lake)).toEqual({ snapshots: [0, 1, 2, 3], files: 501 });
  });
});

describeWithPostgres("DuckDB's extension", () => {
  test.runIf(lakeReaders.length > 1)(
    "runs the page's queries: amounts of all companies by currency, as of a moment too",
    async () => {
      const lake = await aLake("DuckDB's extension");
      const columns = { id: "INTEGER", currency_id: "INTEGER", total_with_vat: "DECIMAL(18,6)" } as const;
      await lake.publish("acme", { invoices: { columns, rows: ["1, 1, 10.5", "2, 1, 20", "3, 2, 500"] } });
      await lake.commit();
      const before = await lake.now();
      await lake.publish("acme", { invoices: { columns, rows: ["1, 1, 10.5"] } });
      await lake.commit();
      const queries = (pageSql[1] ?? "").split(";").slice(1, -1);
      const moment = (sql: string) => sql.replace(/(?<=TIMESTAMPTZ ')[^']+/, before).replaceAll("lake.", "");
      const [now = "", then = ""] = queries.map(moment);
      expect(await lake.ask(now)).toEqual([["acme", "1", "1", "10.500000"]]);
      expect(await lake.ask(then)).toEqual([
        ["acme", "1", "2", "30.500000"],
        ["acme", "2", "1", "500.000000"],
      ]);
      expect(await lake.ask("SELECT count(*) FROM snapshots()")).toEqual([["3"]]);
    },
  );

  test.runIf(lakeReaders.length > 1)("makes the tables and columns that the catalogue has", async () => {
    const lake = await aLake("DuckDB's extension");
    await lake.publish("acme", { invoices: invoices("1, 10.5") });
    await lake.commit();
    const columns = (schema: string) =>
      lake.postgres.query(
        `SELECT table_name, column_name, data_type FROM information_schema.columns
         WHERE table_schema = $1 AND table_name <> 'companies' ORDER BY table_name, ordinal_position`,
        [schema],
      );
    await lake.makeOther("theirs");
    expect(await columns("fintoro_lake")).toEqual(await columns("theirs"));
  });
});
