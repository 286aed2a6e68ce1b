import { startSandbox } from "../../support/sandbox/control.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { JobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { until, type FleetBed } from "./fleet-bed.ts";

export type HeldCompanies = Awaited<ReturnType<typeof openHeldCompanies>>;

const firstRunsMs = 300_000;
const claimMs = 30_000;

/** Companies with a mirror. One that is taken again has nothing to do, and is held for 90 s. */
export async function openHeldCompanies(resources: AsyncDisposableStack, fleet: FleetBed, count: number) {
  const starting = startSandbox({ companies: count, records: 10, limit: 1_000_000, retryScale: 0.001 });
  const sandbox = resources.adopt(await starting, (one) => one.close());
  const tokens = sandbox.companies.map(({ token }, i) => [`TOKEN_${i}`, token] as const);
  const env = Object.fromEntries(tokens);
  const heldNow = () => countWhere(fleet.postgres, "o.node IS NOT NULL");
  /** Puts them into the fleet, and resolves when all have made their first run. */
  const make = async () => {
    const companies = tokens.map(
      ([name], i) => `  held-${i}: { token: "\${env:${name}}", webhook: { secrets: ["\${env:SECRET}"] } }`,
    );
    // Nothing is made of what they read: that would be work.
    const head = [`base_url: ${sandbox.url}`, 'schedule: { sync: "15 3 * * *", publish: off }'];
    await fleet.add("held", [...head, "companies:", ...companies], env);
    const whole = "s.facts #>> '{summary,whole_at}' IS NOT NULL";
    await until(async () => (await countWhere(fleet.postgres, whole)) === count, firstRunsMs);
  };
  /** Has a worker take all of them at once, and resolves when it has. */
  const hold = async () => {
    const engine = await JobEngine.start(fleet.postgres, silentLog, false);
    await engine.send(
      "run",
      [...tokens.keys()].map((i) => `held-${i}`),
    );
    await engine.stop();
    await until(async () => (await heldNow()) === count, claimMs);
  };
  return { count, make, hold, heldNow, env };
}

async function countWhere(postgres: Postgres, condition: string): Promise<number> {
  const [row] = await postgres.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM fintoro_mirror.owners o LEFT JOIN fintoro_mirror.snapshots s USING (company)
     WHERE company LIKE 'held-%' AND (${condition})`,
  );
  return row?.count ?? 0;
}
