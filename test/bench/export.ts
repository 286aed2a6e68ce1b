import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { formatSize } from "../../src/base/units.ts";
import { benchColumns, benchMirror } from "./export-mirror.ts";
import { measure, type Measured } from "./measured-process.ts";
import type { BenchResult } from "./result.ts";

const rounds = 3;
const workbookRows = 100_000;

/**
 * Exports of one mirror beside what others make of it, in turns: CSV against the sqlite3 shell, Parquet against DuckDB writing the same rows from its memory, and the most memory each took.
 */
export async function benchExport(rows = 1_000_000): Promise<BenchResult[]> {
  const mirror = await benchMirror(rows);
  const folder = mkdtempSync(path.join(tmpdir(), "fintoro-mirror-bench-export-"));
  try {
    const csv = await inTurns(
      () => measure("csv", mirror, folder),
      () => shellCsv(mirror, path.join(folder, "shell.csv")),
    );
    await measure("parquet", mirror, folder);
    const duck = await loaded(path.join(folder, "acme/invoices.parquet"));
    const copy = () =>
      timed(() => duck.run(`COPY invoices TO '${folder}/duck.parquet' (FORMAT parquet, COMPRESSION zstd)`));
    const parquet = await inTurns(() => measure("parquet", mirror, folder), copy);
    const fromCsv = `COPY (FROM '${folder}/shell.csv') TO '${folder}/duck.parquet' (FORMAT parquet, COMPRESSION zstd)`;
    const viaShell = csv.theirs + (await timed(() => duck.run(fromCsv)));
    const workbook = await measure("xlsx", await benchMirror(workbookRows), folder);
    const of = `${rows} rows of ${benchColumns.length} columns`;
    const mirrored = { ...parquet, theirs: viaShell };
    return [
      ratio("CSV, speed against the sqlite3 shell", csv, "at least 2.2", of),
      ratio("Parquet, speed against DuckDB that has the rows in memory", parquet, "at least 0.5", of),
      ratio("Parquet, speed against DuckDB by way of the sqlite3 shell", mirrored, "at least 3.5", of),
      memory("Parquet", parquet, 250e6),
      memory(`workbook of ${workbookRows} rows`, workbook, 200e6),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Turns {
  readonly ours: number;
  readonly theirs: number;
  readonly peakBytes: number;
  readonly bytes: number;
}

/** The best of some rounds of each, one after the other: a busy machine slows both. */
async function inTurns(ours: () => Promise<Measured>, theirs: () => Promise<number>): Promise<Turns> {
  const all: { ours: Measured; theirs: number }[] = [];
  for (let round = 0; round < rounds; round++) all.push({ ours: await ours(), theirs: await theirs() });
  return {
    ours: Math.min(...all.map((each) => each.ours.wallMs)),
    theirs: Math.min(...all.map((each) => each.theirs)),
    peakBytes: Math.max(...all.map((each) => each.ours.peakBytes)),
    bytes: all[0]?.ours.bytes ?? 0,
  };
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

function ratio(name: string, { ours, theirs, bytes }: Turns, aim: string, of: string): BenchResult {
  return {
    name,
    ratio: theirs / ours,
    aim,
    detail: `${seconds(ours)} to ${seconds(theirs)}; ${formatSize(bytes)}; ${of}`,
  };
}

function memory(what: string, { peakBytes }: Pick<Measured, "peakBytes">, mostBytes: number): BenchResult {
  const name = `${what}, peak memory against ${formatSize(mostBytes)}`;
  return { name, ratio: peakBytes / mostBytes, aim: "at most 1", detail: formatSize(peakBytes) };
}

async function shellCsv(mirror: string, file: string): Promise<number> {
  const sql = `SELECT ${benchColumns.join(", ")} FROM invoices WHERE _deleted_at IS NULL`;
  return timed(async () => {
    const child = spawn("bash", [
      "-c",
      `exec sqlite3 -csv -header "$1" "$2" > "$3"`,
      "bash",
      mirror,
      sql,
      file,
    ]);
    const [code] = (await once(child, "close")) as [number];
    if (code !== 0) throw new Error("there is no sqlite3 shell: apt-get install sqlite3");
  });
}

async function loaded(file: string): Promise<DuckDBConnection> {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run(`CREATE TABLE invoices AS SELECT * FROM '${file}'`);
  return connection;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
