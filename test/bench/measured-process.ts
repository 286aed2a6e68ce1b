import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemClock } from "../../src/base/clock.ts";
import { syncToDisk } from "../../src/base/files/atomic-file.ts";
import { exportTables } from "../../src/export/export-tables.ts";
import type { ExportRequest } from "../../src/export/plan/export-request.ts";
import { publishReport, type PublishWay } from "../../src/report/publish-report.ts";
import { openDatabase } from "../../src/store/database.ts";
import { exportParts, plainRequest } from "../support/export/export-request.ts";
import { peakBytesIn } from "../support/program/peak-memory.ts";
import { benchDeclaration } from "./export-mirror.ts";
import { timed, type Time } from "./result.ts";

/** What a process made, and took for it without its start. */
export interface Measured extends Time {
  readonly peakBytes: number;
  readonly bytes: number;
}

/** What can be made of the mirror of the exports' bench: a copy, the report, an export. */
type Product = "vacuum" | PublishWay | "csv" | "parquet" | "xlsx";

/** Makes it beside the mirror, or in the folder `out`, in a process of its own, so that its memory is its own. */
export async function measure(product: Product, mirror: string, out = ""): Promise<Measured> {
  const args = [fileURLToPath(import.meta.url), product, mirror, out];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Measured;
}

async function make(product: Product, mirror: string, out: string): Promise<number> {
  if (product === "csv" || product === "parquet" || product === "xlsx") return exportTo(out, product, mirror);
  return product === "vacuum" ? vacuum(mirror) : publishTo(mirror, product);
}

/** On the disk when it is done, as the report is. */
function vacuum(mirror: string): number {
  const copy = `${mirror}.copy`;
  const db = openDatabase(mirror, { readonly: true });
  db.prepare("VACUUM INTO ?").run(copy);
  db.close();
  syncToDisk(copy);
  return statSync(copy).size;
}

async function publishTo(mirror: string, way: PublishWay): Promise<number> {
  const about = { company: "acme", timezone: "UTC", version: "0", clock: systemClock };
  const options = { way, force: true, signal: new AbortController().signal };
  const published = await publishReport(mirror, `${mirror}.report`, benchDeclaration, about, options);
  if (published.way !== way) throw new Error(`it was published ${published.way}, not ${way}`);
  return published.bytes;
}

async function exportTo(out: string, format: ExportRequest["format"], mirror: string): Promise<number> {
  const parts = exportParts(mirror, benchDeclaration);
  const { manifest } = await exportTables(parts, { ...plainRequest, format, out });
  return manifest.files[0]?.bytes ?? 0;
}

if (import.meta.main) {
  const [product, mirror = "", out = ""] = process.argv.slice(2);
  const { made: bytes, wallMs, cpuMs } = await timed(() => make(product as Product, mirror, out));
  const measured = { wallMs, cpuMs, peakBytes: peakBytesIn("/proc/self/status"), bytes };
  console.log(JSON.stringify(measured satisfies Measured));
}
