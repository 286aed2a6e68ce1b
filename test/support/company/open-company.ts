import path from "node:path";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import type { Fault } from "../../../connectors/fintoro/sandbox/service/faults.ts";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import { startSandbox, testDay } from "../sandbox/control.ts";
import { dayMs, systemClock, type Clock } from "../../../src/base/clock.ts";
import type { Log } from "../../../src/base/logger.ts";
import { memoryScratch } from "../memory-folder.ts";
import { seededRandom } from "../seeded-random.ts";
import type { Transport } from "../../../src/connector/transport.ts";
import { limitRequests } from "../../../src/rate-limit/rate-limiter.ts";
import type { RateLimiter } from "../../../src/rate-limit/permit.ts";
import { httpFor } from "../http/http-client.ts";
import { testRateLimiter } from "../rate-limit/rate-limit.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import type { RunSummary } from "../../../src/sync/context/run-summary.ts";
import type { RunOptions, ScrubOptions } from "../../../src/sync/run/begin-run.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import { runOnce } from "../mirror/whole-run.ts";
import { startProxy } from "./proxy.ts";

export type Company = Awaited<ReturnType<typeof openCompany>>;

/** One company: the service that it lives in, a proxy before it, and an empty folder; the caller closes them. */
export async function openCompany(options: SandboxOptions = {}) {
  const sandbox = await startSandbox({ today: testDay, limit: 1_000_000, records: 20, ...options });
  const proxy = await startProxy(sandbox);
  const { path: folder, remove } = memoryScratch();
  /** What the runs said, all levels. */
  const said: string[] = [];
  return {
    sandbox,
    proxy,
    folder,
    file: path.join(folder, "acme.db"),
    said,
    /** From now on the service answers with these faults, until `recover`. */
    suffer: (...faults: readonly Fault[]) => faults.forEach((fault) => sandbox.control.fault(fault)),
    /** No fault any more, neither in the service nor on the way to it. */
    recover: () => {
      sandbox.control.clearFaults();
      proxy.clear();
    },
    close: async () => {
      await proxy.close();
      await sandbox.close();
      remove();
    },
  };
}

export interface SyncOptions extends Partial<Omit<RunOptions, "resources">> {
  /** Table names; all of them when not given. */
  readonly resources?: readonly string[];
  readonly token?: string;
  readonly attempts?: number;
  readonly maxResponseBytes?: number;
  /** Wall clock of the run; waiting inside the run takes no real time. */
  readonly startAtMs?: number;
  /** Of the run alone; the transport's is the system's. @default a fast clock from `startAtMs` */
  readonly clock?: Clock;
  readonly rateLimiter?: RateLimiter;
  readonly mostRequests?: number;
  readonly wrap?: (transport: Transport) => Transport;
}

/** One run, in this process, with the parts that the command line would build. */
export async function sync(company: Company, options: SyncOptions = {}): Promise<RunSummary> {
  const { clock = fastClock(options.startAtMs) } = options;
  const log = loggingTo(company.said);
  const mirror = await openMirror(company.file, declaration, { log });
  const transport = transportTo(company, options, log);
  const rateLimited = () => transport.stats().rateLimited;
  const token = options.token ?? company.sandbox.token;
  const wrapped = options.wrap?.(transport) ?? transport;
  const [queue, random] = [new WorkQueue(mirror.db), seededRandom(1)];
  const parts = { mirror, queue, transport: wrapped, clock, random, log, token, rateLimited };
  try {
    return await runOnce(parts, { ...options, resources: resourcesNamed(options.resources) });
  } finally {
    mirror.close();
    await transport.close();
  }
}

export function scrubOf(perDay: number, more: Partial<ScrubOptions> = {}): ScrubOptions {
  return {
    settings: { timeMs: 60_000, cycleMs: 3_650 * dayMs, atMostMs: dayMs },
    windowMs: 60_000,
    limit: () => perDay,
    isCovered: () => false,
    closed: new AbortController().signal,
    ...more,
  };
}

export function resourcesNamed(names: readonly string[] | undefined) {
  return names
    ? declaration.resources.filter((resource) => names.includes(resource.name))
    : declaration.resources;
}

export function transportTo({ proxy, sandbox }: Company, options: SyncOptions, log: Log) {
  const { token = sandbox.token, attempts = 5, mostRequests } = options;
  const rateLimiter = options.rateLimiter ?? testRateLimiter(systemClock, { reserveShare: 0 });
  const { concurrency = 6, maxResponseBytes } = options;
  return httpFor(proxy.baseUrl, {
    token,
    timeoutMs: 20_000,
    attempts,
    log,
    concurrency,
    ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    backoff: { baseMs: 1, maxMs: 4 },
    rateLimiter: mostRequests === undefined ? rateLimiter : limitRequests(rateLimiter, { mostRequests }),
  });
}

/** Real time, but whoever sleeps is there at once. */
export function fastClock(startAtMs: number = Date.now()): Clock {
  let skippedMs = 0;
  const begunMs = systemClock.monotonicMs();
  const passedMs = () => systemClock.monotonicMs() - begunMs + skippedMs;
  return {
    nowMs: () => Math.floor(startAtMs + passedMs()),
    monotonicMs: () => begunMs + passedMs(),
    sleep: async (ms, signal) => {
      if (signal?.aborted) return;
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (!signal?.aborted) skippedMs += ms;
    },
  };
}

export function loggingTo(said: string[]): Log {
  const line = (level: string) => (message: string, fields?: Readonly<Record<string, unknown>>) =>
    void said.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}
