import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { formatCount, formatSize } from "../../src/base/units.ts";
import type { RunSummary } from "../../src/sync/context/run-summary.ts";
import { endOf, firstLine } from "../support/program/cli.ts";
import { peakBytesIn, peakReporter } from "../support/program/peak-memory.ts";
import { benchFolder, markdownTable, median, type BenchResult } from "./result.ts";

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
    measured.push(await withCompany(documents, (company) => figuresOf(company)));
    console.error(`${formatCount(documents)} documents are measured`);
  }
  const names = [...(measured[0]?.keys() ?? [])];
  const rows = names.map((name) => [name, ...measured.map((figures) => figures.get(name)?.text ?? "")]);
  console.log(`\n${markdownTable(["documents", ...sizes.map(formatCount)], rows)}\n`);
  return names.map((name) => growthOf(name, sizes, measured));
}

async function figuresOf(company: ServedCompany): Promise<Figures> {
  const sync = ["sync", "--json", "-q"];
  const first = await costOf(company, sync);
  await costOf(company, sync);
  const night = await costOf(company, sync);
  const publish = await costOf(company, ["publish", "-q"]);
  const parquet = await costOf(company, ["export", "--format", "parquet", "--out", "parquet", "-q"]);
  const csv = await costOf(company, ["export", "--format", "csv", "--out", "csv", "-q"]);
  const verify = await costOf(company, ["verify", "--local", "-q"]);
  const pages = await pagesOf(company);
  return new Map([
    ["first run", run(first)],
    ["unchanged night", run(night)],
    ["mirror on disk", sizeOf(company, "acme.db")],
    ["report on disk", sizeOf(company, "acme.report.db")],
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

function sizeOf({ folder }: ServedCompany, file: string) {
  const { size } = statSync(path.join(folder, file));
  return { grows: size, text: formatSize(size) };
}

/** How long the daemon takes to answer with a page made anew, in ms: the median of some readings. */
async function pagesOf(company: ServedCompany) {
  const daemon = startIn(company, ["serve", "--json", "--listen", "127.0.0.1:0"]);
  try {
    const { url } = JSON.parse(await firstLine(daemon)) as { url: string };
    return { page: await answerMs(new URL("/", url)), metrics: await answerMs(new URL("/metrics", url)) };
  } finally {
    daemon.kill("SIGTERM");
    await once(daemon, "close");
  }
}

async function answerMs(url: URL): Promise<number> {
  const times: number[] = [];
  for (let reading = 0; reading < readings; reading++) {
    await pause(Math.max(kept.leastMs, kept.factor * Math.max(0, ...times)));
    const startMs = performance.now();
    const answer = await fetch(url);
    await answer.arrayBuffer();
    times.push(performance.now() - startMs);
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

/** As users run it: the built program where there is one. */
const program = fileURLToPath(new URL("../../bin/fintoro-mirror.js", import.meta.url));

/** A folder with the config of a company whose service is a sandbox in a process of its own. */
interface ServedCompany {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What a command took, start-up and threads included. */
interface ProgramCost {
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly stdout: string;
}

async function withCompany<T>(records: number, use: (company: ServedCompany) => Promise<T>): Promise<T> {
  using scratch = benchFolder();
  const folder = scratch.path;
  const args = ["sandbox", "--json", "--port", "0", "--limit", "1000000", "--records", String(records)];
  const service = spawn(process.execPath, ["--max-old-space-size=12000", program, ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const { url, token } = JSON.parse(await firstLine(service)) as { url: string; token: string };
    const company = `companies: { acme: { token: "\${env:BENCH_TOKEN}" } }`;
    const rest = "schedule: { sync: off, publish: off }";
    writeFileSync(path.join(folder, "config.yaml"), `base_url: ${url}\ndata_dir: .\n${company}\n${rest}\n`);
    return await use({ folder, env: { ...process.env, BENCH_TOKEN: token } });
  } finally {
    service.kill("SIGKILL");
  }
}

/** Starts the program in the company's folder. Its errors are shown. */
function startIn(
  { folder, env }: ServedCompany,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, [...nodeOptions, program, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function costOf(company: ServedCompany, args: readonly string[]): Promise<ProgramCost> {
  const noted = path.join(company.folder, "peak");
  const child = startIn(company, args, ["--import", peakReporter(noted)]);
  const { code, stdout } = await endOf(child);
  // 3: not whole, as a run with a limit of requests is.
  if (code !== 0 && code !== 3) throw new Error(`${args.join(" ")} ended with ${code}: ${stdout}`);
  const cpuMs = Number(/^cpu (\d+)$/m.exec(readFileSync(noted, "utf8"))?.[1]) / 1000;
  return { cpuMs, peakBytes: peakBytesIn(noted), stdout };
}
