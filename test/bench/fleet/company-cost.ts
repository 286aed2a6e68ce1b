import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { startSandbox } from "../../support/sandbox/control.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { memoryScratch } from "../../support/memory-folder.ts";
import { processFacts } from "../../support/company/many-companies.ts";
import { endServe, type Process } from "../../support/program/serve-process.ts";
import { tableOf, type BenchResult } from "../result.ts";
import { openFleetBed, until } from "./fleet-bed.ts";
import { processorSeconds } from "./process-cost.ts";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { closeAll, listen } from "../../support/http/loopback.ts";
import { s3Env, startS3 } from "../../support/export/s3-server.ts";

const count = 4;
const documents = 700;
const mostMs = 8 * 60_000;
const restMs = 30_000;
/** For what follows the last run. */
const afterRunMs = 20_000;

const objectStore = 'snapshots: "s3://fleet/mirrors", reports: "s3://fleet/reports"';

/** What one step of all companies cost, each. */
interface StepCost {
  readonly name: string;
  readonly requests: number;
  readonly workerSeconds: number;
  readonly postgresSeconds: number;
  readonly statements: number;
  /** Requests of this kind. */
  readonly ofStore: (kind: string) => number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly memoryBytes: number;
  /** Of a process that makes report and files. */
  readonly childBytes: number;
}

/**
 * What a company of 700 documents costs a fleet: its first run, and a night in which nothing has changed and another
 * worker takes it. The service has no limit, so time is processor time. Takes about 5 minutes.
 */
export async function benchFleetCompany(): Promise<BenchResult[]> {
  await using resources = new AsyncDisposableStack();
  const bed = await openBed(resources);
  const first = await bed.step("first run", "one");
  const night = await bed.step("a night on another worker", "two");
  console.log(`\n${costsText([first, night])}\n`);
  console.log(await bed.sizes());
  const cpu = night.workerSeconds;
  return [{ name: "CPU s of a worker for an unchanged night", ratio: cpu, aim: "at most 3", detail: "" }];
}

async function openBed(resources: AsyncDisposableStack) {
  const objects = resources.use(memoryScratch()).path;
  const store = resources.adopt(await startCountingStore(objects), (one) => one.close());
  const starting = startSandbox({ companies: count, records: documents, limit: 1_000_000 });
  const sandbox = resources.adopt(await starting, (one) => one.close());
  const env = {
    ...Object.fromEntries(sandbox.companies.map(({ token }, i) => [`TOKEN_${i}`, token])),
    ...s3Env(store.url),
  };
  const { postgres, add, startWorker, costOf } = await openFleetBed(resources, () => objectStore, env);
  /** What a worker without companies costs Postgres in a second. */
  const costOfWaiting = async () => {
    const worker = startWorker("waiting");
    await pause(restMs / 2);
    const { seconds, statements, cpuSeconds } = await costOf(() => pause(restMs));
    await endServe(worker, "SIGTERM");
    return { statements: statements / seconds, cpu: cpuSeconds / seconds };
  };
  const waiting = await costOfWaiting();
  const companies = sandbox.companies.map((_, i) => `  unit-${i}: { token: "\${env:TOKEN_${i}}" }`);
  const schedule = 'schedule: { sync: "*/2 * * * *" }';
  await add("all", [`base_url: ${sandbox.url}`, schedule, "companies:", ...companies]);
  const step = async (name: string, node: string): Promise<StepCost> => {
    const since = Date.now() / 1_000;
    const requestsBefore = await requestsOf(postgres);
    store.reset();
    const worker = startWorker(node);
    const peak = { memoryBytes: 0, childBytes: 0 };
    const used = await costOf(() => untilPublished(postgres, since, worker, peak));
    const usedSeconds = used.cpuSeconds - used.seconds * waiting.cpu;
    const { requests: stored, sentBytes, receivedBytes } = store.counts();
    const statements = used.statements - used.seconds * waiting.statements;
    const cost = {
      ...peak,
      name,
      requests: ((await requestsOf(postgres)) - requestsBefore) / count,
      workerSeconds: processorSeconds(worker.child.pid ?? 0) / count,
      postgresSeconds: usedSeconds / count,
      statements: statements / count,
      ofStore: (kind: string) => (stored.get(kind) ?? 0) / count,
      sentBytes: sentBytes / count,
      receivedBytes: receivedBytes / count,
    };
    await endServe(worker, "SIGTERM");
    return cost;
  };
  return { step, sizes: () => sizesOf(postgres) };
}

/** Every company has made a run that began after `since`, and there was time for reports. Notes the most memory seen. */
async function untilPublished(
  postgres: Postgres,
  since: number,
  worker: Process,
  peak: { memoryBytes: number; childBytes: number },
): Promise<void> {
  const pid = worker.child.pid ?? 0;
  let doneMs = Infinity;
  const isOver = async () => {
    peak.memoryBytes = Math.max(peak.memoryBytes, processFacts(pid).rssBytes);
    peak.childBytes = Math.max(peak.childBytes, ...childrenOf(pid));
    const [row] = await postgres.query<{ done: number }>(
      `SELECT count(*)::int AS done FROM fintoro_mirror.snapshots JOIN fintoro_mirror.reports USING (company)
       WHERE (facts #>> '{summary,whole_at}')::timestamptz > to_timestamp($1)`,
      [since],
    );
    if (row?.done === count) doneMs = Math.min(doneMs, performance.now());
    return performance.now() > doneMs + afterRunMs;
  };
  await until(isOver, mostMs, worker);
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

function costsText(costs: readonly StepCost[]): string {
  return tableOf("for each company", costs, [
    ["requests of runs to the service", ({ requests }) => requests.toFixed(0)],
    ["worker and its children, CPU s", ({ workerSeconds }) => workerSeconds.toFixed(2)],
    [
      "Postgres, CPU s besides what a waiting worker costs",
      ({ postgresSeconds }) => postgresSeconds.toFixed(3),
    ],
    ["statements besides those of a waiting worker", ({ statements }) => statements.toFixed(0)],
    ...["PUT", "GET", "LIST", "DELETE", "POST"].map(
      (kind) => [`store: ${kind}`, ({ ofStore }: StepCost) => ofStore(kind).toFixed(1)] as const,
    ),
    ["store: kB sent", ({ sentBytes }) => (sentBytes / 1_000).toFixed(0)],
    ["store: kB received", ({ receivedBytes }) => (receivedBytes / 1_000).toFixed(0)],
    ["worker, MB of all at most", ({ memoryBytes }) => (memoryBytes / 1e6).toFixed(0)],
    ["a child, MB at most", ({ childBytes }) => (childBytes / 1e6).toFixed(0)],
  ]);
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

/** Requests to an object store since the last reset by method, a list as `LIST`; bytes of bodies, without headers. */
const noCounts = () => ({ requests: new Map<string, number>(), sentBytes: 0, receivedBytes: 0 });

/**
 * A real S3 server with the bucket `fleet`, behind a proxy that counts. Signatures name the proxy's address: the server
 * behind it sees the header as it was sent.
 */
async function startCountingStore(folder: string) {
  const behind = await startS3(folder, "fleet");
  const { port } = new URL(behind.url);
  let counts = noCounts();
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    const kind = incoming.url?.includes("list-type=2") ? "LIST" : (incoming.method ?? "");
    counts.requests.set(kind, (counts.requests.get(kind) ?? 0) + 1);
    incoming.on("data", ({ length }: Buffer) => (counts.sentBytes += length));
    const { method, url, headers } = incoming;
    const outgoing = request({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
      answer.on("data", ({ length }: Buffer) => (counts.receivedBytes += length));
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    counts: () => counts,
    reset: () => void (counts = noCounts()),
    close: async () => {
      await closeAll(server);
      await behind.close();
    },
  };
}
