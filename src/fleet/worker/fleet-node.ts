import { Semaphore } from "../../base/semaphore.ts";
import { messageOf } from "../../base/errors.ts";
import { stopDeadlines } from "../../runs/process-context.ts";
import type { Span } from "../../state/uptime-log.ts";
import { jobKinds } from "../jobs/job-engine.ts";
import { createLeaseKeeper } from "../ownership/lease-keeper.ts";
import { createNodeLoops, type NodeLoops, type Pause } from "../postgres/node-loops.ts";
import type { NodeFacts } from "../postgres/tables/heartbeats.ts";
import { judgeLosses } from "../postgres/tables/losses.ts";
import { findWaitingCompanies, type WaitingCompany } from "../postgres/tables/owners-table.ts";
import { forgetRemoved } from "../postgres/tables/removed-companies.ts";
import { Assignments } from "../assignment/assignments.ts";
import { usualTimes, type NodeContext, type NodeParts, type NodeTimes } from "../assignment/node-context.ts";
import { createInboxWatch } from "../assignment/drain.ts";
import { pruneMirrors } from "./mirror-cache.ts";
import { createTimelineWatch, type TimelineWatch } from "./timeline-watch.ts";

const mostAtOnce = 1_000;
/** Packages that are made at a time: they wait for the budgets of their companies. */
const mostPackages = 8;
const prunePauseMs = 100;

/**
 * One node of a fleet: takes jobs, claims their companies, and holds them as long as they have work.
 *
 * Guarantee: whatever fails concerns one company, or is tried again. After `stop` everything is released that could be.
 * Source of truth: Postgres; in memory is only what this node holds.
 * Worst outcome of a crash: other nodes take its companies over within 30 s.
 */
export class FleetNode {
  readonly assignments: Assignments;
  readonly capacity: number;
  private readonly context: NodeContext;
  private readonly loops: NodeLoops;
  private readonly timeline: TimelineWatch;
  /** Until everything is released: leases are renewed and jobs kept. */
  private readonly closed = new AbortController();
  private readonly cutOff = new AbortController();
  private tasks: readonly Promise<unknown>[] = [];
  private changedSinceMs: number | null = null;
  private hasFetched = false;
  private receivedSpans: readonly Span[] = [];
  private fetches = 0;

  constructor(parts: NodeParts, loops: NodeLoops, times: Partial<NodeTimes> = {}) {
    const { tables, node, host } = parts;
    this.loops = loops;
    this.capacity = node.capacity;
    this.timeline = createTimelineWatch(tables.timeline, parts.store, host.log, this.closed.signal);
    this.context = {
      ...parts,
      times: { ...usualTimes, ...times },
      keeper: createLeaseKeeper(tables.owners, node.name, host),
      inboxWatch: createInboxWatch(tables.inbox),
      receivedSpans: () => this.receivedSpans,
      timeline: this.timeline,
      packagePlaces: new Semaphore(mostPackages),
      cutOff: this.cutOff.signal,
    };
    this.assignments = new Assignments(this.context);
  }

  /** Begins to take jobs. Throws MirrorError `database` where Postgres cannot be written. */
  async start(): Promise<void> {
    const { times, tables, node, host, keeper, inboxWatch } = this.context;
    const { signal } = this.closed;
    await this.timeline.start();
    await tables.nodes.register(this.facts());
    const readReceived = async () => void (this.receivedSpans = await tables.receiving.spansSince(0));
    await readReceived();
    const isHeld = (company: string) => this.assignments.has(company);
    const cache = { ...host, ...tables, dataDir: node.dataDir, isHeld };
    const jittered = (ms: number) => () => ms * (0.75 + host.random.next() / 2);
    const unattendedMs = jittered(times.unattendedMs);
    const fetchMs = () => (this.hasFetched ? times.fetchMs : times.quietFetchMs);
    // Without the store deliveries are stored all the same: the node stays ready.
    const ofStore = createNodeLoops(host.clock, host.log, "noting the timeline succeeds again");
    const repeat = (what: string, everyMs: Pause, step: () => Promise<void>, loops = this.loops) =>
      loops.repeat(what, everyMs, step, signal);
    this.tasks = [
      keeper.follow(signal),
      repeat("taking jobs", fetchMs, () => this.fetch()),
      repeat("looking for deliveries", times.inboxMs, () => inboxWatch.look()),
      repeat("reading when deliveries were received", times.receivingMs, readReceived),
      repeat("the node's heartbeat", times.beatMs, () => this.beat()),
      repeat("noting the timeline", jittered(times.markMs), () => this.timeline.mark(), ofStore),
      repeat("looking for unattended companies", unattendedMs, () => this.sendJobs()),
      repeat("looking for packages", unattendedMs, () => this.followPackages()),
      repeat("reading configs", times.configMs, () => this.readConfigs()),
      repeat("pruning the disk", times.cacheMs, () => pruneMirrors(cache)),
      repeat("pruning Postgres", jittered(times.pruneMs), () => this.prune()),
    ];
  }

  /** Releases everything; resolves when that is done, or cannot be done in time. */
  async stop(): Promise<void> {
    const { tables, node, host } = this.context;
    const { clock, log } = host;
    const { assignments } = this;
    const { snapshots, signOff } = stopDeadlines;
    const done = new AbortController();
    void clock.sleep(snapshots, done.signal).then(() => this.cutOff.abort());
    const drained = Promise.all([assignments.drain("the node stops"), assignments.afterRuns.stop()]);
    await Promise.race([drained, clock.sleep(snapshots + signOff, done.signal)]);
    done.abort();
    const { size } = assignments;
    if (size > 0) log.warn("not everything could be released: other nodes take it over", { held: size });
    this.closed.abort();
    const signedOff = tables.nodes
      .remove(node.name)
      .catch((error: unknown) => log.warn("the node could not sign off", { error: messageOf(error) }));
    await Promise.race([Promise.all([signedOff, ...this.tasks]), clock.sleep(signOff)]);
  }

  private facts(): NodeFacts {
    const { name: node, role, capacity } = this.context.node;
    return { node, role, capacity, version: this.context.host.version, held: this.assignments.size };
  }

  /** Takes no more jobs than there are places, so that other nodes get the rest. */
  private async fetch(): Promise<void> {
    const { assignments, context } = this;
    this.hasFetched = false;
    // Each kind is the first one in its turn: where places are few, none waits for all of another.
    this.fetches++;
    for (const index of jobKinds.keys()) {
      const kind = jobKinds[(index + this.fetches) % jobKinds.length] ?? "run";
      const { freePlaces } = assignments;
      if (freePlaces === 0) return;
      const jobs = await context.engine.fetch(kind, freePlaces);
      if (jobs.length === 0) continue;
      this.hasFetched = true;
      // Before anything is claimed.
      await this.timeline.look();
      for (const job of jobs) void assignments.open(job);
    }
  }

  private async beat(): Promise<void> {
    await this.timeline.beat();
    const { draining } = await this.context.tables.nodes.beat(this.facts());
    if (draining && !this.assignments.draining) void this.assignments.drain("the node is drained");
  }

  /**
   * Looks for companies that nobody looks after although there is something to do. Whatever was lost below it (a job, its
   * sender, a node), a job is sent again.
   */
  private async sendJobs(): Promise<void> {
    const { engine, tables } = this.context;
    const waiting = await findWaitingCompanies(tables.postgres, mostAtOnce);
    if (waiting.some(({ reason }) => reason === "suspect")) await this.judgeLosses();
    const left = waiting.filter(({ company }) => !this.assignments.has(company));
    const of = (reason: WaitingCompany["reason"]) =>
      left.filter((one) => one.reason === reason).map(({ company }) => company);
    await engine.send("run", of("left"));
    await engine.send("events", of("inbox"));
  }

  /** Has months packed that are due: of companies of this node, and of as many others as it has places for. */
  private async followPackages(): Promise<void> {
    const { engine, tables, node } = this.context;
    const making = this.assignments.all().filter(({ packages }) => packages.isMaking()).length;
    const isPending = (company: string) => this.assignments.find(company)?.packages.isPending() === true;
    // What is made, or waits for a run, is due as well, and keeps no other from its place.
    const left = (await tables.packages.due(node.name)).filter(({ company }) => !isPending(company));
    const due = left.slice(0, Math.max(0, mostPackages - making));
    for (const { company } of due) this.assignments.find(company)?.packages.ask();
    const others = due.filter(({ isOwned }) => !isOwned).map(({ company }) => company);
    await engine.send("package", others);
  }

  /** Companies of nodes that died one after another are left alone for a while, unless they are too many. */
  private async judgeLosses(): Promise<void> {
    const { tables, host } = this.context;
    // While Postgres is away nodes lose their companies and live: this one says so first.
    await this.beat();
    for (const { delayMs, ...facts } of await judgeLosses(tables.postgres, () => host.random.next()))
      host.log.error("nodes that held this company died one after another: it is left alone for a while", {
        ...facts,
        ms: Math.round(delayMs),
      });
  }

  private async readConfigs(): Promise<void> {
    const { companies, asOfMs } = await this.context.tables.companies.list(this.changedSinceMs);
    for (const row of companies) await this.assignments.change(row);
    this.changedSinceMs = asOfMs;
  }

  private async prune(): Promise<void> {
    const { host, tables } = this.context;
    const { signal } = this.closed;
    const forget = async () => Number(await forgetRemoved(tables.postgres));
    // Some rows at a time, with pauses in which deliveries have the disk.
    for (const some of [forget, () => tables.inbox.prune(), () => tables.snapshots.pruneChanges()])
      while (!signal.aborted && (await some()) > 0) await host.clock.sleep(prunePauseMs, signal);
  }
}
