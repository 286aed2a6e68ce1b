import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { formatSize } from "../../src/base/units.ts";
import { benchColumns, benchMirror } from "./export-mirror.ts";
import { measure, type Measured } from "./measured-process.ts";
import { atMost, benchFolder, inTurns, timed, type BenchResult } from "./result.ts";

const rounds = 3;
const rows = 1_000_000;
const workbookRows = 100_000;

/**
 * Exports of one mirror beside what others make of it, in turns: CSV against the sqlite3 shell, Parquet against DuckDB writing the same rows from its memory, and the most memory each took.
 */
export async function benchExport(): Promise<BenchResult[]> {
  const mirror = await benchMirror(rows);
  using scratch = benchFolder();
  const folder = scratch.path;
  const csv = await inTurns(rounds, {
    ours: () => measure("csv", mirror, folder),
    theirs: () => shellCsv(mirror, path.join(folder, "shell.csv")),
  });
  await measure("parquet", mirror, folder);
  const duck = await loaded(path.join(folder, "acme/invoices.parquet"));
  const copy = (from: string) =>
    wallMsOf(() => duck.run(`COPY ${from} TO '${folder}/duck.parquet' (FORMAT parquet, COMPRESSION zstd)`));
  const parquet = await inTurns(rounds, {
    ours: () => measure("parquet", mirror, folder),
    theirs: () => copy("invoices"),
  });
  const fromCsv = await copy(`(FROM '${folder}/shell.csv')`);
  const viaShell = { ...parquet, theirs: [Math.min(...csv.theirs) + fromCsv] };
  const workbook = await measure("xlsx", await benchMirror(workbookRows), folder);
  const of = `${rows} rows of ${benchColumns.length} columns`;
  return [
    ratio("CSV, speed against the sqlite3 shell", csv, "at least 2.2", of),
    ratio("Parquet, speed against DuckDB that has the rows in memory", parquet, "at least 0.5", of),
    ratio("Parquet, speed against DuckDB by way of the sqlite3 shell", viaShell, "at least 3.5", of),
    memory("Parquet", parquet.ours, 250e6),
    memory(`workbook of ${workbookRows} rows`, [workbook], 200e6),
  ];
}

interface Turns {
  readonly ours: readonly Measured[];
  readonly theirs: readonly number[];
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

/** The best of each: a busy machine slows both. */
function ratio(name: string, { ours, theirs }: Turns, aim: string, of: string): BenchResult {
  const [own, other] = [Math.min(...ours.map((each) => each.wallMs)), Math.min(...theirs)];
  const detail = `${seconds(own)} to ${seconds(other)}; ${formatSize(ours[0]?.bytes ?? 0)}; ${of}`;
  return { name, ratio: other / own, aim, detail };
}

function memory(what: string, made: readonly Measured[], mostBytes: number): BenchResult {
  const peakBytes = Math.max(...made.map((each) => each.peakBytes));
  const name = `${what}, peak memory against ${formatSize(mostBytes)}`;
  return atMost(name, peakBytes, mostBytes, formatSize(peakBytes));
}

async function shellCsv(mirror: string, file: string): Promise<number> {
  const sql = `SELECT ${benchColumns.join(", ")} FROM invoices WHERE _deleted_at IS NULL`;
  return wallMsOf(async () => {
    const script = 'exec sqlite3 -csv -header "$1" "$2" > "$3"';
    const child = spawn("bash", ["-c", script, "bash", mirror, sql, file]);
    const [code] = (await once(child, "close")) as [number];
    if (code !== 0) throw new Error("there is no sqlite3 shell: apt-get install sqlite3");
  });
}

async function loaded(file: string): Promise<DuckDBConnection> {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run(`CREATE TABLE invoices AS SELECT * FROM '${file}'`);
  return connection;
}

async function wallMsOf(work: () => Promise<unknown>): Promise<number> {
  return (await timed(work)).wallMs;
}
