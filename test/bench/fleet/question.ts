import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { Client } from "pg";
import { readersOf } from "../../support/fleet/readers.ts";
import { startPostgres } from "../../support/postgres/server.ts";
import { benchFolder, markdownTable, median, type BenchResult } from "../result.ts";
import { treeProcessorSeconds } from "./process-cost.ts";
import path from "node:path";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { exportTables } from "../../../src/export/export-tables.ts";
import type { ManifestFile } from "../../../src/export/files/export-manifest.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import { exportParts, plainRequest } from "../../support/export/export-request.ts";
import { putAs } from "../../support/mirror/store.ts";
import { startSandbox } from "../../support/sandbox/control.ts";
import { truthOf } from "../../support/truth/truth.ts";

const ofAll = (name: string) => `of_all('${name}')`;
const sizes = { usual: 500, large: 5_000 };
const warmRounds = 3;

/** What is asked of a table or view of all companies. */
const questions: Readonly<Record<string, (from: (table: string) => string) => string>> = {
  "open amounts by company": (from) =>
    `SELECT company, currency, sum(to_be_paid) FROM ${from("v_receivables")} GROUP BY company, currency`,
  "one customer": (from) =>
    `SELECT company, count(*), sum(total_with_vat) FROM ${from("invoices")} WHERE client_subject_id = '${customer}' GROUP BY company`,
  "VAT of a month": (from) =>
    `SELECT company, vat_rate, sum(vat) FROM ${from("v_vat_by_month")} WHERE month = '2026-10' GROUP BY company, vat_rate`,
};

interface Time {
  readonly wallMs: number;
  readonly cpuMs: number;
}

type Ask = (sql: string) => Promise<unknown>;

/** A way to ask. */
interface Way {
  readonly name: string;
  readonly from: (table: string) => string;
  /** Begins anew, with nothing of its files in memory. */
  reopen(): Promise<Ask>;
  /** So far. */
  cpuMs(): number;
}

/**
 * Questions over all companies of a fleet: by the page's statements over files as workers publish them, over the same
 * rows in one file, and in Postgres. 5,000 companies (`--large`) are 3.5 million invoices. Needs python3.
 */
export async function benchFleetQuestion(isLarge: boolean): Promise<BenchResult[]> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(benchFolder()).path;
  const companies = isLarge ? sizes.large : sizes.usual;
  await publishCompanies(folder, companies);
  const files = duckWay("a file for each company", folder, ofAll, readersOf(folder));
  const copying = await files.reopen();
  const copied = await timed(files, async () => {
    for (const table of askedTables)
      await copying(`COPY (FROM ${ofAll(table)}) TO '${folder}/${table}.parquet' (COMPRESSION zstd)`);
  });
  console.log(`\ncopying all of it into one file: ${timeText(copied)}`);
  const one = duckWay("one file", folder, (table) => `'${folder}/${table}.parquet'`);
  const ways = [one, files, await postgresWay(resources, folder)];
  const times = new Map<string, readonly [Time, Time]>();
  for (const way of ways)
    for (const [question, sql] of Object.entries(questions))
      times.set(`${way.name}: ${question}`, await ask(way, sql(way.from)));
  const rows = [...times].map(([what, each]) => [what, ...each.map(timeText)]);
  console.log(`\n${markdownTable(["", "first time", "again"], rows)}\n`);
  return Object.keys(questions).flatMap((question) =>
    ["first time", "again"].map((when, at) => {
      const cpuMs = ({ name }: Way) => times.get(`${name}: ${question}`)?.[at]?.cpuMs ?? Number.NaN;
      const detail = `${companies} companies`;
      const name = `${question}, ${when}: CPU against the same rows in one file`;
      return { name, ratio: cpuMs(files) / cpuMs(one), aim: "at most 3", detail };
    }),
  );
}

/** The first time, and the median of some more. */
async function ask(way: Way, sql: string): Promise<readonly [Time, Time]> {
  const run = await way.reopen();
  const first = await timed(way, () => run(sql));
  const again: Time[] = [];
  for (let round = 0; round < warmRounds; round++) again.push(await timed(way, () => run(sql)));
  const middle = (time: keyof Time) => median(again.map((each) => each[time]));
  return [first, { wallMs: middle("wallMs"), cpuMs: middle("cpuMs") }];
}

async function timed(way: Way, work: () => Promise<unknown>): Promise<Time> {
  const [startMs, usedMs] = [performance.now(), way.cpuMs()];
  await work();
  return { wallMs: performance.now() - startMs, cpuMs: way.cpuMs() - usedMs };
}

function timeText({ wallMs, cpuMs }: Time): string {
  return `${wallMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU`;
}

/** `before`: what is run first, and counts as part of the first question. */
function duckWay(name: string, folder: string, from: Way["from"], before = ""): Way {
  const reopen = async (): Promise<Ask> => {
    forget(folder);
    const duck = await openDuck();
    let rest = before;
    return async (sql) => {
      if (rest !== "") await duck.run(rest);
      rest = "";
      await duck.runAndReadAll(sql);
    };
  };
  return { name, from, reopen, cpuMs: ownCpuMs };
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function openDuck(): Promise<DuckDBConnection> {
  return (await DuckDBInstance.create(":memory:")).connect();
}

async function postgresWay(resources: AsyncDisposableStack, folder: string): Promise<Way> {
  const server = await startPostgres({ durable: true });
  resources.defer(() => server.end());
  const connect = async () => {
    const client = new Client(server.url("postgres"));
    client.on("error", () => undefined);
    await client.connect();
    return client;
  };
  const loading = await connect();
  const [{ data_directory: data }] = (await loading.query("SHOW data_directory")).rows as [
    Record<string, string>,
  ];
  const duck = await openDuck();
  chmodSync(folder, 0o755);
  for (const table of askedTables) {
    const [rows, csv] = [`FROM '${folder}/${table}.parquet'`, `${folder}/${table}.csv`];
    await duck.run(`COPY (${rows}) TO '${csv}'`);
    const columns = (await duck.runAndReadAll(`DESCRIBE ${rows}`)).getRows();
    const typed = columns.map(
      ([name, type]) => `"${String(name)}" ${String(type).replace("DOUBLE", "float8")}`,
    );
    await loading.query(
      `CREATE TABLE ${table} (${typed.join(", ")}); COPY ${table} FROM '${csv}' (FORMAT csv, HEADER)`,
    );
    await loading.query(`VACUUM ANALYZE ${table}`);
  }
  await loading.end();
  const reopen = async (): Promise<Ask> => {
    await server.stop();
    forget(data ?? "");
    await server.start();
    const client = await connect();
    return (sql) => client.query(sql);
  };
  const cpuMs = () => treeProcessorSeconds(server.pid) * 1_000;
  return { name: "Postgres", from: (table) => table, reopen, cpuMs };
}

/** Has the system keep nothing of these files in memory; Node itself cannot ask for it. */
function forget(folder: string): void {
  const drop =
    "fd = os.open(os.path.join(at, name), os.O_RDONLY); os.fsync(fd); os.posix_fadvise(fd, 0, 0, 4); os.close(fd)";
  const program = `import os, sys
for at, _, names in os.walk(sys.argv[1]):
  for name in names:
    ${drop}`;
  execFileSync("python3", ["-c", program, folder]);
}

/** What questions ask; a pointer names all tables that a company has. */
const askedTables = ["invoices", "v_receivables", "v_vat_by_month"] as const;
const otherTables = Array.from({ length: 50 }, (_, i) => `table_${i}`);
/** Half of them are invoices. */
const documents = 1_400;
/** Companies with rows of their own; the others have copies of their files. */
const samples = 50;
/** One that buys of every company. */
const customer = "38627256";

const otherRows = `UPDATE invoices SET total_with_vat = round(total_with_vat * (0.5 + abs(random() % 1000) / 1000.0), 2),
  to_be_paid = round(to_be_paid * (0.5 + abs(random() % 1000) / 1000.0), 2), number = hex(randomblob(4)),
  uuid = hex(randomblob(16)), client_name = hex(randomblob(10)), variable_symbol = abs(random() % 100000000),
  client_subject_id = iif(id % 100 = 1, '${customer}', 10000000 + abs(random() % 89999999))`;

/** Fills a folder as workers publish companies of 700 invoices: files of the product's own writer, and pointers. */
async function publishCompanies(folder: string, count: number): Promise<void> {
  const sandbox = await startSandbox({ records: documents });
  const mirror = await openMirror(path.join(folder, "sample.db"), declaration);
  mirror.db.pragma("synchronous = OFF");
  for (const [table, records] of truthOf(sandbox))
    for (const [id, { text }] of records) putAs(mirror, table, Number(id), text);
  await sandbox.close();
  mkdirSync(path.join(folder, "pointers"));
  const out = path.join(folder, "sample");
  const parts = exportParts(mirror.db.name, declaration);
  const request = { ...plainRequest, format: "parquet", out, company: "one", tables: askedTables } as const;
  for (let sample = 0; sample < Math.min(samples, count); sample++) {
    mirror.db.exec(otherRows);
    rmSync(out, { recursive: true, force: true });
    const { manifest: made } = await exportTables(parts, request);
    for (let company = sample; company < count; company += samples)
      publishCompany(folder, `company_${company}`, made.files);
  }
  mirror.close();
}

function publishCompany(folder: string, company: string, files: readonly ManifestFile[]): void {
  const small = { company, rows: 1, bytes: 500 };
  const others = otherTables.map((name) => ({ ...small, name, key: keyOf(company, name) }));
  const made = files.map(({ table: name, file, rows, bytes, report_date: day }) => {
    const key = keyOf(company, day === undefined ? name : `${name}/report_date=${day}`);
    mkdirSync(path.dirname(path.join(folder, key)), { recursive: true });
    copyFileSync(path.join(folder, "sample/one", file), path.join(folder, key));
    return { company, name, key, rows, bytes };
  });
  writeFileSync(path.join(folder, `pointers/${company}.json`), `${JSON.stringify([...made, ...others])}\n`);
}

function keyOf(company: string, below: string): string {
  return `company=${company}/${below}/data-1-1.parquet`;
}
