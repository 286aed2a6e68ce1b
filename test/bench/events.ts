import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { startSandbox, type Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createGovernor } from "../../src/govern/create-governor.ts";
import { createMemoryStore } from "../../src/govern/store.ts";
import { createHttp } from "../../src/http/create-http.ts";
import { openMirror, type Mirror } from "../../src/store/mirror.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { runSync } from "../../src/sync/run.ts";
import { Tally } from "../../src/sync/tally.ts";
import { startTender } from "../../src/sync/tend.ts";
import { listen } from "../../src/webhook/listen.ts";
import { createMailbox } from "../../src/webhook/mailbox.ts";
import { createReceiver } from "../../src/webhook/receiver.ts";
import { Queue } from "../../src/work/queue.ts";
import type { BenchResult } from "./result.ts";

const events = 300;
const everyMs = 200;
const latencyMs = 30;
const secret = "whsec_of_the_bench_0123456789abcdef";
const aimMs = 500;

/**
 * From a change in the service to the row in the mirror: its webhook over HTTP, inbox, queue, the read and its
 * commit on disk. Service and mirror share this process, so that what the sandbox takes is counted, too.
 */
export async function benchEvents(): Promise<BenchResult[]> {
  return [await measure("alone", false), await measure("with full runs beside", true)];
}

async function measure(name: string, beside: boolean): Promise<BenchResult> {
  const folder = mkdtempSync(path.join(tmpdir(), "fintoro-mirror-events-"));
  const station = await openStation(path.join(folder, "acme.db"));
  try {
    await station.run(false);
    const over = new AbortController();
    const runs = beside ? runOnAndOn(station, over.signal) : Promise.resolve(0);
    const took = await changeAndWatch(station);
    over.abort();
    const count = await runs;
    const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)];
    const detail = `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${took.length} events, ${count} runs beside`;
    return {
      name: `event to row, ${name}: p99 against ${aimMs} ms`,
      ratio: p99 / aimMs,
      aim: "at most 1",
      detail,
    };
  } finally {
    await station.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Station {
  readonly sandbox: Sandbox;
  readonly mirror: Mirror;
  run(full: boolean): Promise<unknown>;
  close(): Promise<void>;
}

const quiet = () => undefined;

/** As the daemon puts it together. */
async function openStation(file: string): Promise<Station> {
  const mirror = await openMirror(file, manifest);
  const queue = new Queue(mirror.db);
  const [clock, random, log, resources] = [systemClock, systemRandom, silentLog, manifest.resources];
  const selected = new Set(resources.map((resource) => resource.name));
  const mailbox = createMailbox({ mirror, queue, selected, secrets: () => [secret], clock });
  const receiver = createReceiver({ mailbox: () => mailbox, clock, log, onResult: quiet, onStored: quiet });
  const listener = await listen({ host: "127.0.0.1", port: 0, receiver, pages: {}, log });
  const url = `http://127.0.0.1:${listener.port}/webhooks/acme`;
  const sandbox = await startSandbox({
    records: 1_000,
    limit: 1_000_000,
    latencyMs,
    webhooks: [{ url, secret }],
  });
  const governor = createGovernor({ store: createMemoryStore(), clock, reserveShare: 0.1, eventShare: 0.1 });
  const { token, url: baseUrl } = sandbox;
  const http = { baseUrl, token, language: "en", userAgent: "bench", governor, clock, random, log };
  const transport = createHttp(http);
  const parts = { mirror, queue, transport, clock, random, log, token };
  const end = new AbortController();
  const tender = startTender(parts, { resources, concurrency: 4, signal: end.signal });
  return {
    sandbox,
    mirror,
    run: (full) =>
      runSync({ ...parts, ...runParts() }, { ...runOptions, resources, full, signal: end.signal }),
    close: async () => {
      end.abort();
      await tender.ended;
      await listener.close(0);
      await transport.close();
      await sandbox.close();
      mirror.close();
    },
  };
}

const runParts = () => ({
  tally: new Tally(),
  rateLimited: () => 0,
  notices: { newColumns: [], missingFields: new Set<string>() },
});

const runOptions = {
  allowMassDelete: false,
  acceptIdentity: false,
  parentsPerRun: null,
  scrubAllowance: 0,
  concurrency: 6,
  lanes: "others",
} as const;

async function runOnAndOn(station: Station, over: AbortSignal): Promise<number> {
  let count = 0;
  for (; !over.aborted && count < 1_000; count++) await station.run(true);
  return count;
}

/** Changes a client every so often, and looks from a connection of its own when its row shows it. */
async function changeAndWatch({ sandbox, mirror }: Station): Promise<number[]> {
  const db = openDatabase(mirror.db.name, { readonly: true });
  const nameOf = db.prepare("SELECT name FROM clients WHERE id = ?").pluck();
  const ids = [...(sandbox.control.snapshot().get("clients")?.keys() ?? [])];
  const took: number[] = [];
  const watch = async (id: number, name: string): Promise<void> => {
    const startMs = performance.now();
    while (nameOf.get(id) !== name && performance.now() - startMs < 30_000) await pause(2);
    took.push(performance.now() - startMs);
  };
  const watched: Promise<void>[] = [];
  for (let i = 0; i < events; i++) {
    const id = ids[i % ids.length] ?? 0;
    const name = `Klient po zmene ${i}`;
    sandbox.control.alter("clients", id, { name }, { event: true });
    watched.push(watch(id, name));
    await pause(everyMs);
  }
  await Promise.all(watched);
  db.close();
  return took;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
