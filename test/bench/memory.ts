import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { formatSize } from "../../src/base/units.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";
import { peakBytesIn, peakReporter } from "../support/program/peak-memory.ts";
import type { BenchResult } from "./result.ts";

const program = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
/** As users run it: the built program where there is one. */
const installed = fileURLToPath(new URL("../../bin/fintoro-mirror.js", import.meta.url));
const documents = ["invoices", "credit_notes", "proformas", "orders", "quotations", "document_payments"];
const aimBytes = 512 * 2 ** 20;
const firstRunBytes = 170 * 2 ** 20;
const requests = 6_000;

/** Peak resident memory of the real command, the service being a process of its own. */
export async function benchMemory(): Promise<BenchResult[]> {
  const first = await withService(5_000, (service) => measure(service, [], installed));
  const large = await withService(200_000, async (service) => [
    await measure(service, [...documents, "--max-requests", String(requests)]),
    await measure(service, ["clients"]),
  ]);
  const names = [
    `peak memory, all pages of 200,000 documents and the details of ${requests} requests`,
    "peak memory, 100,000 clients in one answer",
  ];
  return [
    result("peak memory, first run of 5,000 documents and its report", first, firstRunBytes),
    ...large.map((measured, i) => result(names[i] ?? "", measured, aimBytes)),
  ];
}

async function withService<T>(records: number, use: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService(records);
  try {
    return await use(service);
  } finally {
    service.process.kill("SIGKILL");
  }
}

interface Service {
  readonly process: ChildProcess;
  readonly url: string;
  readonly token: string;
}

async function startService(records: number): Promise<Service> {
  const args = ["sandbox", "--json", "--port", "0", "--limit", "1000000", "--records", String(records)];
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { url, token } = JSON.parse(line) as { url: string; token: string };
  return { process: child, url, token };
}

interface Measured {
  readonly peakBytes: number;
  readonly report: CompanyReport;
}

/** The process itself says at its end how much it had at most. */
async function measure({ url, token }: Service, args: readonly string[], entry = program): Promise<Measured> {
  const folder = mkdtempSync(path.join(tmpdir(), "fintoro-mirror-memory-"));
  try {
    const config = path.join(folder, "config.yaml");
    const peak = path.join(folder, "peak");
    writeFileSync(
      config,
      `base_url: ${url}\ndata_dir: .\ncompanies: { acme: { token: "\${env:BENCH_TOKEN}" } }\n`,
    );
    const node = ["--import", peakReporter(peak), entry, "sync", ...args, "--json", "-q", "--config", config];
    const child = spawn(process.execPath, node, {
      env: { ...process.env, BENCH_TOKEN: token },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    await once(child, "close");
    const { companies } = JSON.parse(stdout) as { companies: { acme: CompanyReport } };
    return { peakBytes: peakBytesIn(peak), report: companies.acme };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function result(name: string, { peakBytes, report }: Measured, mostBytes: number): BenchResult {
  const listed = Object.values(report.resources).reduce((sum, counts) => sum + counts.listed, 0);
  return {
    name,
    ratio: peakBytes / mostBytes,
    aim: "at most 1",
    detail: `${formatSize(peakBytes)}; ${listed} records listed in ${report.requests.total} requests, ${report.outcome}`,
  };
}
