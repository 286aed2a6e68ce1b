import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { PackagesTable } from "../../../src/fleet/postgres/tables/packages-table.ts";
import { readPackageStatus } from "../../../src/fleet/status/package-status.ts";
import { startProxy } from "../../support/company/proxy.ts";
import { entriesOf } from "../../support/export/zip.ts";
import { endServe } from "../../support/program/serve-process.ts";
import { startSandbox, type Control } from "../../support/sandbox/control.ts";
import type { BenchResult } from "../result.ts";
import { openFleetBed, until } from "./fleet-bed.ts";
import { processorSeconds } from "./process-cost.ts";

const month = "2026-10";
const records = 250;
const pdfBytes = 80_000;
const mostMs = 30 * 60_000;
/** An office on 1 January at 06:00. */
const office = { companies: 5_000, documents: 60, coreHours: 5 };

/**
 * What the month of a company costs a worker that has to restore its mirror first, without and with a proof, in processor
 * time. The service has no limit; PDFs have 80 kB that nothing packs smaller.
 */
export async function benchMonth(isLarge: boolean): Promise<BenchResult[]> {
  await using resources = new AsyncDisposableStack();
  const pack = await openBed(resources, isLarge ? 100 : 20);
  return [await pack("packed", false), await pack("proved and packed", true)];
}

async function openBed(resources: AsyncDisposableStack, count: number) {
  const starting = startSandbox({ companies: count, records, limit: 1_000_000 });
  const sandbox = resources.adopt(await starting, (one) => one.close());
  for (const index of sandbox.companies.keys()) fillMonth(sandbox.control, index);
  const proxy = resources.adopt(await startProxy(sandbox), (one) => one.close());
  const noise = randomBytes(pdfBytes);
  proxy.obstruct(({ path: asked }) =>
    asked.endsWith("/pdf")
      ? {
          status: 200,
          headers: { "content-type": "application/pdf" },
          body: Buffer.concat([Buffer.from(`%PDF-1.4\n${asked}\n`), noise, Buffer.from("\n%%EOF\n")]),
        }
      : undefined,
  );
  const tokens = sandbox.companies.map(({ token }, i) => [`TOKEN_${i}`, token] as const);
  const places = (all: string) => `snapshots: ${all}/mirrors, reports: ${all}/reports, capacity: ${count}`;
  const bed = await openFleetBed(resources, places, Object.fromEntries(tokens));
  const { postgres, folder, startWorker } = bed;
  const companies = tokens.map(([name], i) => `  unit-${i}: { token: "\${env:${name}}" }`);
  const schedule = 'schedule: { sync: "15 3 * * *", publish: off }';
  await bed.add("all", [`base_url: ${proxy.baseUrl}`, schedule, "companies:", ...companies]);
  const first = startWorker("first");
  await until(async () => (await wholeCompanies(postgres)) === count, mostMs, first);
  await endServe(first, "SIGTERM");
  return async (what: string, proved: boolean): Promise<BenchResult> => {
    const worker = startWorker(proved ? "third" : "second");
    await pause(3_000);
    const pid = worker.child.pid ?? 0;
    const before = processorSeconds(pid);
    const names = tokens.map((_, i) => `unit-${i}`);
    await new PackagesTable(postgres).ask(names, month, proved);
    const statuses = async () => Object.values((await readPackageStatus(postgres, month, null)).companies);
    const isMade = async () => {
      const all = await statuses();
      const failed = all.find(({ outcome }) => outcome === "failed" || outcome === "partial");
      if (failed) throw new Error(failed.message);
      return all.every(({ outcome }) => outcome === "done");
    };
    const { seconds, cpuSeconds } = await bed.costOf(() => until(isMade, mostMs, worker));
    const used = (processorSeconds(pid) - before) / count;
    const ofPostgres = cpuSeconds / count;
    await endServe(worker, "SIGTERM");
    const keys = (await statuses()).map(({ made }) => made?.key ?? "");
    const pdfs = keys.map((key) => pdfsIn(path.join(folder, "reports", key)));
    const average = pdfs.reduce((sum, one) => sum + one, 0) / count;
    const hours = (used * office.companies) / 3_600;
    const facts = `${used.toFixed(2)} CPU s of a worker and ${ofPostgres.toFixed(2)} of Postgres for each of ${count} companies`;
    return {
      name: `${office.companies} companies of ${office.documents} documents, ${what}: core-hours of workers`,
      ratio: hours,
      aim: `at most ${office.coreHours}`,
      detail: `${facts} of ${average.toFixed(0)} PDFs on average, in ${seconds.toFixed(0)} s`,
    };
  };
}

async function wholeCompanies(postgres: Postgres): Promise<number> {
  const [row] = await postgres.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM fintoro_mirror.snapshots WHERE facts #>> '{summary,whole_at}' IS NOT NULL",
  );
  return row?.count ?? 0;
}

/** Moves so many documents of a company into the month, and the others out of it. */
function fillMonth(control: Control, company: number): void {
  const all = control.snapshot(company);
  const tables = ["invoices", "credit_notes"] as const;
  const found = tables.flatMap((table) => [...(all.get(table)?.keys() ?? [])].map((id) => ({ table, id })));
  if (found.length < office.documents) throw new Error(`${found.length} documents are too few`);
  for (const [index, { table, id }] of found.entries()) {
    const day = String(1 + (index % 28)).padStart(2, "0");
    const issueDate = index < office.documents ? `${month}-${day}` : `2026-09-${day}`;
    control.alter(table, id, { issueDate }, { company });
  }
}

function pdfsIn(zip: string): number {
  return entriesOf(readFileSync(zip)).filter(({ name }) => name.endsWith(".pdf")).length;
}
