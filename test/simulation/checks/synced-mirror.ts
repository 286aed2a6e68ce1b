import Database from "better-sqlite3";
import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { manifest } from "../../../connectors/fintoro/manifest.ts";
import { InvalidError, NotFoundError } from "../../../src/connector/service-errors.ts";
import type { Transport } from "../../../src/connector/transport.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import { Tally } from "../../../src/sync/context/tally.ts";
import { startEventWorker } from "../../../src/sync/event-worker/event-worker.ts";
import { runSync } from "../../../src/sync/run/sync-run.ts";
import { readDelivery } from "../../../src/webhook/ingest/delivery.ts";
import { CompanyIngest } from "../../../src/webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../../src/webhook/keys/keyring.ts";
import { defaultRun, loggingTo } from "../../support/company/open-company.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { limiterKinds, type LimiterKind } from "../../support/rate-limit/simulated-budget.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import type { Db } from "../../support/truth/compare.ts";
import { firstDayMs } from "../../support/virtual/stub-service.ts";
import { VirtualClock } from "../../support/virtual/virtual-clock.ts";
import { tableNames, type ServiceEvent } from "../service/service-types.ts";
import { SimulatedService } from "../service/simulated-service.ts";
import { MirrorContents } from "./mirror-contents.ts";
import type { Observation } from "./observation.ts";

const names: ReadonlySet<string> = new Set(tableNames);
const resources = manifest.resources.filter(({ name }) => names.has(name));
const [limiter] = limiterKinds as readonly [LimiterKind, ...LimiterKind[]];

/** A mirror that followed a simulated service, and what was seen of it. */
export interface SyncedMirror {
  /** The file, as bytes. */
  readonly image: Buffer;
  readonly service: SimulatedService;
  readonly seen: Observation;
  readonly clock: VirtualClock;
}

/** Changes a company while its events arrive one by one, then reads everything; nothing is in flight afterwards. */
export async function syncedMirror(seed: number, changes: number): Promise<SyncedMirror> {
  const clock = new VirtualClock(firstDayMs);
  const service = new SimulatedService({ random: seededRandom(seed), clock, limiter, limit: 100_000 });
  const folder = mkdtempSync(path.join(memoryFolder(), "fintoro-mirror-checks-"));
  const mirror = await openMirror(path.join(folder, "acme.db"), manifest, {}, { clock });
  mirror.db.pragma("synchronous = OFF");
  const queue = new WorkQueue(mirror.db);
  const arrivals = new Map<string, number>();
  const acknowledged = new Map<string, string>();
  const ingest = new CompanyIngest({ mirror, queue, selected: names, keyring: emptyKeyring });
  service.onEvent((event) => {
    arrivals.set(event.id, clock.monotonicMs());
    ingest.store([deliveryOf(event)], clock.nowMs());
    acknowledged.set(event.id, JSON.stringify(event));
  });
  const transport = transportTo(service, clock);
  const log = loggingTo([]);
  const parts = { mirror, queue, transport, clock, random: seededRandom(1), log, token: "a" };
  const run = (full: boolean) =>
    runSync(
      {
        ...parts,
        tally: new Tally(),
        rateLimited: () => 0,
        notices: { newColumns: [], missingFields: new Set(), unkeptFields: new Set() },
      },
      { ...defaultRun, full, resources, parentsPerRun: "all", share: "all", allowMassDelete: true },
    );
  await sureOf(run(false));
  const stop = new AbortController();
  const signals = { signal: stop.signal, closed: stop.signal, graceMs: 1 };
  const worker = startEventWorker(parts, { resources, concurrency: 4, ...signals });
  for (let left = changes; left > 0; left--) {
    service.act();
    await clock.sleep(2_000);
  }
  service.rest();
  await clock.sleep(600_000);
  stop.abort();
  await worker.ended;
  await clock.sleep(100_000_000);
  await sureOf(run(true));
  mirror.db.pragma("journal_mode = DELETE");
  const image = mirror.db.serialize();
  mirror.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    image,
    service,
    clock,
    seen: {
      service,
      arrivals,
      acknowledged,
      deniedAtMs: new Map(),
      receivedAtMs: new Map(),
      asked: new Map(),
      reads: [],
    },
  };
}

/** The mirror with the change of a careless or broken program. */
export function tamperedWith(synced: SyncedMirror, change: string | ((db: Db) => void)): MirrorContents {
  const db = new Database(synced.image);
  if (typeof change === "string") db.exec(change);
  else change(db);
  return new MirrorContents(db);
}

function deliveryOf(event: ServiceEvent) {
  const delivery = readDelivery(Buffer.from(JSON.stringify(event)), event.id);
  if ("status" in delivery) throw new Error(delivery.why);
  return delivery;
}

function transportTo(service: SimulatedService, clock: VirtualClock): Transport {
  return {
    send: async (request) => {
      request.onSent?.();
      const values = Object.entries(request.query ?? {}).map(([key, value]): [string, string] => [
        key,
        String(value),
      ]);
      const { status, headers, body } = service.answer(request.path, new URLSearchParams(values), {
        token: "a",
      });
      await clock.sleep(50);
      const requestId = headers["X-Request-Id"] ?? null;
      if (status === 200) return { status, headers: {}, body: Buffer.from(body), requestId, attempts: 1 };
      const { message, errors = {} } = JSON.parse(body) as {
        message: string;
        errors?: Record<string, string[]>;
      };
      const options = { status, requestId, serviceMessage: message };
      if (status === 404) throw new NotFoundError(message, options);
      throw new InvalidError(message, errors, options);
    },
  };
}

/** Throws unless the run ended well. */
async function sureOf(run: ReturnType<typeof runSync>): Promise<void> {
  const report = await run;
  if (report.outcome !== "complete") throw new Error(`the run ended with ${JSON.stringify(report)}`);
}
