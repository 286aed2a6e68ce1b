import { setTimeout as pause } from "node:timers/promises";
import { formatSize } from "../../src/base/units.ts";
import { askPage, openManyCompanies, processFacts } from "../support/company/many-companies.ts";
import { endServe, startProbed } from "../support/program/serve-process.ts";
import { askProbe, longestBy, stallText, type ProbeAnswer } from "../support/program/stall.ts";
import type { BenchResult } from "./result.ts";

const count = 200;
const aims = { firstAnswerMs: 2_000, memoryBytes: 600 * 1_000_000, stallMs: 200, pageMs: 1_000 };
const mostMs = 15 * 60_000;

/** One `serve` process for 200 companies: a start without mirrors and their first runs, and a start with mirrors. */
export async function benchCompanies(): Promise<BenchResult[]> {
  const many = await openManyCompanies(count, 10);
  const serve = async (label: string, until: string) => {
    const startedMs = performance.now();
    const daemon = await startProbed(many.folder, many.port, mostMs);
    await askPage(many.port, "/healthz");
    const firstMs = performance.now() - startedMs;
    const looks: ProbeAnswer[] = [];
    const pages: number[] = [];
    // Starting is no stall: nothing listens yet.
    await askProbe(daemon.child, { collect: false });
    const isOver = () => daemon.stderr().split(until).length > count;
    while (!isOver() && performance.now() - startedMs < mostMs / 3) {
      await pause(2_000);
      looks.push(await askProbe(daemon.child, { collect: false }));
      for (const page of ["/metrics", "/readyz"]) pages.push((await askPage(many.port, page)).tookMs);
    }
    const { peakBytes, descriptors } = processFacts(daemon.child.pid ?? 0);
    const tookMs = performance.now() - startedMs;
    await endServe(daemon, "SIGTERM");
    const busiest = longestBy(
      "cpuMs",
      looks.map((one) => one.busiest),
    );
    const longest = longestBy(
      "wallMs",
      looks.map((one) => one.longest),
    );
    const all = `${(tookMs / 1_000).toFixed(0)} s until all ${label}`;
    const results: [string, number, number, string][] = [
      ["first /healthz", firstMs, aims.firstAnswerMs, `${firstMs.toFixed(0)} ms, ${all}`],
      ["memory", peakBytes, aims.memoryBytes, `${formatSize(peakBytes)}, ${descriptors} descriptors`],
      ["busiest stall", busiest.cpuMs, aims.stallMs, stallText(busiest)],
      ["longest stall", longest.wallMs, aims.stallMs, stallText(longest)],
      ["slowest page", Math.max(...pages), aims.pageMs, `${Math.max(...pages).toFixed(0)} ms`],
    ];
    return results.map(([name, value, aim, detail]) => ({
      name: `${count} companies, ${label}: ${name} against ${aim === aims.memoryBytes ? formatSize(aim) : `${aim} ms`}`,
      ratio: value / aim,
      aim: "at most 1",
      detail,
    }));
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
