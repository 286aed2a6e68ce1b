import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { formatCount, formatSize } from "../../src/base/units.ts";
import type { RunSummary } from "../../src/sync/context/run-summary.ts";
import { binFile, firstLine } from "../support/program/cli.ts";
import { peakBytesIn, peakReporter } from "../support/program/peak-memory.ts";
import { startProcess } from "../support/program/serve-process.ts";
import { benchFolder, markdownTable, median, timed, type BenchResult } from "./result.ts";

const usual = [700, 5_000, 10_000];
const large = [100_000, 500_000, 1_000_000];
const readings = 3;
/** Longer than pages are kept, 200 times as long as making one took, and what they show: each reading is made anew. */
const kept = { leastMs: 6_000, factor: 250 };
/** Growth by more than the number of documents to this power is above linear; what is below is noise and start-up. */
const linear = 1.1;

/** What one size took, by what was measured: processor time in ms, and what is to be shown. */
type Figures = ReadonlyMap<string, { readonly grows: number; readonly text: string }>;

/**
 * How all that people wait for grows, as a table. Real commands of the built program, the service being a
 * process of its own. With `--large` to a million documents, which takes hours.
 */
export async function benchSize(isLarge: boolean): Promise<BenchResult[]> {
  const sizes = isLarge ? [...usual, ...large] : usual;
  const measured: Figures[] = [];
  for (const documents of sizes) {
    measured.push(await withCompany(documents, figuresOf));
    console.error(`${formatCount(documents)} documents are measured`);
  }
  const names = [...(measured[0]?.keys() ?? [])];
  const rows = names.map((name) => [name, ...measured.map((figures) => figures.get(name)?.text ?? "")]);
  console.log(`\n${markdownTable(["documents", ...sizes.map(formatCount)], rows)}\n`);
  return names.map((name) => growthOf(name, sizes, measured));
}

/** Of the company in this folder. */
async function figuresOf(folder: string): Promise<Figures> {
  const sync = ["sync", "--json", "-q"];
  const first = await costOf(folder, sync);
  await costOf(folder, sync);
  const night = await costOf(folder, sync);
  const publish = await costOf(folder, ["publish", "-q"]);
  const parquet = await costOf(folder, ["export", "--format", "parquet", "--out", "parquet", "-q"]);
  const csv = await costOf(folder, ["export", "--format", "csv", "--out", "csv", "-q"]);
  const verify = await costOf(folder, ["verify", "--local", "-q"]);
  const pages = await pagesOf(folder);
  return new Map([
    ["first run", run(first)],
    ["unchanged night", run(night)],
    ["mirror on disk", sizeOf(folder, "acme.db")],
    ["report on disk", sizeOf(folder, "acme.report.db")],
    ["`publish`", command(publish)],
    ["`export --format parquet`", command(parquet)],
    ["`export --format csv`", command(csv)],
    ["`verify --local`", command(verify)],
    ["status page", { grows: pages.page, text: `${pages.page.toFixed(1)} ms` }],
    ["`/metrics`", { grows: pages.metrics, text: `${pages.metrics.toFixed(1)} ms` }],
  ]);
}

function command({ cpuMs, peakBytes }: ProgramCost) {
  return { grows: cpuMs, text: `${(cpuMs / 1000).toFixed(2)} s, ${formatSize(peakBytes)}` };
}

function run(cost: ProgramCost) {
  const { companies } = JSON.parse(cost.stdout) as { companies: { acme: RunSummary } };
  const requests = formatCount(companies.acme.requests.total);
  return { ...command(cost), text: `${requests} requests, ${command(cost).text}` };
}

function sizeOf(folder: string, file: string) {
  const { size } = statSync(path.join(folder, file));
  return { grows: size, text: formatSize(size) };
}

/** How long the daemon takes to answer with a page made anew, in ms: the median of some readings. */
async function pagesOf(folder: string) {
  const { child, ended } = start(folder, ["serve", "--json", "--listen", "127.0.0.1:0"]);
  try {
    const { url } = JSON.parse(await firstLine(child)) as { url: string };
    return { page: await answerMs(new URL("/", url)), metrics: await answerMs(new URL("/metrics", url)) };
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

async function answerMs(url: URL): Promise<number> {
  const times: number[] = [];
  for (let reading = 0; reading < readings; reading++) {
    await pause(Math.max(kept.leastMs, kept.factor * Math.max(0, ...times)));
    const { wallMs } = await timed(async () => (await fetch(url)).arrayBuffer());
    times.push(wallMs);
  }
  return median(times);
}

/** The power of the number of documents with which it grew between the two largest sizes. */
function growthOf(name: string, sizes: readonly number[], measured: readonly Figures[]): BenchResult {
  const [smaller, larger] = measured.slice(-2).map((figures) => figures.get(name)?.grows ?? Number.NaN);
  const [fewer = 1, more = 1] = sizes.slice(-2);
  const power = Math.log((larger ?? 1) / (smaller ?? 1)) / Math.log(more / fewer);
  const text = measured.map((figures) => figures.get(name)?.text ?? "").join("; ");
  return { name: `growth: ${name}`, ratio: power, aim: `at most ${linear}`, detail: text };
}

/** As users run it: the built program where there is one. A large company takes hours. */
function start(folder: string, args: readonly string[], nodeOptions: readonly string[] = []) {
  return startProcess(args, { folder, file: binFile, nodeOptions, mostMs: 0 });
}

/** What a command took, start-up and threads included. */
interface ProgramCost {
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly stdout: string;
}

/** In a folder with the config of a company whose service is a sandbox in a process of its own. */
async function withCompany<T>(records: number, use: (folder: string) => Promise<T>): Promise<T> {
  using scratch = benchFolder();
  const folder = scratch.path;
  const args = ["sandbox", "--json", "-q", "--port", "0", "--limit", "1000000", "--records", String(records)];
  const { child } = start(folder, args, ["--max-old-space-size=12000"]);
  try {
    const { url, token } = JSON.parse(await firstLine(child)) as { url: string; token: string };
    const company = `companies: { acme: { token: "${token}" } }`;
    const rest = "schedule: { sync: off, publish: off }";
    writeFileSync(path.join(folder, "config.yaml"), `base_url: ${url}\ndata_dir: .\n${company}\n${rest}\n`);
    return await use(folder);
  } finally {
    child.kill("SIGKILL");
  }
}

async function costOf(folder: string, args: readonly string[]): Promise<ProgramCost> {
  const noted = path.join(folder, "peak");
  const { ended, stdout, stderr } = start(folder, args, ["--import", peakReporter(noted)]);
  const { code } = await ended;
  // 3: not whole, as a run with a limit of requests is.
  if (code !== 0 && code !== 3) throw new Error(`${args.join(" ")} ended with ${code}: ${stderr()}`);
  const cpuMs = Number(/^cpu (\d+)$/m.exec(readFileSync(noted, "utf8"))?.[1]) / 1000;
  return { cpuMs, peakBytes: peakBytesIn(noted), stdout: stdout() };
}
