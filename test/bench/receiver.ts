import { fork, type ChildProcess } from "node:child_process";
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { systemClock } from "../../src/base/clock.ts";
import { Redactor } from "../../src/base/secret.ts";
import { createLogger } from "../../src/log/log.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { CompanyIngest } from "../../src/webhook/ingest/ingest.ts";
import { startServer } from "../../src/server/server.ts";
import type { Companies } from "../../src/webhook/receiver.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { closeAll, listen } from "../support/http/loopback.ts";
import { requests, secret, type LoadOrder, type LoadResult } from "./receiver-load.ts";
import { atMost, benchFolder, inTurns, median, medianRatio, timed, type BenchResult } from "./result.ts";

const rounds = 7;
const connections = 32;

/** node:http that reads the body, verifies the signature and stores nothing: as quick as it gets. */
async function bareSide() {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const expected = createHmac("sha256", secret).update(Buffer.concat(chunks)).digest();
      const given = Buffer.from(String(request.headers["webhook-signature"]), "hex");
      response.statusCode = given.length === 32 && timingSafeEqual(expected, given) ? 204 : 401;
      response.end();
    });
  });
  return { port: await listen(server), close: () => closeAll(server) };
}

/** The real one: a mirror in a file, `synchronous=FULL`, and a line of the log for each event, in a file as stderr may be. */
async function realSide(folder: string) {
  const mirror = await openMirror(path.join(folder, "acme.db"), declaration);
  const lines = openSync(path.join(folder, "log"), "w");
  const redaction = new Redactor();
  redaction.add([secret]);
  const write = (text: string) => void writeSync(lines, `${text}\n`);
  const how = { format: "json", level: "info", colour: false } as const;
  const log = createLogger({ write, ...how, redaction, clock: systemClock });
  const selected = new Set(declaration.resources.map(({ name }) => name));
  const secrets = [secret];
  const queue = new WorkQueue(mirror.db);
  const keyring = { accepted: () => secrets, refresh: () => false };
  const ingest = new CompanyIngest({ mirror, queue, selected, keyring });
  const companies: Companies = {
    find: (company) => (company === "acme" ? ingest : null),
    countAnswer: () => undefined,
  };
  const clock = systemClock;
  const server = await startServer({ host: "127.0.0.1", port: 0, companies, clock, pages: {}, log });
  return {
    port: server.port,
    stored: () => Number(mirror.db.prepare("SELECT count(*) FROM _inbox").pluck().get()),
    close: async () => {
      await server.close(1_000);
      mirror.close();
      closeSync(lines);
    },
  };
}

interface Measured extends LoadResult {
  /** What a delivery costs this process, both kinds of time together. */
  readonly cpuMicros: number;
}

async function run(child: ChildProcess, order: LoadOrder): Promise<Measured> {
  const { made, cpuMs } = await timed(async () => {
    child.send(order);
    return (await once(child, "message")) as [LoadResult];
  });
  const [result] = made;
  if (result.notAccepted > 0) throw new Error(`${result.notAccepted} deliveries were not accepted`);
  return { ...result, cpuMicros: (cpuMs * 1_000) / requests };
}

/** The longest turn of this thread's event loop while 500 connections send chunks of a byte. */
async function longestStall(child: ChildProcess, port: number) {
  const longest = { cpuMs: 0, wallMs: 0 };
  let [cpu, at] = [process.threadCpuUsage(), performance.now()];
  const watching = setInterval(() => {
    const { user, system } = process.threadCpuUsage(cpu);
    longest.cpuMs = Math.max(longest.cpuMs, (user + system) / 1_000);
    longest.wallMs = Math.max(longest.wallMs, performance.now() - at);
    [cpu, at] = [process.threadCpuUsage(), performance.now()];
  }, 1);
  await run(child, { port, connections: 500, chunks: true });
  clearInterval(watching);
  return longest;
}

function summaryOf(name: string, results: readonly Measured[]): string {
  const of = (pick: (result: Measured) => number) => median(results.map(pick));
  return `${name}: ${Math.round(of((r) => r.perSecond))}/s at ${Math.round(of((r) => r.cpuMicros))} µs of CPU`;
}

/** Deliveries verified and durable against deliveries only verified; and how long forged ones hold the thread. */
export async function benchReceiver(): Promise<BenchResult[]> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(benchFolder()).path;
  const child = fork(fileURLToPath(new URL("receiver-load.ts", import.meta.url)));
  resources.defer(() => void child.kill());
  const bare = resources.adopt(await bareSide(), (one) => one.close());
  const real = resources.adopt(await realSide(folder), (one) => one.close());
  const ways = {
    bare: () => run(child, { port: bare.port, connections }),
    real: () => run(child, { port: real.port, connections }),
  };
  const results = await inTurns(rounds, ways, 1);
  const costs = (way: keyof typeof ways) => results[way].map(({ cpuMicros }) => cpuMicros);
  const expected = (rounds + 1) * requests;
  if (real.stored() !== expected) throw new Error(`${real.stored()} of ${expected} events are stored`);
  const stall = await longestStall(child, real.port);
  const detail = `${summaryOf("bare", results.bare)}; ${summaryOf("receiver", results.real)}; ${connections} connections`;
  return [
    {
      name: "deliveries stored by a second of CPU, against a bare handler that verifies",
      ratio: medianRatio(costs("bare"), costs("real")),
      aim: "at least 0.65",
      detail,
    },
    atMost(
      "500 connections with a packet of one-byte chunks: the longest stall against 200 ms of CPU",
      stall.cpuMs,
      200,
      `${stall.cpuMs.toFixed(0)} ms of CPU within ${stall.wallMs.toFixed(0)} ms`,
    ),
  ];
}
