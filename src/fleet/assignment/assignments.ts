import { hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import { secretTexts } from "../../config/companies.ts";
import type { Config } from "../../config/config.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { companyLog, type CompanySettings, type DaemonContext } from "../../daemon/daemon-context.ts";
import { AfterRunQueue, type AfterRunScope } from "../../daemon/after-run-queue.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import type { Job, JobEngine } from "../jobs/job-engine.ts";
import type { LeaseKeeper } from "../ownership/lease-keeper.ts";
import type { Lease, Ownership } from "../ownership/ownership.ts";
import type { CompanyRow } from "../postgres/tables/companies-table.ts";
import { noteUnpublished } from "../reports/report-files.ts";
import { Assignment, type AssignmentContext, type AssignmentEnd } from "./assignment.ts";
import { discardReport } from "./local-mirror.ts";

export interface AssignmentsParts {
  readonly process: Pick<ProcessContext, "clock" | "log">;
  readonly daemonOf: (config: Config) => Promise<DaemonContext>;
  readonly assignment: Omit<AssignmentContext, "daemon" | "shared" | "idleMs" | "rivalMs" | "openMs"> & {
    readonly shared: Omit<AssignmentContext["shared"], "afterRuns">;
  };
  readonly engine: Pick<JobEngine, "complete" | "sendLater">;
  readonly keeper: LeaseKeeper;
  /** The config of a company of the fleet on this node. Throws MirrorError `config`. */
  readonly configOf: (name: string, document: unknown) => Config;
  /** What follows a run was made. Gives why it could not be published; null: it is, or the company is lost. Never rejects. */
  readonly publishReport: (settings: CompanySettings, owner: Ownership) => Promise<string | null>;
  /** How many companies at once. */
  readonly capacity: number;
  readonly times: AssignmentsTimes;
}

/** Milliseconds. */
export interface AssignmentsTimes {
  /** A company without work is released after that; and after that where no place is free. */
  readonly idleMs: number;
  readonly fullIdleMs: number;
  /** A company is looked at again after that: one whose account is owned elsewhere, and one that failed. */
  readonly rivalMs: number;
  /** A company whose mirror cannot be used here is given back after that. */
  readonly openMs: number;
  /** After the first failure; twice that after the second, and so on. */
  readonly failedMs: number;
}

interface Counts {
  readonly claims: Record<"claimed" | "owned" | "account" | "removed" | "set_aside", number>;
  readonly ends: Record<AssignmentEnd["outcome"], number>;
  readonly snapshots: { readonly published: number; readonly failed: number };
  /** By status. */
  readonly requests: Readonly<Record<string, number>>;
}

interface Held {
  readonly assignment: Assignment;
  isEnding: boolean;
}

/**
 * The companies that this node holds, and those it is about to.
 *
 * Guarantee: at most one assignment of a company, and `capacity` that are owned. A job is completed when its company is
 * claimed, here or elsewhere; what it asked for is looked at after that moment.
 * Source of truth: this process's memory; who owns what is in Postgres.
 * Worst outcome of a crash: jobs that were not completed are given to other nodes, and so is what was claimed.
 */
export class Assignments {
  /** Takes no more companies. */
  draining = false;
  /** Of companies that are no longer held, besides claims. */
  private ended: Counts = {
    claims: { claimed: 0, owned: 0, account: 0, removed: 0, set_aside: 0 },
    ends: { released: 0, lost: 0, failed: 0 },
    snapshots: { published: 0, failed: 0 },
    requests: {},
  };
  private readonly parts: AssignmentsParts;
  private readonly held = new Map<string, Held>();
  private readonly claiming = new Set<string>();
  private readonly afterRuns: AfterRunQueue;

  constructor(parts: AssignmentsParts) {
    this.parts = parts;
    this.afterRuns = new AfterRunQueue((name, scope) => this.performAfterRun(name, scope));
  }

  /** Since the start. Each number only grows. */
  get counts(): Counts {
    const held = [...this.held.values()].filter(({ isEnding }) => !isEnding);
    return held.reduce((counts, { assignment }) => plus(counts, assignment), this.ended);
  }

  get size(): number {
    return this.held.size + this.claiming.size;
  }

  /** A lost company takes none: what is left of it ends, and a node that lost many takes others at once. */
  get freePlaces(): number {
    const owned = this.all().filter(({ lease }) => !lease.lost.aborted).length;
    return this.draining ? 0 : Math.max(0, this.parts.capacity - owned - this.claiming.size);
  }

  all(): Assignment[] {
    return [...this.held.values()].map(({ assignment }) => assignment);
  }

  /** Is it held, or about to be? */
  has(company: string): boolean {
    return this.held.has(company) || this.claiming.has(company);
  }

  find(company: string): Assignment | null {
    return this.held.get(company)?.assignment ?? null;
  }

  /**
   * Opens the company of a job, unless somebody looks at it. A job that comes while its company is ending is left, and
   * comes back. Never rejects.
   */
  async open(job: Job): Promise<void> {
    const { company } = job;
    if (this.held.get(company)?.isEnding) return;
    const isOpening = !this.has(company);
    if (isOpening) this.claiming.add(company);
    await this.logged(company, async () => {
      if (isOpening) await this.claim(company);
      await this.parts.engine.complete(job);
    });
    if (isOpening) this.claiming.delete(company);
  }

  /** The config of a company has changed, or it has left the fleet. */
  async change(row: CompanyRow): Promise<void> {
    const assignment = this.find(row.name);
    if (!assignment) return;
    if (row.removed) assignment.release("it has left the fleet");
    else if (JSON.stringify(row.config) !== assignment.document)
      await this.logged(row.name, () => this.reconfigure(assignment, row));
  }

  /** Releases everything and takes nothing more. Resolves when everything has ended. */
  async drain(why: string): Promise<void> {
    this.draining = true;
    for (const assignment of this.all()) assignment.release(why);
    while (this.size > 0) {
      for (const assignment of this.all()) assignment.release(why);
      await this.parts.process.clock.sleep(drainCheckMs);
    }
  }

  /** What follows runs is made no more. */
  async stopAfterRuns(): Promise<void> {
    await this.afterRuns.stop();
  }

  private async claim(company: string): Promise<void> {
    const { engine, keeper, times } = this.parts;
    const claimed = await keeper.claim(company);
    this.ended.claims["lease" in claimed ? "claimed" : claimed.refused]++;
    if ("lease" in claimed) await this.logged(company, () => this.begin(claimed.lease));
    else if (claimed.refused === "account") await engine.sendLater(company, times.rivalMs);
  }

  private async begin(lease: Lease): Promise<void> {
    const { assignment: shared, keeper, times } = this.parts;
    const { company } = lease;
    try {
      const row = await shared.tables.companies.find(company);
      if (!row || row.removed) return await keeper.release(lease);
      const { context, settings } = await this.prepare(row);
      const assignment = new Assignment(context, { lease, settings, row });
      this.held.set(company, { assignment, isEnding: false });
      void this.follow(assignment);
    } catch (error) {
      await keeper.release(lease, { why: messageOf(error), pauseMs: times.failedMs });
      throw error;
    }
  }

  /** Never rejects. */
  private async follow(assignment: Assignment): Promise<void> {
    const { company, lease } = assignment;
    const { engine, keeper, process, times } = this.parts;
    const end = await assignment.ended;
    const held = this.held.get(company);
    if (held) held.isEnding = true;
    this.ended = plus(this.ended, assignment);
    this.ended.ends[end.outcome]++;
    const nextWorkMs = end.outcome === "released" ? end.nextWorkMs : null;
    await keeper.release(lease, end.outcome === "failed" ? { why: end.why, pauseMs: times.failedMs } : null);
    // Afterwards: who takes a job of a company that is owned completes it.
    if (nextWorkMs !== null)
      await this.logged(company, () => engine.sendLater(company, nextWorkMs - process.clock.nowMs()));
    this.held.delete(company);
  }

  /** The same connector stays: another one is another company. */
  private async reconfigure(assignment: Assignment, row: CompanyRow): Promise<void> {
    const { settings } = await this.prepare(row);
    assignment.change(settings, row.config);
  }

  /** What a company is held with, by its config. Throws MirrorError `config`. */
  private async prepare({ name, config: document }: CompanyRow) {
    const { configOf, daemonOf, process, assignment, times } = this.parts;
    const config = configOf(name, document);
    const [company] = config.companies;
    if (!company) throw new MirrorError("config", `${name}: the document names no company`);
    const daemon = await daemonOf(config);
    daemon.onSecrets(secretTexts(config));
    const settings: CompanySettings = { config, company, resources: daemon.resourcesOf(config) };
    const { afterRuns } = this;
    const idleMs = () => (this.freePlaces > 0 ? times.idleMs : times.fullIdleMs);
    const shared = { ...assignment.shared, afterRuns };
    const log = companyLog(process.log, name);
    const { rivalMs, openMs } = times;
    const held = { ...assignment, daemon: { ...daemon, log }, shared };
    const context: AssignmentContext = { ...held, idleMs, rivalMs, openMs };
    return { context, settings };
  }

  /** Never rejects. */
  private async performAfterRun(name: string, scope: AfterRunScope): Promise<void> {
    const assignment = this.find(name);
    if (!assignment) return;
    const { publishReport, process } = this.parts;
    const { supervisor, lease, snapshots } = assignment;
    await this.logged(name, async () => {
      await supervisor.makeAfterRun(scope);
      // Changes that no snapshot has may be lost with this node; readers must not know their numbers then.
      const isSafe = await snapshots.publish(scope === "all" ? "after a run" : "before the report");
      const { settings } = supervisor;
      if (!isSafe && !lease.isHeld()) return discardReport(mirrorFiles(settings.config, name));
      const problem = isSafe
        ? await publishReport(settings, lease)
        : "the snapshot could not be published, and the report may not be ahead of it";
      if (problem !== null) noteUnpublished(settings.config, name, problem, process.clock.nowMs());
    });
  }

  private async logged(company: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.parts.process.log.warn(messageOf(error), { company, ...hintOf(error) });
    }
  }
}

const drainCheckMs = 50;

function plus(counts: Counts, { supervisor, snapshots }: Assignment): Counts {
  const requests = { ...counts.requests };
  for (const [status, count] of Object.entries(supervisor.requests))
    requests[status] = (requests[status] ?? 0) + count;
  const published = counts.snapshots.published + snapshots.published;
  const failed = counts.snapshots.failed + snapshots.failed;
  return { ...counts, snapshots: { published, failed }, requests };
}
