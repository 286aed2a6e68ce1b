import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startSandbox } from "../../support/sandbox/control.ts";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { processFacts } from "../../support/company/many-companies.ts";
import { startPostgres } from "../../support/postgres/server.ts";
import { endServe, startProgram, type Process } from "../../support/program/serve-process.ts";
import { markdownTable, type BenchResult } from "../result.ts";
import { startCountingStore, type StoreCounts } from "./counting-store.ts";
import { processorSeconds, treeProcessorSeconds } from "./process-cost.ts";
import { countingSettings, countStatements, resetCounts } from "./statement-count.ts";

const count = 4;
const documents = 700;
const mostMs = 8 * 60_000;
const pollMs = 200;
const restMs = 30_000;
/** For what follows the last run. */
const afterRunMs = 20_000;

/** What one step of all companies cost, each. */
interface StepCost {
  readonly name: string;
  readonly requests: number;
  readonly workerSeconds: number;
  readonly postgresSeconds: number;
  readonly statements: number;
  readonly store: StoreCounts;
  readonly memoryBytes: number;
  /** Of a process that makes report and files. */
  readonly childBytes: number;
}

/**
 * What a company of 700 documents costs a fleet: its first run, and a night in which nothing has changed and another
 * worker takes it. The service has no limit, so time is processor time. Takes about 5 minutes.
 */
export async function benchFleetCompany(): Promise<BenchResult[]> {
  const bed = await openBed();
  try {
    const first = await bed.step("first run", "one");
    const night = await bed.step("a night on another worker", "two");
    console.log(`\n${tableOf([first, night])}\n`);
    console.log(await bed.sizes());
    const cpu = night.workerSeconds;
    return [{ name: "CPU s of a worker for an unchanged night", ratio: cpu, aim: "at most 3", detail: "" }];
  } finally {
    await bed.close();
  }
}

async function openBed() {
  const server = await startPostgres({ durable: true, more: countingSettings });
  const folder = mkdtempSync(path.join(memoryFolder(), "fintoro-mirror-unit-"));
  const store = await startCountingStore(path.join(folder, "objects"));
  const sandbox = await startSandbox({ companies: count, records: documents, limit: 1_000_000 });
  const url = await server.createDatabase();
  const postgres = await openPostgres({ url, node: "bench", log: silentLog, maxConnections: 2 });
  const env = {
    DATABASE_URL: url,
    ...Object.fromEntries(sandbox.companies.map(({ token }, i) => [`TOKEN_${i}`, token])),
    AWS_ACCESS_KEY_ID: "S3RVER",
    AWS_SECRET_ACCESS_KEY: "S3RVER",
    AWS_ENDPOINT_URL: store.url,
  };
  const start = (args: readonly string[], cwd: string) => startProgram(args, { folder: cwd, mostMs, env });
  const fleet =
    'postgres: "${env:DATABASE_URL}", snapshots: "s3://fleet/mirrors", reports: "s3://fleet/reports"';
  /** What a worker without companies costs Postgres in a second. */
  const costOfWaiting = async () => {
    const worker = startWorker("waiting");
    try {
      await pause(restMs / 2);
      await resetCounts(postgres);
      const usedBefore = treeProcessorSeconds(server.pid);
      await pause(restMs);
      const used = treeProcessorSeconds(server.pid) - usedBefore;
      return { statements: (await countAll(postgres)) / (restMs / 1_000), cpu: used / (restMs / 1_000) };
    } finally {
      await endServe(worker, "SIGTERM");
    }
  };
  const configIn = (name: string, ...more: readonly string[]) => {
    const own = path.join(folder, name);
    mkdirSync(own);
    const lines = [`fleet: { ${fleet}, node: ${name} }`, ...more, ""];
    writeFileSync(path.join(own, "config.yaml"), lines.join("\n"), { mode: 0o600 });
    return own;
  };
  const startWorker = (node: string) =>
    start(["worker", "--role", "work", "--listen", "127.0.0.1:0"], configIn(node));
  const companies = sandbox.companies.map((_, i) => `  unit-${i}: { token: "\${env:TOKEN_${i}}" }`);
  const schedule = 'schedule: { sync: "*/2 * * * *" }';
  const all = configIn("all", `base_url: ${sandbox.url}`, schedule, "companies:", ...companies);
  await migrateFleet(postgres);
  const waiting = await costOfWaiting();
  const { code } = await start(["fleet", "add", "--all", "-q"], all).ended;
  if (code !== 0) throw new Error("fleet add failed");
  const step = async (name: string, node: string): Promise<StepCost> => {
    const since = await nowOf(postgres);
    const requestsBefore = await requestsOf(postgres);
    store.reset();
    await resetCounts(postgres);
    const [usedBefore, startedMs] = [treeProcessorSeconds(server.pid), performance.now()];
    const worker = startWorker(node);
    try {
      const peak = await untilPublished(postgres, since, worker);
      const seconds = (performance.now() - startedMs) / 1_000;
      const postgresSeconds = treeProcessorSeconds(server.pid) - usedBefore - seconds * waiting.cpu;
      const workerSeconds = processorSeconds(worker.child.pid ?? 0);
      const statements = (await countAll(postgres)) - seconds * waiting.statements;
      const cost = { name, ...peak, postgresSeconds, workerSeconds, statements, store: store.counts() };
      return each({ ...cost, requests: (await requestsOf(postgres)) - requestsBefore });
    } finally {
      await endServe(worker, "SIGTERM");
    }
  };
  const close = async () => {
    await postgres.close();
    await server.end();
    await store.close();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { step, sizes: () => sizesOf(postgres), close };
}

async function countAll(postgres: Postgres): Promise<number> {
  return (await countStatements(postgres)).reduce((sum, { calls }) => sum + calls, 0);
}

async function nowOf(postgres: Postgres): Promise<number> {
  const [row] = await postgres.query<{ at: number }>("SELECT extract(epoch FROM now())::float8 AS at");
  return row?.at ?? 0;
}

/** Every company has made a run that began after `since`, and there was time for reports. Gives the most memory seen. */
async function untilPublished(postgres: Postgres, since: number, worker: Process) {
  const peak = { memoryBytes: 0, childBytes: 0 };
  let isOver = false;
  void worker.ended.then(() => (isOver = true));
  let doneMs: number | null = null;
  for (const endMs = performance.now() + mostMs; ; await pause(pollMs)) {
    if (isOver || performance.now() > endMs) throw new Error(`no reports: ${worker.stderr().slice(-2_000)}`);
    const pid = worker.child.pid ?? 0;
    peak.memoryBytes = Math.max(peak.memoryBytes, processFacts(pid).rssBytes);
    for (const own of childrenOf(pid)) peak.childBytes = Math.max(peak.childBytes, own);
    const [row] = await postgres.query<{ done: number }>(
      `SELECT count(*)::int AS done FROM fintoro_mirror.snapshots JOIN fintoro_mirror.reports USING (company)
       WHERE (facts #>> '{summary,whole_at}')::timestamptz > to_timestamp($1)`,
      [since],
    );
    if (row?.done === count) doneMs ??= performance.now();
    if (doneMs !== null && performance.now() > doneMs + afterRunMs) return peak;
  }
}

/** Memory of each child process now. */
function childrenOf(pid: number): number[] {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").map(Number);
    return pids
      .filter((one) => one > 0)
      .map((one) => processFacts(one).rssBytes)
      .filter(Number.isFinite);
  } catch {
    return [];
  }
}

/** Of runs, ever: the bench is shorter than the day that is counted. */
async function requestsOf(postgres: Postgres): Promise<number> {
  const [row] = await postgres.query<{ sum: number }>(
    "SELECT coalesce(sum((facts #>> '{summary,day_requests}')::int), 0)::int AS sum FROM fintoro_mirror.snapshots",
  );
  return row?.sum ?? 0;
}

function each(cost: StepCost): StepCost {
  const { requests, sentBytes, receivedBytes } = cost.store;
  const shares = Object.entries(requests).map(([kind, all]) => [kind, all / count] as const);
  return {
    ...cost,
    requests: cost.requests / count,
    workerSeconds: cost.workerSeconds / count,
    postgresSeconds: cost.postgresSeconds / count,
    statements: cost.statements / count,
    store: {
      requests: Object.fromEntries(shares),
      sentBytes: sentBytes / count,
      receivedBytes: receivedBytes / count,
    },
  };
}

function tableOf(costs: readonly StepCost[]): string {
  const ofStore = (kind: string) => (cost: StepCost) => (cost.store.requests[kind] ?? 0).toFixed(1);
  const rows: (readonly [string, (cost: StepCost) => string])[] = [
    ["requests of runs to the service", ({ requests }) => requests.toFixed(0)],
    ["worker and its children, CPU s", ({ workerSeconds }) => workerSeconds.toFixed(2)],
    [
      "Postgres, CPU s besides what a waiting worker costs",
      ({ postgresSeconds }) => postgresSeconds.toFixed(3),
    ],
    ["statements besides those of a waiting worker", ({ statements }) => statements.toFixed(0)],
    ...["PUT", "GET", "LIST", "DELETE", "POST"].map((kind) => [`store: ${kind}`, ofStore(kind)] as const),
    ["store: kB sent", ({ store }) => (store.sentBytes / 1_000).toFixed(0)],
    ["store: kB received", ({ store }) => (store.receivedBytes / 1_000).toFixed(0)],
    ["worker, MB of all at most", ({ memoryBytes }) => (memoryBytes / 1e6).toFixed(0)],
    ["a child, MB at most", ({ childBytes }) => (childBytes / 1e6).toFixed(0)],
  ];
  const head = ["for each company", ...costs.map(({ name }) => name)];
  const lines = rows.map(([what, cell]) => [what, ...costs.map(cell)]);
  return markdownTable(head, lines);
}

async function sizesOf(postgres: Postgres): Promise<string> {
  const [row] = await postgres.query<{
    snapshot: number;
    reports: number;
    files: number;
    row: number;
    changes: number;
  }>(
    `SELECT avg(size_bytes)::float8 AS snapshot,
       (SELECT avg((SELECT sum((value ->> 'bytes')::float8) FROM jsonb_array_elements(files)))::float8 FROM fintoro_mirror.reports) AS reports,
       (SELECT avg((SELECT count(*) FROM jsonb_array_elements(files)))::float8 FROM fintoro_mirror.reports) AS files,
       (SELECT avg(pg_column_size(files))::float8 FROM fintoro_mirror.reports) AS row,
       (SELECT count(*)::float8 / ${count} FROM fintoro_mirror.changes) AS changes
     FROM fintoro_mirror.snapshots`,
  );
  const { snapshot = 0, reports = 0, files = 0, row: rowBytes = 0, changes = 0 } = row ?? {};
  return `snapshot ${(snapshot / 1_000).toFixed(0)} kB; reports ${(reports / 1_000).toFixed(0)} kB in ${files.toFixed(0)} files, their row ${rowBytes.toFixed(0)} B; ${changes.toFixed(0)} changes`;
}
