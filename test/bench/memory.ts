import { formatSize } from "../../src/base/units.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";
import { costOf, withCompany, type ProgramCost } from "./program-cost.ts";
import type { BenchResult } from "./result.ts";

const documents = ["invoices", "credit_notes", "proformas", "orders", "quotations", "document_payments"];
const megabyte = 2 ** 20;
const requests = 6_000;
const quiet = ["sync", "--json", "-q"];

/** Peak resident memory of the real command, the service being a process of its own, against what is aimed at. */
export async function benchMemory(): Promise<BenchResult[]> {
  const usual = await withCompany(5_000, async (company) => {
    const first = await costOf(company, quiet);
    await costOf(company, quiet);
    return { first, night: await costOf(company, quiet) };
  });
  const large = await withCompany(200_000, async (company) => ({
    pages: await costOf(company, [...quiet, ...documents, "--max-requests", String(requests)]),
    answer: await costOf(company, [...quiet, "clients"]),
  }));
  return [
    result("peak memory, first run of 5,000 documents", usual.first, 130),
    result("peak memory, an unchanged night of 5,000 documents", usual.night, 90),
    result(
      `peak memory, all pages of 200,000 documents and the details of ${requests} requests`,
      large.pages,
      512,
    ),
    result("peak memory, 100,000 clients in one answer", large.answer, 512),
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
