import { formatSize } from "../../src/base/units.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";
import { costOf, withCompany, type ProgramCost } from "./program-cost.ts";
import type { BenchResult } from "./result.ts";

const megabyte = 2 ** 20;
const quiet = ["sync", "--json", "-q"];

/** Peak resident memory of the real command, the service being a process of its own, against what is aimed at. */
export async function benchMemory(): Promise<BenchResult[]> {
  const usual = await withCompany(5_000, async (company) => {
    const first = await costOf(company, quiet);
    await costOf(company, quiet);
    return { first, night: await costOf(company, quiet) };
  });
  return [
    result("peak memory, first run of 5,000 documents", usual.first, 130),
    result("peak memory, an unchanged night of 5,000 documents", usual.night, 90),
  ];
}

function result(name: string, { peakBytes, cpuMs, stdout }: ProgramCost, mostMegabytes: number): BenchResult {
  const { companies } = JSON.parse(stdout) as { companies: { acme: CompanyReport } };
  const { resources, requests: sent, outcome } = companies.acme;
  const listed = Object.values(resources).reduce((sum, counts) => sum + counts.listed, 0);
  return {
    name,
    ratio: peakBytes / megabyte / mostMegabytes,
    aim: "at most 1",
    detail: `${formatSize(peakBytes)}, ${(cpuMs / 1000).toFixed(2)} s of processor time; ${listed} records listed in ${sent.total} requests, ${outcome}`,
  };
}
