import { setTimeout as pause } from "node:timers/promises";
import { endServe, type Process } from "../../support/serve-process.ts";
import type { BenchResult } from "../result.ts";
import { openIdleFleet, type IdleFleet } from "./idle-fleet.ts";
import { processorSeconds, treeProcessorSeconds } from "./process-cost.ts";
import { countStatements, resetCounts, type StatementCount } from "./statement-count.ts";

const companies = 5_000;
const restMs = 15_000;
const measuredMs = 120_000;

/** What workers without work cost. */
interface IdleCost {
  readonly workers: number;
  readonly seconds: number;
  readonly statements: readonly StatementCount[];
  /** Shares of one core. */
  readonly postgresCpu: number;
  readonly workerCpu: readonly number[];
}

/** A fleet whose companies are all released: `fleet add`, and one and three workers that wait. */
export async function benchIdleFleet(): Promise<BenchResult[]> {
  const fleet = await openIdleFleet(companies);
  const workers: Process[] = [];
  const results: BenchResult[] = [];
  try {
    console.log(`\nfleet add of ${companies}: ${(fleet.addMs / 1_000).toFixed(1)} s`);
    console.log(await sizesText(fleet));
    for (const count of [1, 3]) {
      while (workers.length < count) workers.push(fleet.startWorker(`worker-${workers.length + 1}`));
      await pause(restMs);
      const cost = await measure(fleet, workers);
      console.log(costText(cost));
      results.push(bound(cost));
    }
    await assertIdle(fleet, workers);
    return results;
  } finally {
    for (const worker of workers) await endServe(worker, "SIGKILL");
    await fleet.close();
  }
}

async function measure(fleet: IdleFleet, workers: readonly Process[]): Promise<IdleCost> {
  const { postgres, server } = fleet;
  const used = () => ({
    postgres: treeProcessorSeconds(server.pid),
    workers: workers.map(({ child }) => processorSeconds(child.pid ?? 0)),
  });
  await resetCounts(postgres);
  const [before, startedMs] = [used(), performance.now()];
  await pause(measuredMs);
  const [after, seconds] = [used(), (performance.now() - startedMs) / 1_000];
  return {
    workers: workers.length,
    seconds,
    statements: await countStatements(postgres),
    postgresCpu: (after.postgres - before.postgres) / seconds,
    workerCpu: after.workers.map((all, i) => (all - (before.workers[i] ?? 0)) / seconds),
  };
}

/** Counts, not times: a company without work costs at most one statement a minute, whatever the nodes themselves cost. */
function bound({ workers, statements, seconds }: IdleCost): BenchResult {
  const calls = statements.reduce((sum, one) => sum + one.calls, 0);
  const perMinute = (calls / seconds) * 60;
  return {
    name: `${companies} idle companies, ${workers} workers: statements a minute for each company`,
    ratio: perMinute / companies,
    aim: "at most 1",
    detail: `${(calls / seconds).toFixed(1)} a second in all`,
  };
}

/** Nothing was claimed: what was measured is a fleet without work. */
async function assertIdle({ postgres }: IdleFleet, workers: readonly Process[]): Promise<void> {
  const [row] = await postgres.query<{ claims: number }>(
    "SELECT count(*)::int AS claims FROM fintoro_mirror.owners WHERE node IS NOT NULL OR epoch <> 3",
  );
  const ended = workers.filter(({ child }) => child.exitCode !== null);
  if (row?.claims !== 0 || ended.length > 0)
    throw new Error(
      `${row?.claims} companies were claimed, ${ended.length} workers ended: ${ended[0]?.stderr()}`,
    );
}

function costText({ workers, seconds, statements, postgresCpu, workerCpu }: IdleCost): string {
  const frequent = statements.slice(0, 12).map(({ text, calls, totalMs }) => {
    const mean = `${(totalMs / calls).toFixed(2)} ms`;
    return `  ${(calls / seconds).toFixed(2).padStart(6)}/s  ${mean.padStart(10)}  ${text}`;
  });
  const cpu = `Postgres ${percent(postgresCpu)} of a core, workers ${workerCpu.map(percent).join(", ")}`;
  return [`\n${workers} workers, ${seconds.toFixed(0)} s: ${cpu}`, ...frequent].join("\n");
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** What Postgres keeps for each company, by table. */
async function sizesText({ postgres }: IdleFleet): Promise<string> {
  const rows = await postgres.query<{ name: string; bytes: number }>(`
    SELECT c.relname AS name, pg_total_relation_size(c.oid)::float8 AS bytes
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('fintoro_mirror', 'pgboss') AND c.relkind = 'r' AND pg_total_relation_size(c.oid) > 100000
    ORDER BY 2 DESC`);
  return rows
    .map(({ name, bytes }) => `  ${(bytes / companies).toFixed(0).padStart(7)} B  ${name}`)
    .join("\n");
}
