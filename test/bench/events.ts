import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startSandbox, type Sandbox } from "../support/sandbox/control.ts";
import { openDatabase } from "../../src/store/database.ts";
import {
  endServe,
  portToKeep,
  startServe,
  writeEventsConfig,
  type Process,
} from "../support/program/serve-process.ts";
import type { BenchResult } from "./result.ts";

const latencyMs = 30;
const secret = "whsec_of_the_bench_0123456789abcdef";
const aimMs = 500;
const mostMs = 600_000;

interface Setting {
  readonly name: string;
  readonly records: number;
  readonly limit: number;
  readonly windowMs: number;
  readonly events: number;
  readonly everyMs: number;
  /** Events come while the first run reads everything; else after it. */
  readonly beside: boolean;
}

const plenty = { limit: 1_000_000, windowMs: 60_000 };
const settings: readonly Setting[] = [
  { name: "alone", records: 1_000, ...plenty, events: 300, everyMs: 100, beside: false },
  { name: "beside a first run", records: 5_000, ...plenty, events: 150, everyMs: 100, beside: true },
  // The run takes all it may, events live of their reserve: twelve a window.
  {
    name: "beside a first run that uses up the budget",
    records: 5_000,
    limit: 120,
    windowMs: 60_000,
    events: 20,
    everyMs: 6_100,
    beside: true,
  },
];

/**
 * From a change in the service to the row in the mirror: its webhook over HTTP to a `serve` process, inbox, queue,
 * the read and its commit on disk, as another process sees it.
 */
export async function benchEvents(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const setting of settings) results.push(await inPlace(setting.records, setting, measure));
  results.push(await inPlace(200, { ...plenty }, burst));
  return results;
}

interface Place {
  readonly sandbox: Sandbox;
  readonly daemon: Process;
  readonly file: string;
}

async function inPlace<T extends { readonly limit: number; readonly windowMs: number }>(
  records: number,
  setting: T,
  act: (place: Place, setting: T) => Promise<BenchResult>,
): Promise<BenchResult> {
  const folder = mkdtempSync(path.join(tmpdir(), "fintoro-mirror-events-"));
  const port = await portToKeep();
  const { limit, windowMs } = setting;
  const webhooks = [{ url: `http://127.0.0.1:${port}/webhooks/acme`, secret }];
  const sandbox = await startSandbox({ records, limit, windowMs, latencyMs, webhooks });
  const config = { folder, baseUrl: sandbox.url, token: sandbox.token, secret };
  writeEventsConfig(config, `rate_limit: { window: ${windowMs}ms }`);
  const daemon = await startServe(folder, port, mostMs);
  try {
    return await act({ sandbox, daemon, file: path.join(folder, "acme.db") }, setting);
  } finally {
    await endServe(daemon, "SIGKILL");
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const hasRun = ({ daemon }: Place) => daemon.stderr().includes("a run ended");

async function until(isSo: () => boolean): Promise<void> {
  for (const endMs = performance.now() + mostMs; !isSo(); await pause(20))
    if (performance.now() > endMs) throw new Error("it never came to be");
}

async function measure(place: Place, setting: Setting): Promise<BenchResult> {
  const { beside, events, name } = setting;
  await until(() => (beside ? count(place.file, "clients") > 0 : hasRun(place)));
  const took = await changeAndWatch(place, setting);
  const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)];
  const during = beside ? `, the run ${hasRun(place) ? "ended before them" : "went on all the time"}` : "";
  return {
    name: `event to row through serve, ${name}: p99 against ${aimMs} ms`,
    ratio: p99 / aimMs,
    aim: "at most 1",
    detail: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${events} events${during}`,
  };
}

/** Changes a client every so often, and looks from a connection of its own when its row shows it. */
async function changeAndWatch({ sandbox, file }: Place, { events, everyMs }: Setting): Promise<number[]> {
  const db = openDatabase(file, { readonly: true });
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

const burstSize = 10_000;

/** Resident memory before, at its highest, and after the deliveries were read. */
async function burst(place: Place): Promise<BenchResult> {
  const { sandbox, daemon, file } = place;
  await until(() => hasRun(place));
  const ids = [...(sandbox.control.snapshot().get("clients")?.keys() ?? [])];
  const before = residentMb(daemon);
  for (let i = 0; i < burstSize; i++)
    sandbox.control.alter("clients", ids[i % ids.length] ?? 0, { name: `Po ${i}` }, { event: true });
  let most = before;
  const startMs = performance.now();
  await until(() => {
    most = Math.max(most, residentMb(daemon));
    return count(file, "_inbox WHERE state = 'done'") >= burstSize;
  });
  const seconds = (performance.now() - startMs) / 1000;
  const after = residentMb(daemon);
  return {
    name: `memory of serve after a burst of ${burstSize} events, against before`,
    ratio: after / before,
    aim: "at most 2",
    detail: `${before} MB, at most ${most} MB, then ${after} MB; all read in ${seconds.toFixed(1)} s`,
  };
}

function residentMb({ child }: Process): number {
  const [, kB = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kB) / 1024);
}

function count(file: string, rows: string): number {
  try {
    const db = openDatabase(file, { readonly: true });
    const found = Number(db.prepare(`SELECT count(*) FROM ${rows}`).pluck().get());
    db.close();
    return found;
  } catch {
    return 0;
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
