import path from "node:path";
import type { DuckDBConnection, Json } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase, type Db } from "../../src/store/database.ts";
import { duckShellQueries, sqlFor } from "../support/docs/docs.ts";
import { exportOf, withDuck } from "../support/export/export.ts";
import { publishedCompany, type PublishedCompany } from "../support/export/published.ts";
import { putAs, remove } from "../support/mirror/store.ts";
import { memoryScratch } from "../support/memory-folder.ts";

type Answer = readonly (readonly (string | null)[])[];

let company: PublishedCompany;
let report: Db;
let next = 0;
const { path: folder, remove: removeFolder } = memoryScratch();

beforeAll(async () => {
  company = await publishedCompany({ records: 60 });
  report = openDatabase(company.file, { readonly: true });
  const views = ["v_client_balance", "v_revenue_by_month"];
  const tables = ["invoices", "invoice_items", ...views];
  const { manifest } = await exporting({ out: "parquet", tables });
  next = manifest.next_since;
  for (const name of ["acme", "other"])
    await exporting({ out: "lake", company: name, partition: "year" as const, tables: ["invoices"] });
});

afterAll(() => {
  report.close();
  company.close();
  removeFolder();
});

type Request = Omit<NonNullable<Parameters<typeof exportOf>[1]>, "out"> & { readonly out: string };

function exporting({ out, ...request }: Request) {
  return exportOf(company.mirror, { format: "parquet", ...request, out: path.join(folder, out) });
}

/** Numbers as numbers: one reader writes 12.5 where another one has 12.500000. */
function plain(value: Json | undefined): string | null {
  if (value === null || value === undefined) return null;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text) ? String(Math.round(Number(text) * 1e6) / 1e6) : text;
}

function askReport(sql: string): Answer {
  const rows = report.prepare(sql).raw().all() as Json[][];
  return rows.map((row) => row.map((value) => plain(value)));
}

/** The files of the text lie in the test's folder. */
async function ask(connection: DuckDBConnection, sql: string): Promise<Answer> {
  const here = sql.replaceAll(/'(parquet|delta|lake)\//g, `'${folder}/$1/`);
  const reader = await connection.runAndReadAll(here);
  return reader.getRowsJson().map((row) => row.map((value) => plain(value)));
}

const queries = (reader: string) => sqlFor(reader).filter(({ sql }) => sql.startsWith("SELECT"));

describe("queries in what users read", () => {
  test("DuckDB's shell lines give what the report says is owed", async () => {
    const expected = askReport("SELECT currency, sum(net) FROM v_client_balance GROUP BY 1 ORDER BY 1");
    expect(duckShellQueries).toHaveLength(1);
    for (const sql of duckShellQueries) {
      const rows = await withDuck((connection) => ask(connection, sql));
      expect(rows.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))).toEqual(expected);
    }
  });

  test("have an answer, and the same for the same question, whoever is asked", async () => {
    const answers = new Map<string, Answer[]>();
    const compare = (sql: string, answer: string | null, rows: Answer) => {
      expect(rows.length, sql).toBeGreaterThanOrEqual(answer === "may-be-empty" ? 0 : 1);
      if (answer !== null) answers.set(answer, [...(answers.get(answer) ?? []), rows]);
    };
    for (const { sql, answer } of queries("report")) compare(sql, answer, askReport(sql));
    for (const { sql, answer } of queries("duckdb"))
      compare(sql, answer, await withDuck((connection) => ask(connection, sql)));
    const shared = [...answers].filter(([, all]) => all.length > 1);
    expect(shared.map(([answer]) => answer)).toEqual(["owed", "revenue", "lines-add-up"]);
    for (const [answer, [first, ...others]] of shared)
      for (const other of others) expect([answer, ...other]).toEqual([answer, ...(first ?? [])]);
  });

  test("on the mirror itself agree with the report on who owes us", () => {
    const [{ sql } = { sql: "" }] = sqlFor("mirror");
    const rows = company.mirror.db.prepare(sql).raw().all() as [string, string, number][];
    const owed = (currency: string) =>
      rows.reduce((sum, row) => (row[1] === currency ? sum + Math.round(row[2] * 100) : sum), 0) / 100;
    const expected = askReport("SELECT currency, sum(to_be_paid) FROM v_receivables GROUP BY 1 ORDER BY 1");
    expect(expected.length).toBeGreaterThan(1);
    expect(expected.map(([currency]) => [currency, plain(owed(currency ?? ""))])).toEqual(expected);
  });
});

/** One invoice gone, one with another note and a line less. */
function change({ mirror, records }: PublishedCompany): void {
  const [gone, other] = records.get("invoices") ?? [];
  if (!gone || !other) throw new Error("there are no invoices");
  remove(mirror, "invoices", Number(gone["id"]));
  const { items } = other as unknown as { readonly items: readonly unknown[] };
  const changed = { ...other, note: "changed", items: items.slice(1) };
  putAs(mirror, "invoices", Number(other["id"]), JSON.stringify(changed), { source: "detail" });
}

const named = (name: string) => sqlFor("duckdb").find(({ answer }) => answer === name)?.sql ?? "";
const all = (table: string, key: string) => `SELECT * FROM ${table} ORDER BY ${key}`;

test("the load and the merge of the text make of a delta what is there now, also when it comes twice", async () => {
  change(company);
  const tables = ["invoices", "invoice_items"];
  const { manifest } = await exporting({ out: "delta", tables, since: { log: null, seq: next } });
  expect(manifest.next_since).toBeGreaterThan(next);
  await withDuck(async (connection) => {
    await ask(connection, named("load"));
    const before = await ask(connection, all("invoices", "id"));
    for (let times = 0; times < 2; times++) await ask(connection, named("merge"));
    await exporting({ out: "parquet", tables });
    expect(await ask(connection, all("invoices", "id"))).toHaveLength(before.length - 1);
    for (const [table, key] of [
      ["invoices", "id"],
      ["invoice_items", "invoice_id, position"],
    ] as const) {
      const exported = await ask(connection, all(`'parquet/acme/${table}.parquet'`, key));
      expect(await ask(connection, all(table, key))).toEqual(exported);
    }
  });
});
