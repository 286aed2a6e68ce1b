import { createHash } from "node:crypto";
import { eitherSignal } from "../../../src/base/cancellation.ts";
import { MirrorError } from "../../../src/base/errors.ts";
import type { Random } from "../../../src/base/random.ts";
import type { Config } from "../../../src/config/config.ts";
import { createCompanyRun, type RunRequest } from "../../../src/runs/company-run.ts";
import { usualRun } from "../../../src/runs/run-queue.ts";
import { openBudgetFile } from "../../../src/state/budget-file.ts";
import type { RateLimiter } from "../../../src/rate-limit/permit.ts";
import { createRateLimiter, limitRequests } from "../../../src/rate-limit/rate-limiter.ts";
import type { RateLimitStore } from "../../../src/rate-limit/state.ts";
import { EventIds } from "../../../src/state/inbox/event-ids.ts";
import { openMirror, type Mirror } from "../../../src/state/mirror.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import { startEventWorker } from "../../../src/sync/event-worker/event-worker.ts";
import { CompanyIngest } from "../../../src/webhook/ingest/ingest.ts";
import { Receiver, type Companies } from "../../../src/webhook/receiver.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { unlikeItsInvoice, unlikeLists } from "../checks/equality.ts";
import { MirrorContents } from "../checks/mirror-contents.ts";
import type { Activity, Scenario } from "../scenarios/scenario.ts";
import { isFresh, lacksPaymentProof, summaryOf, type EndedRun } from "./ended-run.ts";
import { simulatedTransport } from "./network.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";
import { configWith, declaration } from "./simulated-declaration.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { replayInbox, watchIngest } from "./watched-ingest.ts";

export const webhookSecret = "whsec_of_the_simulation_0123456789";

export interface ProgramOptions extends Pick<Scenario, "mostUnfiled" | "parentsPerRun"> {
  readonly activity: Exclude<Activity, { kind: "down" }>;
  readonly durationMs: number;
  readonly seed: number;
  /** Is the mirror given to the token's company, whatever it is? */
  readonly acceptIdentity: boolean;
  /** Of this process alone, which then looks at no file every 200 ms. @default the file that all processes share */
  readonly budget?: RateLimitStore;
}

type ServeActivity = Extract<Activity, { kind: "serve" }>;

/** What a run needs; with `queue` it is one beside an event worker. */
interface RunParts {
  readonly mirror: Mirror;
  readonly rateLimiter: RateLimiter;
  readonly queue?: WorkQueue;
}

/**
 * `sync`, or `serve` without sockets, in a simulated process: the real mirror, queue, engine, rate limiter, receiver,
 * ingest and event worker.
 */
export class SimulatedProgram {
  readonly runs: EndedRun[] = [];
  private readonly machine: SimulatedMachine;
  private readonly process: SimulatedProcess;
  private readonly options: ProgramOptions;
  private readonly random: Random;
  private readonly config: Config;
  private receiver: Receiver | null = null;
  /** As what the last delivery that was answered was counted. */
  private lastCounted = "";

  constructor(machine: SimulatedMachine, process: SimulatedProcess, options: ProgramOptions) {
    this.machine = machine;
    this.process = process;
    this.options = options;
    this.config = configWith(process.token, options.parentsPerRun);
    this.random = seededRandom(options.seed);
  }

  async run(): Promise<void> {
    try {
      await this.runOnMirror();
    } catch (error) {
      if (!(error instanceof MirrorError && error.kind === "stopped")) throw error;
    }
  }

  private async runOnMirror(): Promise<void> {
    const { clock, log, interrupted, file: mirrorFile } = this.process;
    const { activity } = this.options;
    const { disk, boots } = this.machine;
    const file = openBudgetFile({ path: disk.budget, clock, bootId: `boot ${boots}`, log });
    const { reserveShare, windowMs } = this.config.rateLimit;
    const eventShare = activity.kind === "serve" ? reserveShare : 0;
    const limits = { reserveShare, eventShare, windowMs, permitMs: 60_000 };
    const rateLimiter = createRateLimiter({ store: this.options.budget ?? file, clock, log, ...limits });
    const mirror = await openMirror(mirrorFile, declaration, { clock, log, signal: interrupted.signal });
    this.process.isOpening = false;
    this.machine.hasMirror = true;
    const parts = { mirror, rateLimiter };
    if (activity.kind === "sync") await this.sync(parts, activity);
    else if (activity.kind === "serve") await this.serve(parts, activity);
    else await this.finalRuns(parts);
    this.machine.budgetWatch.judge(rateLimiter.view(), this.machine.service);
    file.close();
    mirror.close();
  }

  /** Takes a delivery as the server does: the status that is answered; null: the process died before. */
  receive(headers: Readonly<Record<string, string>>, body: Buffer): Promise<number | null> {
    const { receiver, process } = this;
    if (!receiver || !process.isAlive) return Promise.resolve(null);
    const head = receiver.admit("acme", Object.entries(headers).flat());
    if ("status" in head) return Promise.resolve(head.status);
    const eventId = storedId(headers["webhook-id"] ?? "", body);
    const { arrivals, acknowledged, time, broken } = this.machine;
    if (!arrivals.has(eventId)) arrivals.set(eventId, time.passedMs);
    const isKnown = acknowledged.has(eventId);
    return new Promise((resolve) => {
      void process.death.then(() => resolve(null));
      receiver.deliver(head, body, ({ status }) => {
        if (!process.isAlive || (status === 204 && !process.passes("before the 204"))) return;
        if (status === 204) acknowledged.set(eventId, body);
        if (status === 204 && isKnown && this.lastCounted === "stored")
          broken.push(`I6 event ${eventId}: stored before, and answered as if it were new`);
        resolve(status);
        if (status === 204) process.passes("after the 204");
      });
    });
  }

  private async sync(parts: RunParts, activity: Extract<Activity, { kind: "sync" }>): Promise<void> {
    const { mode, scrub, mostRequests, allowMassDelete } = activity;
    const asked = { full: mode === "full", quick: mode === "quick", scrub, allowMassDelete };
    await this.performRun(parts, { ...asked, mostRequests: mostRequests ?? undefined });
  }

  /** A usual run and a full one. A third finds nothing new (I7), and reads once more what a late event was about. */
  private async finalRuns(parts: RunParts): Promise<void> {
    const { machine, process } = this;
    const changes = parts.mirror.db.prepare("SELECT count(*) FROM _changes").pluck();
    let known: unknown = null;
    for (const full of [false, true, false]) {
      known = changes.get();
      for (let tries = 0; tries < 4; tries++) {
        await this.performRun(parts, { full, allowMassDelete: true });
        await process.clock.sleep(120_000);
        if (isFresh(this.runs.at(-1)?.report)) break;
      }
      const report = this.runs.at(-1)?.report;
      const isRead = isFresh(report) || (!full && lacksPaymentProof(report));
      if (!isRead) machine.broken.push("I11 no run at rest is complete and fresh");
      if (full || !isRead) continue;
      const contents = new MirrorContents(parts.mirror.db);
      machine.broken.push(...unlikeLists(contents, machine), ...unlikeItsInvoice(contents, machine));
    }
    if (changes.get() !== known) machine.broken.push("I7 a run at rest found something new after a full one");
  }

  private async serve(parts: RunParts, activity: ServeActivity): Promise<void> {
    const { clock, log, closed, interrupted, token } = this.process;
    const { mirror, rateLimiter } = parts;
    const { random } = this;
    const { resources } = declaration;
    const queue = new WorkQueue(mirror.db);
    const ingest = this.openIngest(mirror, queue);
    const watched = { machine: this.machine, process: this.process, mirror };
    const receiving = watchIngest(ingest, watched);
    const transport = simulatedTransport(this.machine, this.process, rateLimiter);
    const signals = { signal: interrupted.signal, closed: closed.signal, graceMs: 20_000 };
    const work = { mirror, queue, transport, clock, random, log, token };
    const { concurrency } = this.config.http;
    const worker = startEventWorker(work, { resources, concurrency, ...signals });
    const ending = eitherSignal(interrupted.signal, closed.signal);
    const { runAtMs, full, replayAtMs } = activity;
    const run = this.later(runAtMs, ending, () => this.performRun({ ...parts, queue }, { full }));
    const replay = this.later(replayAtMs, ending, () => replayInbox(ingest, watched, clock.nowMs()));
    for (const beside of [run, replay]) beside.catch(() => closed.abort());
    const companies: Companies = {
      find: (name) => (name === "acme" ? receiving : null),
      countAnswer: (_name, result) => void (this.lastCounted = result),
    };
    this.receiver = new Receiver({ companies, clock, log });
    await clock.sleep(this.options.durationMs, ending);
    this.receiver = null;
    closed.abort();
    await worker.ended;
    await run;
    await replay;
  }

  private openIngest(mirror: Mirror, queue: WorkQueue): CompanyIngest {
    const selected = new Set(declaration.resources.map(({ name }) => name));
    const keyring = { accepted: () => [webhookSecret], refresh: () => false };
    const ingest = new CompanyIngest({ mirror, queue, selected, keyring });
    const { mostUnfiled } = this.options;
    if (mostUnfiled !== undefined) Object.assign(ingest, { ids: new EventIds(mirror.db, mostUnfiled) });
    ingest.requeueLost(this.process.clock.nowMs());
    return ingest;
  }

  /** Does something at its time, unless the process ends before; null or undefined: never. */
  private async later(
    atMs: number | null | undefined,
    ending: AbortSignal,
    work: () => Promise<void> | void,
  ): Promise<void> {
    if (atMs === null || atMs === undefined) return;
    await this.process.clock.sleep(atMs, ending);
    if (!ending.aborted) await work();
  }

  private async performRun(parts: RunParts, asked: Partial<RunRequest>): Promise<void> {
    const { machine, process, config } = this;
    const { clock, log, closed, interrupted } = process;
    const { acceptIdentity } = this.options;
    const [company] = config.companies;
    if (!company) throw new Error("the config has no company");
    const limits = { closed: closed.signal, mostRequests: asked.mostRequests ?? Infinity };
    const sinceMs = machine.time.passedMs;
    const { resources } = declaration;
    const request = { ...usualRun, ...asked, acceptIdentity, resources, closed: closed.signal };
    const { mirror, rateLimiter, queue } = parts;
    const context = { clock, random: this.random, log };
    const transport = simulatedTransport(machine, process, limitRequests(rateLimiter, limits));
    const run = createCompanyRun(context, { config, company }, mirror, transport, rateLimiter, request);
    const report = await run.perform(interrupted.signal, {}, queue && { queue });
    const { full, quick } = request;
    this.runs.push({ report, sinceMs, full, quick, isBesideWorker: queue !== undefined });
    machine.note(`the run is ${summaryOf(report)}`);
  }
}

/** Under which id an event is kept: its own; a body that is no JSON object has none. */
function storedId(id: string, body: Buffer): string {
  if (body.toString().startsWith("{")) return id;
  return `unreadable:${createHash("sha256").update(body).digest("hex")}`;
}
