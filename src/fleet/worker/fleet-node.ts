import { messageOf } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import type { DaemonContext } from "../../daemon/daemon-context.ts";
import { stopDeadlines, type ProcessContext } from "../../runs/process-context.ts";
import { RunPlaces } from "../../runs/run-places.ts";
import { LoopTurns } from "../../store/loop-turns.ts";
import { jobKinds, type JobEngine } from "../jobs/job-engine.ts";
import { LeaseKeeper } from "../ownership/lease-keeper.ts";
import type { Postgres } from "../postgres/connection.ts";
import type { NodeFacts } from "../postgres/tables/nodes-table.ts";
import { forgetRemoved } from "../postgres/tables/removed-companies.ts";
import type { StoredMark } from "../snapshot/timeline-mark.ts";
import type { Snapshots } from "../assignment/company-snapshots.ts";
import { Assignments, type AssignmentsParts, type AssignmentsTimes } from "../assignment/assignments.ts";
import type { FleetTables } from "../postgres/tables/fleet-tables.ts";
import { InboxWatch } from "../assignment/inbox-watch.ts";
import type { NodeLoops, RepeatedStep } from "./node-loops.ts";
import { MirrorCache } from "./mirror-cache.ts";
import { ReceivingTimes } from "../assignment/receiving-times.ts";
import { UnattendedCompanies } from "./unattended-companies.ts";
import { TimelineWatch } from "./timeline-watch.ts";

export interface FleetNodeParts {
  readonly process: ProcessContext;
  /** What companies with this config are held with. Loads their connector. */
  readonly daemonOf: (config: Config) => Promise<DaemonContext>;
  readonly postgres: Postgres;
  readonly tables: FleetTables;
  readonly engine: JobEngine;
  readonly snapshots: Snapshots;
  readonly storedMark: StoredMark;
  /** The config of a company of the fleet on this node. Throws MirrorError `config`. */
  readonly configOf: (name: string, document: unknown) => Config;
  readonly publishReport: AssignmentsParts["publishReport"];
  readonly node: string;
  /** Where the mirrors are that it holds, and those that it has released. */
  readonly dataDir: string;
  readonly role: "all" | "work";
  readonly loops: NodeLoops;
  /** How many companies it holds at once. */
  readonly capacity: number;
  readonly snapshotEveryMs: number;
  readonly times?: Partial<NodeTimes>;
}

/** Milliseconds. */
export interface NodeTimes extends AssignmentsTimes {
  /** Between two looks for jobs: while there are some, and otherwise. */
  readonly fetchMs: number;
  readonly quietFetchMs: number;
  readonly inboxMs: number;
  /** A gap that is noticed late does little harm: an event is lost after hours only. */
  readonly receivingMs: number;
  readonly beatMs: number;
  /** Between two looks for companies that nobody looks after. */
  readonly unattendedMs: number;
  readonly configMs: number;
  readonly pruneMs: number;
  /** Of mirrors on the disk. */
  readonly cacheMs: number;
  readonly markMs: number;
}

const usualTimes: NodeTimes = {
  fetchMs: 1_000,
  quietFetchMs: 2_000,
  inboxMs: 1_000,
  receivingMs: 15_000,
  beatMs: 5_000,
  unattendedMs: 5_000,
  configMs: 10_000,
  pruneMs: 600_000,
  cacheMs: 60_000,
  markMs: 5_000,
  idleMs: 90_000,
  fullIdleMs: 5_000,
  rivalMs: 15_000,
  openMs: 120_000,
  failedMs: 30_000,
};

/** Between two statements that delete rows. */
const prunePauseMs = 100;

/**
 * One node of a fleet: takes jobs, claims their companies, and holds them as long as they have work.
 *
 * Guarantee: whatever fails concerns one company, or is tried again. After `stop` everything is released that could be.
 * Source of truth: Postgres; in memory is only what this node holds.
 * Worst outcome of a crash: other nodes take its companies over within 30 s.
 */
export class FleetNode {
  readonly keeper: LeaseKeeper;
  readonly assignments: Assignments;
  readonly capacity: number;
  private readonly loops: NodeLoops;
  private readonly inboxWatch: InboxWatch;
  private readonly receivingTimes: ReceivingTimes;
  private readonly timeline: TimelineWatch;
  private readonly parts: FleetNodeParts;
  private readonly times: NodeTimes;
  /** Until everything is released: leases are renewed and jobs kept. */
  private readonly closed = new AbortController();
  private readonly cutOff = new AbortController();
  private tasks: readonly Promise<void>[] = [];
  private changedSinceMs: number | null = null;
  private hasFetched = false;
  private fetches = 0;

  constructor(parts: FleetNodeParts) {
    const { process, daemonOf, tables, node, snapshots, snapshotEveryMs, engine, capacity } = parts;
    const { clock, log } = process;
    const times = { ...usualTimes, ...parts.times };
    this.inboxWatch = new InboxWatch(tables.inbox);
    this.receivingTimes = new ReceivingTimes(tables.receiving);
    this.timeline = new TimelineWatch({
      table: tables.timeline,
      stored: parts.storedMark,
      log,
      closed: this.closed.signal,
    });
    const keeper = new LeaseKeeper({ owners: tables.owners, node, clock, log });
    const shared = { runPlaces: new RunPlaces(), turns: new LoopTurns(() => clock.monotonicMs()) };
    const { inboxWatch, receivingTimes, timeline } = this;
    const cutOff = this.cutOff.signal;
    const watches = { inboxWatch, receivingTimes, timeline };
    const assignment = { shared, tables, snapshots, ...watches, cutOff, snapshotEveryMs };
    const { configOf, publishReport } = parts;
    this.parts = parts;
    this.capacity = capacity;
    this.times = times;
    this.keeper = keeper;
    this.loops = parts.loops;
    const held = { process, daemonOf, assignment, engine, keeper, configOf, publishReport, capacity, times };
    this.assignments = new Assignments(held);
  }

  /** Begins to take jobs. Throws MirrorError `database` where Postgres cannot be written. */
  async start(): Promise<void> {
    const { times, parts } = this;
    const { dataDir, tables, process } = parts;
    const { signal } = this.closed;
    await this.timeline.start();
    await tables.nodes.register(this.facts());
    await this.receivingTimes.read();
    const isHeld = (company: string) => this.assignments.has(company);
    const cache = new MirrorCache({ dataDir, ...tables, isHeld, ...process });
    const unattended = new UnattendedCompanies({ ...parts, ...process, isHeld, beat: () => this.beat() });
    const jittered = (ms: number) => ms * (0.75 + process.random.next() / 2);
    const steps: RepeatedStep[] = [
      { what: "taking jobs", everyMs: () => this.fetchPauseMs(), step: () => this.fetch() },
      { what: "looking for deliveries", everyMs: () => times.inboxMs, step: () => this.inboxWatch.look() },
      {
        what: "reading when deliveries were received",
        everyMs: () => times.receivingMs,
        step: () => this.receivingTimes.read(),
      },
      { what: "the node's heartbeat", everyMs: () => times.beatMs, step: () => this.beat() },
      {
        what: "noting the timeline",
        everyMs: () => jittered(times.markMs),
        needsStore: true,
        step: () => this.timeline.mark(),
      },
      {
        what: "looking for unattended companies",
        everyMs: () => jittered(times.unattendedMs),
        step: () => unattended.sendJobs(),
      },
      { what: "reading configs", everyMs: () => times.configMs, step: () => this.readConfigs() },
      { what: "pruning the disk", everyMs: () => times.cacheMs, step: () => cache.prune() },
      { what: "pruning Postgres", everyMs: () => jittered(times.pruneMs), step: () => this.prune() },
    ];
    this.tasks = [this.keeper.follow(signal), ...steps.map((step) => this.loops.repeat(step, signal))];
  }

  /** Releases everything; resolves when that is done, or cannot be done in time. */
  async stop(): Promise<void> {
    const { clock, log } = this.parts.process;
    const { assignments } = this;
    const { snapshots, signOff } = stopDeadlines;
    const done = new AbortController();
    void clock.sleep(snapshots, done.signal).then(() => this.cutOff.abort());
    const drained = Promise.all([assignments.drain("the node stops"), assignments.stopAfterRuns()]);
    await Promise.race([drained, clock.sleep(snapshots + signOff, done.signal)]);
    done.abort();
    const { size } = assignments;
    if (size > 0) log.warn("not everything could be released: other nodes take it over", { held: size });
    this.closed.abort();
    const signedOff = this.parts.tables.nodes
      .remove(this.parts.node)
      .catch((error: unknown) => log.warn("the node could not sign off", { error: messageOf(error) }));
    await Promise.race([Promise.all([signedOff, ...this.tasks]), clock.sleep(signOff)]);
  }

  private facts(): NodeFacts {
    const { node, role, capacity, process } = this.parts;
    return { node, role, capacity, version: process.version, held: this.assignments.size };
  }

  /** Takes no more jobs than there are places, so that other nodes get the rest. */
  private async fetch(): Promise<void> {
    const { assignments, parts } = this;
    this.hasFetched = false;
    // Each kind is the first one in its turn: where places are few, none waits for all of another.
    this.fetches++;
    for (const index of jobKinds.keys()) {
      const kind = jobKinds[(index + this.fetches) % jobKinds.length] ?? "run";
      const { freePlaces } = assignments;
      if (freePlaces === 0) return;
      const jobs = await parts.engine.fetch(kind, freePlaces);
      if (jobs.length === 0) continue;
      this.hasFetched = true;
      // Before anything is claimed.
      await this.timeline.look();
      for (const job of jobs) void assignments.open(job);
    }
  }

  private fetchPauseMs(): number {
    return this.hasFetched ? this.times.fetchMs : this.times.quietFetchMs;
  }

  private async beat(): Promise<void> {
    await this.timeline.beat();
    const { draining } = await this.parts.tables.nodes.beat(this.facts());
    if (draining && !this.assignments.draining) void this.assignments.drain("the node is drained");
  }

  private async readConfigs(): Promise<void> {
    const { companies, asOfMs } = await this.parts.tables.companies.list(this.changedSinceMs);
    for (const row of companies) await this.assignments.change(row);
    this.changedSinceMs = asOfMs;
  }

  private async prune(): Promise<void> {
    const { inbox, snapshots } = this.parts.tables;
    await this.pruneAll(async () => Number(await forgetRemoved(this.parts.postgres)));
    await this.pruneAll(() => inbox.prune());
    await this.pruneAll(() => snapshots.pruneChanges());
  }

  /** Some rows at a time, with pauses in which deliveries have the disk. */
  private async pruneAll(pruneSome: () => Promise<number>): Promise<void> {
    const { signal } = this.closed;
    while (!signal.aborted && (await pruneSome()) > 0)
      await this.parts.process.clock.sleep(prunePauseMs, signal);
  }
}
