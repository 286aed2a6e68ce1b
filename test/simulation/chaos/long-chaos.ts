import { startPostgres } from "../../support/postgres/server.ts";
import { chaos, type ChaosResult } from "./chaos.ts";
import { planOf } from "./chaos-plan.ts";
import type { NodeOptions } from "./worker-node.ts";

/** What the command line chooses. */
interface LongChaosOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly companies: number;
  readonly roles: readonly NodeOptions["role"][];
}

/** As the service counts. Two cores carry 300 companies at this pace, with everything that watches them. */
const budget = { limit: 120, windowMs: 60_000 };
const config = ["resources: { include: [clients, invoices, orders] }", 'schedule: { sync: "*/10 * * * *" }'];
const pace = { changeEveryMs: 30_000, snapshotEvery: "60s", retryScale: 0.02, longestRestMs: 10 * 60_000 };
const records = 10;

/** The long form of the chaos, with the disturbances of a seed, on a Postgres that waits for its disk. Says how it goes. */
export async function longChaos({
  seed,
  durationMs,
  companies,
  roles,
}: LongChaosOptions): Promise<ChaosResult> {
  const workers = roles.filter((role) => role !== "receive").length;
  const atOnce = Math.max(1, workers - 2);
  const disturbances = planOf({ seed, durationMs, nodes: roles.length, atOnce });
  // Those that are left alone can hold all companies.
  const capacity = Math.ceil(companies / Math.max(1, workers - atOnce));
  const fleet = { companies, records, roles, capacity, budget, config };
  const server = await startPostgres({ durable: true });
  try {
    return await chaos({ seed, ...fleet, disturbances, durationMs, ...pace, onLine }, server);
  } finally {
    await server.end();
  }
}

function onLine(line: string): void {
  process.stderr.write(`${line}\n`);
}
