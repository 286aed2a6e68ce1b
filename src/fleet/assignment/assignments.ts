import { rmSync } from "node:fs";
import { hintOf, messageOf } from "../../base/errors.ts";
import { companyLog, type HostContext } from "../../host/host-context.ts";
import { AfterRunQueue, type AfterRunScope } from "../../host/after-run-queue.ts";
import { createRunPlaces } from "../../runs/run-queue.ts";
import { backupStep, readSteps } from "../../status/after-run-record.ts";
import { LoopTurns } from "../../store/transient-errors.ts";
import type { FleetJob } from "../jobs/job-engine.ts";
import { whileOwned, type Lease } from "../ownership/ownership.ts";
import type { CompanyRow } from "../postgres/tables/companies-table.ts";
import { noteUnpublished } from "../reports/publish-reports.ts";
import { Assignment } from "./assignment.ts";
import { discardReport } from "./local-mirror.ts";
import type { NodeContext } from "./node-context.ts";

/**
 * The companies that this node holds, and those it is about to.
 *
 * Guarantee: at most one assignment of a company, and `capacity` that are owned. A job is completed when its company is
 * claimed, here or elsewhere; what it asked for is looked at after that moment.
 * Source of truth: this process's memory; who owns what is in Postgres.
 * Worst outcome of a crash: jobs that were not completed are given to other nodes, and so is what was claimed.
 */
export class Assignments {
  draining = false;
  /** Since the start. Each number only grows. */
  readonly counts = {
    claims: { claimed: 0, owned: 0, account: 0, removed: 0, set_aside: 0 },
    ends: { released: 0, lost: 0, failed: 0 },
    snapshots: { published: 0, failed: 0 },
  };
  /** For companies that are no longer held, by status. */
  private readonly endedRequests: Record<string, number> = {};
  private readonly context: NodeContext;
  private readonly held = new Map<string, Assignment>();
  private readonly claiming = new Set<string>();
  readonly afterRuns = new AfterRunQueue((name, scope) => this.performAfterRun(name, scope));
  private readonly host: HostContext;

  constructor(context: NodeContext) {
    const { host } = context;
    this.context = context;
    this.host = {
      ...host,
      strayRefusals: {},
      runPlaces: createRunPlaces(),
      afterRuns: this.afterRuns,
      turns: new LoopTurns(() => host.clock.monotonicMs()),
    };
  }

  /** Requests to the service since the start, by status. */
  get requests(): Readonly<Record<string, number>> {
    const counts = { ...this.endedRequests };
    for (const { isEnding, supervisor } of this.all()) if (!isEnding) addTo(counts, supervisor.requests);
    return counts;
  }

  get size(): number {
    return this.held.size + this.claiming.size;
  }

  /** A lost company takes none: what is left of it ends, and a node that lost many takes others at once. */
  get freePlaces(): number {
    const owned = this.all().filter(({ lease }) => !lease.lost.aborted).length;
    return this.draining ? 0 : Math.max(0, this.context.node.capacity - owned - this.claiming.size);
  }

  all(): Assignment[] {
    return [...this.held.values()];
  }

  has(company: string): boolean {
    return this.held.has(company) || this.claiming.has(company);
  }

  find(company: string): Assignment | null {
    return this.held.get(company) ?? null;
  }

  /**
   * Opens the company of a job, unless somebody looks at it. A job that comes while its company is ending is left, and
   * comes back. Never rejects.
   */
  async open(job: FleetJob): Promise<void> {
    const { company } = job;
    const { engine, times } = this.context;
    if (this.held.get(company)?.isEnding) return;
    const isOpening = !this.has(company);
    if (isOpening) this.claiming.add(company);
    await this.logged(company, async () => {
      const hasRival = isOpening && (await this.claim(company)) === "account";
      await engine.complete(job);
      // Afterwards: beside a job for later that is taken another one is not sent.
      if (hasRival) await engine.sendLater(company, times.rivalMs);
    });
    if (isOpening) this.claiming.delete(company);
  }

  /** The config of a company has changed, or it has left the fleet. The same connector stays: another one is another company. */
  async change(row: CompanyRow): Promise<void> {
    const assignment = this.find(row.name);
    if (!assignment) return;
    if (row.removed) assignment.release("it has left the fleet");
    else if (JSON.stringify(row.config) !== assignment.document)
      await this.logged(row.name, async () => assignment.change(await this.context.load(row), row.config));
  }

  /** Releases everything and takes nothing more. Resolves when everything has ended. */
  async drain(why: string): Promise<void> {
    this.draining = true;
    for (;;) {
      for (const assignment of this.all()) assignment.release(why);
      if (this.size === 0) return;
      await this.context.host.clock.sleep(drainCheckMs);
    }
  }

  private async claim(company: string): Promise<keyof Assignments["counts"]["claims"]> {
    const claimed = await this.context.keeper.claim(company);
    const outcome = "lease" in claimed ? "claimed" : claimed.refused;
    this.counts.claims[outcome]++;
    if ("lease" in claimed) await this.logged(company, () => this.begin(claimed.lease));
    return outcome;
  }

  private async begin(lease: Lease): Promise<void> {
    const { tables, keeper, times } = this.context;
    const { company } = lease;
    try {
      const row = await tables.companies.find(company);
      if (!row || row.removed) return await keeper.release(lease);
      const settings = await this.context.load(row);
      const host = { ...this.host, log: companyLog(this.host.log, company) };
      const idleMs = () => (this.freePlaces > 0 ? times.idleMs : times.fullIdleMs);
      const { snapshots } = this.counts;
      const assignment = new Assignment(this.context, host, lease, settings, row, idleMs, snapshots);
      this.held.set(company, assignment);
      void this.follow(assignment);
    } catch (error) {
      await keeper.release(lease, { why: messageOf(error), pauseMs: times.failedMs });
      throw error;
    }
  }

  /** Never rejects. */
  private async follow(assignment: Assignment): Promise<void> {
    const { company, lease } = assignment;
    const { engine, keeper, host, tables, times } = this.context;
    const { outcome, nextWorkMs, failure } = await assignment.ended;
    assignment.isEnding = true;
    addTo(this.endedRequests, assignment.supervisor.requests);
    this.counts.ends[outcome]++;
    await keeper.release(lease, failure === null ? null : { why: failure, pauseMs: times.failedMs });
    // Afterwards: who takes a job of a company that is owned completes it.
    if (nextWorkMs !== null)
      await this.logged(company, async () => {
        // `fleet add` sends a job, too; one that came while the company was still held is completed.
        const row = await tables.companies.find(company);
        const isChanged = JSON.stringify(row?.config) !== assignment.document;
        await engine.sendLater(company, isChanged ? 0 : nextWorkMs - host.clock.nowMs());
      });
    this.held.delete(company);
  }

  /** Never rejects. */
  private async performAfterRun(name: string, scope: AfterRunScope): Promise<void> {
    const assignment = this.find(name);
    if (!assignment) return;
    const { publish, host, tables } = this.context;
    const { supervisor, lease, snapshots } = assignment;
    const { settings } = supervisor;
    const { files } = settings;
    await this.logged(name, async () => {
      // Only what is made by this owner from now on may be sent.
      rmSync(files.unsentExports, { recursive: true, force: true });
      await supervisor.makeAfterRun(scope);
      const note = (steps: ReturnType<typeof readSteps>) =>
        whileOwned(lease, () => tables.companies.note(lease, "steps", steps));
      if (scope === "backup") {
        // That it was made or not, and for which time, is in no position of the mirror.
        snapshots.noteNews();
        const { [backupStep]: made } = readSteps(files.afterRun);
        const { steps } = await tables.companies.notesOf(name);
        return note({ ...steps, ...(made && { [backupStep]: made }) });
      }
      // Changes that no snapshot has may be lost with this node; readers must not know their numbers then.
      const isSafe = await snapshots.publish(scope === "all" ? "after a run" : "before the report");
      if (!isSafe && !lease.isHeld()) return discardReport(files);
      const refused = isSafe ? null : "the snapshot could not be published, and nothing may be ahead of it";
      const problem = refused ?? (await publish.report(settings, lease));
      if (problem !== null) noteUnpublished(settings, problem, host.clock.nowMs());
      if (!(await publish.exports(settings, lease, refused))) snapshots.noteNews();
      // Otherwise the next owner makes all of it at once.
      if (problem === null) await note(readSteps(files.afterRun));
    });
  }

  private async logged(company: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.context.host.log.warn(messageOf(error), { company, ...hintOf(error) });
    }
  }
}

const drainCheckMs = 50;

function addTo(counts: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [status, count] of Object.entries(more)) counts[status] = (counts[status] ?? 0) + count;
}
