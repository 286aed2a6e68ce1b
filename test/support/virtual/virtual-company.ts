import path from "node:path";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { silentLog } from "../../../src/base/logger.ts";
import type { Config } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { NotFoundError } from "../../../src/connector/service-errors.ts";
import type { ServiceRequest, Transport } from "../../../src/connector/transport.ts";
import { performRun } from "../../../src/runs/company-run.ts";
import { usualRun } from "../../../src/runs/run-queue.ts";
import { HttpCounters } from "../../../src/http/exchange.ts";
import type { RateLimiter } from "../../../src/rate-limit/permit.ts";
import { limitRequests } from "../../../src/rate-limit/rate-limiter.ts";
import { openMirror, type Mirror } from "../../../src/state/mirror.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import type { RunSummary } from "../../../src/sync/context/run-summary.ts";
import { Tally } from "../../../src/sync/context/tally.ts";
import { startEventWorker } from "../../../src/sync/event-worker/event-worker.ts";
import { CompanyIngest } from "../../../src/webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../../src/webhook/keys/keyring.ts";
import { eventOf } from "../program/deliveries.ts";
import { deliveryOf } from "../webhook/webhook.ts";
import { answerOf } from "../mirror/whole-run.ts";
import { memoryScratch } from "../memory-folder.ts";
import { seededRandom } from "../seeded-random.ts";
import { testRateLimiter } from "../rate-limit/rate-limit.ts";
import { startLimiter } from "../rate-limit/simulated-budget.ts";
import { firstDayMs, StubService, type CompanySize } from "./stub-service.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** What one run is asked for. */
export interface VirtualRun {
  /** `--max-duration`. */
  readonly mostMs?: number;
  /** Called before each request of the run. */
  readonly onSend?: (mirror: Mirror) => void;
}

const windowMs = 60_000;
/** Of every request, from the permit to the answer. */
const latencyMs = 150;

/**
 * A company whose service, network and time are simulated; planner, queue, engine, store and rate limiter are the
 * real ones. Its mirror is a file in memory, opened by each run as the command does.
 */
export class VirtualCompany {
  readonly clock = new VirtualClock(firstDayMs);
  readonly service: StubService;
  private readonly config: Config;
  private readonly budget: ReturnType<typeof startLimiter>;
  private readonly limit: number;
  private readonly rateLimiter: RateLimiter;
  private readonly folder = memoryScratch();

  /** @param limit requests in a window of 60 s */
  constructor(size: CompanySize, limit = 120) {
    const { clock } = this;
    this.service = new StubService(size, () => clock.nowMs());
    this.limit = limit;
    this.budget = startLimiter({ ends: "exact", reports: "at_answer" }, limit, windowMs);
    this.rateLimiter = testRateLimiter(clock, { reserveShare: 0, windowMs, defaultLimit: limit });
    const text = "base_url: http://127.0.0.1:1\ndata_dir: .\ncompanies: { acme: { token: a } }";
    const files = { env: {}, cwd: this.folder.path, readFile: () => text };
    this.config = loadConfig({ ...files, connectors: [declaration] }).config;
  }

  /** One run of `sync` now; it ends when the run ends, on the company's own clock. */
  sync({ mostMs, onSend }: VirtualRun = {}): Promise<RunSummary> {
    const { clock, config, rateLimiter } = this;
    const [company] = config.companies;
    if (!company) throw new Error("the config has no company");
    return this.opened((mirror) => {
      const ended = new AbortController();
      const over = new AbortController();
      if (mostMs !== undefined) void clock.sleep(mostMs, ended.signal).then(() => over.abort());
      const { signal: closed } = over;
      const transport = this.transport(limitRequests(rateLimiter, { closed }), () => onSend?.(mirror));
      const counted = { tally: new Tally() };
      return performRun({
        context: { clock, random: seededRandom(1), log: silentLog },
        config,
        company,
        request: { ...usualRun, resources: declaration.resources, scrub: true, closed },
        transport: { ...transport, stats: () => new HttpCounters(), close: async () => undefined },
        rateLimiter,
        mirror,
        ...counted,
        startedMs: clock.monotonicMs(),
        signal: new AbortController().signal,
      }).finally(() => ended.abort());
    });
  }

  /** Receives events from now on as `serve` does, at their times, and reads their records until `untilMs`. */
  receive(events: readonly { type: string; id: number; atMs: number }[], untilMs: number): Promise<void> {
    const { clock, config } = this;
    return this.opened(async (mirror) => {
      const { resources } = declaration;
      const queue = new WorkQueue(mirror.db);
      const selected = new Set(resources.map(({ name }) => name));
      const ingest = new CompanyIngest({ mirror, queue, selected, keyring: emptyKeyring });
      const transport = this.transport(this.rateLimiter);
      const parts = { mirror, queue, transport, clock, random: seededRandom(2), log: silentLog, token: "a" };
      const stop = new AbortController();
      const { concurrency } = config.http;
      const signals = { signal: stop.signal, closed: stop.signal, graceMs: 1 };
      const worker = startEventWorker(parts, { resources, concurrency, ...signals });
      for (const { type, id, atMs } of events.toSorted((a, b) => a.atMs - b.atMs)) {
        await clock.reach(atMs);
        ingest.store([deliveryOf(JSON.stringify(eventOf(type, id)))], clock.nowMs());
      }
      await clock.reach(untilMs);
      stop.abort();
      await worker.ended;
    });
  }

  /** Uses the mirror between two runs. */
  look<T>(read: (mirror: Mirror) => T): Promise<Awaited<T>> {
    return this.opened(read);
  }

  close(): void {
    this.folder.remove();
  }

  private async opened<T>(use: (mirror: Mirror) => T): Promise<Awaited<T>> {
    const mirror = await openMirror(path.join(this.folder.path, "acme.db"), declaration, this);
    mirror.db.pragma("synchronous = OFF");
    try {
      return await use(mirror);
    } finally {
      mirror.close();
    }
  }

  private transport(rateLimiter: RateLimiter, onSend: () => void = () => undefined): Transport {
    return {
      send: async (request) => {
        onSend();
        const permit = await rateLimiter.admit(request.lane ?? "list", request.signal);
        request.onSent?.();
        const body = await this.exchange(request);
        const remaining = this.budget.remaining(this.clock.monotonicMs());
        const status = body === null ? 404 : 200;
        permit.answered(status, { limit: this.limit, remaining, retryAfterS: null });
        if (body === null) throw new NotFoundError(`${request.path} is not there`, { status });
        return answerOf(body);
      },
    };
  }

  /** The answer of the service, on its way for a while; null for 404. */
  private async exchange({ path: route, query = {} }: ServiceRequest): Promise<string | null> {
    if (!this.budget.hit(this.clock.monotonicMs(), "own")) throw new Error("I8 a request above the budget");
    await this.clock.sleep(latencyMs);
    const values = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    return this.service.answer(route, new URLSearchParams(values));
  }
}
