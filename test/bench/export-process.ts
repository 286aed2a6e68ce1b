import { readFileSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { exportTables } from "../../src/export/export-tables.ts";
import { formats } from "../../src/export/plan/export-request.ts";
import { benchManifest } from "./export-mirror.ts";

/** Makes one export in a process of its own and prints its time and its peak memory. */
const [mirror = "", out = "", asked = "csv"] = process.argv.slice(2);
const format = formats.find((each) => each === asked);
if (!format) throw new Error(`no format: ${asked}`);
const start = performance.now();
const { manifest } = await exportTables(
  { mirror, manifest: benchManifest, clock: systemClock, reportDate: "2026-11-22", version: "bench" },
  {
    format,
    out,
    company: "acme",
    tables: [],
    dialect: "standard",
    partition: null,
    since: null,
    period: null,
    language: "en",
    nested: false,
  },
);
const { userCPUTime, systemCPUTime } = process.resourceUsage();
const cpuMs = (userCPUTime + systemCPUTime) / 1000;
console.log(
  JSON.stringify({
    ms: performance.now() - start,
    cpuMs,
    peakBytes: peakBytes(),
    bytes: manifest.files[0]?.bytes,
  }),
);

/** Of this program alone: the system's own count begins with what the parent had. */
function peakBytes(): number {
  const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(found?.[1]) * 1024;
}
