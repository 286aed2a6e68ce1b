import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { Client } from "pg";
import { readersOf } from "../support/docs/docs.ts";
import { startPostgres } from "../support/postgres/server.ts";
import { benchFolder, median, timed, type BenchResult, type Time } from "./result.ts";
import path from "node:path";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { exportTables } from "../../src/export/export-tables.ts";
import type { ManifestFile } from "../../src/export/files/export-manifest.ts";
import { exportParts, plainRequest } from "../support/export/export-request.ts";
import { mirrorOf } from "../support/export/published.ts";
import { startSandbox } from "../support/sandbox/control.ts";

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

interface Way {
  /** How a table of all companies is named. */
  readonly from: (table: string) => string;
  /** Begins anew, with nothing of its files in memory. */
  readonly open: () => Promise<(sql: string) => Promise<unknown>>;
  /** What is run before the first question, and counts as part of it. */
  readonly before?: string;
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
  const open = async () => {
    const duck = await openDuck(folder);
    return (sql: string) => duck.runAndReadAll(sql);
  };
  const copied = (table: string) => `'${folder}/${table}.parquet'`;
  const files: Way = { from: (name) => `of_all('${name}')`, open, before: `${readersOf(folder)};` };
  for (const table of askedTables)
    await (
      await open()
    )(`${files.before}COPY (FROM ${files.from(table)}) TO ${copied(table)} (COMPRESSION zstd)`);
  const postgres = await postgresWay(resources, folder);
  const results: BenchResult[] = [];
  for (const [question, sql] of Object.entries(questions)) {
    const inOne = await ask({ from: copied, open }, sql);
    const inAll = await ask(files, sql);
    const inPostgres = await ask(postgres, sql);
    for (const when of ["first time", "again"] as const) {
      const [one, all] = [inOne[when], inAll[when]];
      const name = `${question}, ${when}: CPU against the same rows in one file`;
      const others = `one file ${timeText(one)}; Postgres ${inPostgres[when].wallMs.toFixed(0)} ms`;
      const detail = `${companies} companies, ${timeText(all)}; ${others}`;
      results.push({ name, ratio: all.cpuMs / one.cpuMs, aim: "at most 3", detail });
    }
  }
  return results;
}

/** The first time, and the median of some more. */
async function ask({ from, open, before = "" }: Way, sql: (from: Way["from"]) => string) {
  const run = await open();
  const first = await timed(() => run(before + sql(from)));
  const again: Time[] = [];
  for (let round = 0; round < warmRounds; round++) again.push(await timed(() => run(sql(from))));
  const middle = (time: keyof Time) => median(again.map((each) => each[time]));
  return { "first time": first, again: { wallMs: middle("wallMs"), cpuMs: middle("cpuMs") } };
}

/** Its processor time is that of other processes. */
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
  const { rows: settings } = await loading.query<{ data_directory: string }>("SHOW data_directory");
  const duck = await openDuck(folder);
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
  const open = async () => {
    await server.stop();
    forget(settings[0]?.data_directory ?? "");
    await server.start();
    const client = await connect();
    return (sql: string) => client.query(sql);
  };
  return { from: (table) => table, open };
}

function timeText({ wallMs, cpuMs }: Time): string {
  return `${wallMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU`;
}

async function openDuck(folder: string): Promise<DuckDBConnection> {
  forget(folder);
  return (await DuckDBInstance.create(":memory:")).connect();
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
  using mirror = await mirrorOf(sandbox, folder);
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
