import { onTestFinished } from "vitest";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import type { SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { seededRandom } from "../seeded-random.ts";
import type { Transport } from "../../../src/connector/transport.ts";
import { openMirror, type Mirror } from "../../../src/state/mirror.ts";
import type { RunSummary } from "../../../src/sync/context/run-summary.ts";
import { startEventWorker } from "../../../src/sync/event-worker/event-worker.ts";
import { CompanyIngest } from "../../../src/webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../../src/webhook/keys/keyring.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import type { DrivenClock } from "../virtual/driven-clock.ts";
import { loggingTo, resourcesNamed, transportTo } from "../company/open-company.ts";
import type { Company, SyncOptions } from "../company/open-company.ts";
import { deliveryOf } from "../webhook/webhook.ts";
import { texts } from "./store.ts";
import { defaultRun, runOnce } from "./whole-run.ts";
import { eventually } from "../eventually.ts";

export type RunningWorker = Awaited<ReturnType<typeof startWorker>>;

export interface WorkerOptions extends SyncOptions {
  /** The wall clock of ingest, event worker and runs; requests take real time. */
  readonly clock?: Clock;
}

/** A mirror with its ingest, its event worker and runs in one process; stopped with the test. */
export async function startWorker(company: Company, options: WorkerOptions = {}) {
  const { clock = systemClock, concurrency = 4, token = company.sandbox.token } = options;
  const log = loggingTo(company.said);
  const mirror = await openMirror(company.file, declaration, { clock });
  const queue = new WorkQueue(mirror.db);
  const transport = transportTo(company, { concurrency: 12, ...options }, log);
  const inner = options.wrap?.(transport) ?? transport;
  let asking = 0;
  const wire: Transport = {
    send: (request) => {
      asking += 1;
      return inner.send(request).finally(() => (asking -= 1));
    },
  };
  const resources = resourcesNamed(options.resources);
  const selected = new Set(resources.map(({ name }) => name));
  const ingest = new CompanyIngest({ mirror, queue, selected, keyring: emptyKeyring });
  const parts = { mirror, queue, transport: wire, clock, random: seededRandom(3), log, token };
  const order = new AbortController();
  const { closed, graceMs } = defaultRun;
  const limits = { concurrency, signal: order.signal, closed, graceMs };
  const eventWorker = startEventWorker(parts, { resources, ...limits });
  let ended = false;
  /** As if the service had sent them, all in one transaction. */
  const deliver = (...events: readonly SentEvent[]) => {
    const deliveries = events.map((event) => deliveryOf(JSON.stringify(event)));
    ingest.store(deliveries, clock.nowMs());
  };
  const unfollow: (() => void)[] = [];
  /** Aborts the event worker and closes the mirror; work in flight is lost, as in a crash. */
  const stop = async () => {
    if (ended) return;
    ended = true;
    for (const end of unfollow) end();
    order.abort();
    await eventWorker.ended;
    mirror.close();
    await transport.close();
  };
  onTestFinished(stop);
  return {
    mirror,
    queue,
    ingest,
    eventWorker,
    deliver,
    /** From now on every event of the sandbox is delivered at once, unless `arrives` returns false. */
    follow: (arrives: (event: SentEvent) => boolean = () => true) =>
      void unfollow.push(company.sandbox.control.onEvent((event) => void (arrives(event) && deliver(event)))),
    asking: () => asking > 0,
    /** Waits until nothing in the lane of events is due. */
    rest: () =>
      eventually(
        () => due(mirror, clock) === 0,
        () => `still due: ${waitingRows(mirror).join(", ")}`,
      ),
    run: (more: SyncOptions = {}): Promise<RunSummary> =>
      runOnce(parts, { ...more, share: "others", resources }),
    stop,
  };
}

/** Advances the clock in steps; what each step makes due is done before the next. */
export async function pass(clock: DrivenClock, worker: RunningWorker, ms: number): Promise<void> {
  const isDone = () => !worker.asking() && (clock.sleeping > 0 || due(worker.mirror, clock) === 0);
  for (let passedMs = 0; passedMs < ms; passedMs += 10_000) {
    await clock.advance(Math.min(10_000, ms - passedMs));
    await eventually(isDone, "what is due is done");
  }
}

function due({ db }: Mirror, clock: Clock): number {
  const sql = "SELECT count(*) FROM _work WHERE lane = 0 AND state = 'ready' AND due_ms <= ?";
  return Number(db.prepare(sql).pluck().get(clock.nowMs()));
}

/** `invoices id:7 confirm ready invoices.deleted`, all lanes. */
export const waitingRows = (mirror: Mirror) =>
  texts(mirror, "SELECT resource, target, kind, state, reason FROM _work ORDER BY id");

/** State and outcome of each event in the inbox: `invoices.created done inserted`. */
export const inboxOf = (mirror: Mirror) =>
  texts(mirror, "SELECT type, state || coalesce(' ' || outcome, '') AS how FROM _inbox ORDER BY rowid");
