import { setTimeout as pause } from "node:timers/promises";
import { formatSize } from "../../src/base/units.ts";
import { askPage, openManyCompanies, processFacts } from "../support/company/many-companies.ts";
import { endServe, startServe } from "../support/program/serve-process.ts";
import { atMost, type BenchResult } from "./result.ts";

const count = 200;
const mostMs = 15 * 60_000;

/** One `serve` process for 200 companies: a start without mirrors and their first runs, and a start with mirrors. */
export async function benchCompanies(): Promise<BenchResult[]> {
  const many = await openManyCompanies(count, 10);
  const serve = async (label: string, until: string) => {
    const startedMs = performance.now();
    const sinceMs = () => performance.now() - startedMs;
    const daemon = await startServe(many.folder, many.port, mostMs);
    await askPage(many.port, "/healthz");
    const firstMs = sinceMs();
    const pages: number[] = [];
    const isOver = () => daemon.stderr().split(until).length > count;
    while (!isOver() && sinceMs() < mostMs / 3) {
      await pause(2_000);
      for (const page of ["/metrics", "/readyz"]) pages.push((await askPage(many.port, page)).tookMs);
    }
    const { peakBytes, descriptors } = processFacts(daemon.child.pid ?? 0);
    const all = `${(sinceMs() / 1_000).toFixed(0)} s until all ${label}`;
    const slowestMs = Math.max(...pages);
    await endServe(daemon, "SIGTERM");
    const of = `${count} companies, ${label}`;
    return [
      atMost(`${of}: first /healthz against 2 s`, firstMs, 2_000, `${firstMs.toFixed(0)} ms, ${all}`),
      atMost(
        `${of}: memory against 600 MB`,
        peakBytes,
        600e6,
        `${formatSize(peakBytes)}, ${descriptors} descriptors`,
      ),
      atMost(`${of}: slowest page against 1 s`, slowestMs, 1_000, `${slowestMs.toFixed(0)} ms`),
    ];
  };
  try {
    return [
      ...(await serve("first runs made", '"msg":"a run ended"')),
      ...(await serve("mirrors open again", '"msg":"the mirror is open')),
    ];
  } finally {
    await many.close();
  }
}
