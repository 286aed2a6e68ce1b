import type { CompanyRow } from "../../../src/fleet/postgres/tables/companies-table.ts";
import { sqlBy, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { fleetCompanies } from "../../support/fleet/companies.ts";
import type { BenchResult } from "../result.ts";

/** As `fleet add` stores it. */
function rowOf(i: number): CompanyRow {
  const name = `company_${i}`;
  const [secret, token] = ["SECRET", "TOKEN"].map((what) => `\${env:COMPANY_${i}_${what}}`);
  const webhook = { secrets: [secret], public_url: `https://hooks.example.com/webhooks/${name}` };
  const config = { base_url: "https://app.example.com", companies: { [name]: { token, webhook } } };
  return { name, config, account: null, addedAtMs: 0, changedAtMs: 0, lastSeq: 0, removed: false, tags: [] };
}

/** A Postgres that holds so many companies and nothing else. */
function withCompanies(count: number): Postgres {
  const answer = (text: string): unknown[] =>
    text.includes("companies") ? Array.from({ length: count }, (_, i) => rowOf(i)) : [{ asOfMs: 1 }];
  return {
    // The rows are those that the statement asks for.
    ...sqlBy(<Row>(text: string) => Promise.resolve(answer(text) as Row[])),
    transaction: () => Promise.reject(new Error("nothing is stored")),
    close: () => Promise.resolve(),
  };
}

async function heapBytes(): Promise<number> {
  // What a turn of the event loop still holds is released after it.
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

/** What so many companies cost a receiver: once they are known, and once each has received a delivery. */
async function measure(count: number): Promise<{ readonly known: number; readonly received: number }> {
  const env = Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`COMPANY_${i}_SECRET`, `whsec_of_company_${i}_0123456789`]),
  );
  const postgres = withCompanies(count);
  const before = await heapBytes();
  const companies = fleetCompanies({ postgres, secrets: { env, folder: "/", readFile: () => "" } });
  await companies.refresh();
  const known = (await heapBytes()) - before;
  for (let i = 0; i < count; i++) {
    const ingest = companies.find(`company_${i}`);
    if (ingest === null || ingest === "unavailable" || ingest.keyring.accepted().length !== 1)
      throw new Error("a company is not received");
  }
  const received = (await heapBytes()) - before;
  // They are in use until here.
  if (companies.count !== count) throw new Error("a company is not known");
  return { known, received };
}

/** Memory of a receiver by the number of companies: the difference between few and many. */
export async function benchFleetMemory(): Promise<BenchResult[]> {
  if (!globalThis.gc) throw new Error("start it with --expose-gc");
  await measure(100);
  const [few, many] = [await measure(1_000), await measure(6_000)];
  const kbEach = (what: keyof typeof few) => (many[what] - few[what]) / 5_000_000;
  return [ofA("it knows", kbEach("known"), 1), ofA("that has received", kbEach("received"), 4)];
}

function ofA(company: string, ratio: number, most: number): BenchResult {
  return { name: `kB of a receiver for a company ${company}`, ratio, aim: `at most ${most}`, detail: "" };
}
