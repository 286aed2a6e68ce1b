import { hintOf, messageOf } from "../../base/errors.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { writeFileAtomically } from "../../base/files/atomic-file.ts";
import type { CompanySettings } from "../../store/mirror-files.ts";
import { CompanySupervisor } from "../../host/company-supervisor.ts";
import type { HostContext } from "../../host/host-context.ts";
import { noteGiven } from "../../state/log-identity.ts";
import { stopDeadlines } from "../../runs/process-context.ts";
import { UptimeLog } from "../../state/uptime-log.ts";
import type { Lease } from "../ownership/ownership.ts";
import type { CompanyRow } from "../postgres/tables/companies-table.ts";
import type { Timeline } from "../postgres/tables/timeline-table.ts";
import { createCompanyAlerts } from "./company-alerts.ts";
import { createCompanySnapshots } from "./company-snapshots.ts";
import { followInbox } from "./drain.ts";
import {
  abandonMirror,
  continuesLocally,
  createTroubleWatch,
  discardMirror,
  discardReport,
  noteOwnership,
} from "./local-mirror.ts";
import { createMonthPackages } from "./month-packages.ts";
import { createFleetPermits } from "./permits.ts";
import type { NodeContext } from "./node-context.ts";

interface AssignmentEnd {
  readonly outcome: "released" | "lost" | "failed";
  /** Of a released one: when there is something to do again, epoch ms; null: nothing is known. */
  readonly nextWorkMs: number | null;
  /** Why it could not be held; null: it could. */
  readonly failure: string | null;
}

const lookEveryMs = 1_000;

/**
 * One company on this node, from its claim to its release.
 *
 * Guarantee: when the ownership ends everything ends at once, and nothing is sent, published or stored for others any
 * more. `ended` never rejects; what is released is the caller's to give back.
 * Source of truth: while the company is owned the mirror in the data folder, otherwise the published snapshot.
 * Worst outcome of a crash: the next owner starts from the snapshot, and this node, if it is the next, from its file.
 */
export class Assignment {
  readonly company: string;
  readonly lease: Lease;
  readonly supervisor: CompanySupervisor;
  readonly ended: Promise<AssignmentEnd>;
  readonly snapshots: ReturnType<typeof createCompanySnapshots>;
  readonly packages: ReturnType<typeof createMonthPackages>;
  private readonly context: NodeContext;
  private readonly host: HostContext;
  private readonly releasing = new AbortController();
  /** Of a package or a fetch: both write the files. */
  private readonly filesTurn = new Semaphore(1);
  /** Files were fetched for a minute, since it is held; and are being fetched, or were when it was released. */
  private hasFetched = false;
  private hasFilesLeft = false;
  /** The config in Postgres that the settings are from, as JSON. */
  document: string;
  private readonly permits: ReturnType<typeof createFleetPermits>;
  private readonly idleMs: () => number;
  private readonly hasLongTrouble: ReturnType<typeof createTroubleWatch>;
  /** Monotonic. */
  private idleSinceMs: number | null = null;
  /** It has ended, and is being given back. */
  isEnding = false;

  constructor(
    context: NodeContext,
    host: HostContext,
    lease: Lease,
    settings: CompanySettings,
    row: Pick<CompanyRow, "account" | "config" | "addedAtMs" | "lastSeq">,
    idleMs: () => number,
    snapshotCounts: Record<"published" | "failed", number>,
  ) {
    const { tables, receivedSpans, inboxWatch } = context;
    const { clock, log, turns } = host;
    const { company, lost } = lease;
    /** At the claim: a later one ends the ownership. */
    const timeline = context.timeline.current();
    this.company = company;
    this.lease = lease;
    this.context = context;
    this.host = host;
    this.idleMs = idleMs;
    this.document = JSON.stringify(row.config);
    this.hasLongTrouble = createTroubleWatch(context.times.openMs);
    const { windowMs } = settings.config.rateLimit;
    const supervisorNow = () => this.supervisor;
    this.permits = createFleetPermits(lease, tables.companies, row.account, windowMs, supervisorNow, host);
    const { setBackToMs, startedMs } = timeline;
    // What was received before may be lost with what the backup lacks.
    const fromMs = Math.max(row.addedAtMs, setBackToMs === null ? 0 : startedMs);
    const mergeReceived = (uptime: UptimeLog) => uptime.merge(receivedSpans(), fromMs);
    const afterRuns: HostContext["afterRuns"] = {
      isPending: (name) => host.afterRuns.isPending(name),
      add: (name, scope, closed) =>
        scope === "files" ? this.fetchFiles() : host.afterRuns.add(name, scope, closed),
    };
    this.supervisor = new CompanySupervisor({ ...host, afterRuns }, settings, {
      isHeld: () => lease.isHeld(),
      requests: this.permits,
      mergeReceived,
      onOpen: (mirror) => {
        noteOwnership(mirror, lease, timeline);
        mergeReceived(new UptimeLog(mirror.db));
      },
      followInbox: ({ mirror, ingest }, closed) => {
        const parts = { company, inbox: tables.inbox, mirror, ingest, turns, clock, log, closed };
        return followInbox(parts, inboxWatch);
      },
      sharedSeq: () => this.snapshots.sharedSeq(),
      onPushed: () => this.snapshots.noteNews(),
    });
    this.snapshots = createCompanySnapshots(lease, context, host, this.supervisor, snapshotCounts);
    const { permits, supervisor, filesTurn } = this;
    const publishMirror = () => this.snapshots.publish("a month was packed", true);
    this.packages = createMonthPackages(lease, context, host, permits, supervisor, publishMirror, filesTurn);
    lost.addEventListener("abort", () => void this.supervisor.stop(0), { once: true });
    this.ended = this.hold(timeline, row.lastSeq);
  }

  change(settings: CompanySettings, document: unknown): void {
    this.document = JSON.stringify(document);
    this.supervisor.change(settings);
  }

  /** Ends it as soon as what is under way can be resumed: the company is published and released. */
  release(why: string): void {
    if (!this.releasing.signal.aborted) this.host.log.info("the company is being released", { why });
    this.releasing.abort(why);
  }

  private async hold(timeline: Timeline, forgottenSeq: number): Promise<AssignmentEnd> {
    const { lease, supervisor, context, host } = this;
    const over = new AbortController();
    const alerts = createCompanyAlerts(lease, context, host, supervisor);
    let alerting: Promise<void> | null = null;
    try {
      await this.prepare(timeline, forgottenSeq);
      await alerts.takeOver();
      // What this node made and did not publish is due.
      const { steps } = await context.tables.companies.notesOf(this.company);
      writeFileAtomically(this.files.afterRun, JSON.stringify(steps ?? {}));
      supervisor.start();
      alerting = alerts.follow(AbortSignal.any([lease.lost, over.signal]));
      await this.workUntilReleased();
      await this.stopMaking();
      const nextWorkMs = this.hasFilesLeft ? host.clock.nowMs() : supervisor.nextWorkMs();
      await supervisor.stop(this.permits.rival() === null ? stopDeadlines.releasedRequests : 0);
      const isPublished = await this.snapshots.publishLast("last");
      if (!lease.isHeld()) return this.lost();
      // What only this node has is read again by whoever takes the company.
      const dueMs = isPublished ? nextWorkMs : host.clock.nowMs();
      return { outcome: "released", nextWorkMs: dueMs, failure: null };
    } catch (error) {
      await this.stopMaking();
      await supervisor.stop(0);
      if (!lease.isHeld()) return this.lost();
      host.log.error(messageOf(error), hintOf(error));
      return { outcome: "failed", nextWorkMs: null, failure: messageOf(error) };
    } finally {
      over.abort();
      await alerting;
    }
  }

  /** Fetches files for a while, by the permits of this ownership, which no other process has. */
  private async fetchFiles(): Promise<void> {
    const { lease, supervisor, snapshots, permits, host, company } = this;
    const { packagePlaces, cutOff, publish } = this.context;
    const signal = AbortSignal.any([lease.lost, cutOff, this.releasing.signal]);
    this.hasFilesLeft = true;
    using place = await packagePlaces.acquire(signal);
    using turn = place && (await this.filesTurn.acquire(signal));
    if (!turn) return;
    const isAll = await publish.files(supervisor.settings, permits, signal).finally(snapshots.noteNews);
    this.hasFetched = true;
    this.hasFilesLeft = signal.aborted;
    if (isAll) void host.afterRuns.add(company, "report");
  }

  /** Resolves when no package is made and no file is fetched any more. */
  private async stopMaking(): Promise<void> {
    this.releasing.abort();
    await this.packages.stop();
    using _ = await this.filesTurn.acquire();
  }

  private lost(): AssignmentEnd {
    const { epoch, endedBecause } = this.lease;
    const what = "the company is lost: nothing more is sent, stored or published for it here";
    this.host.log.warn(what, { epoch, why: endedBecause ?? "" });
    return { outcome: "lost", nextWorkMs: null, failure: null };
  }

  /** Has the newest state of the company in the data folder. */
  private async prepare(timeline: Timeline, forgottenSeq: number): Promise<void> {
    const { lease, context, files } = this;
    const { log } = this.host;
    const { epoch } = lease;
    const pointer = await context.snapshots.current(this.company, timeline, lease.lost);
    this.snapshots.takeOver(pointer);
    if (continuesLocally(files, lease, pointer))
      return log.info("claimed: goes on from the mirror that is here", { epoch });
    discardReport(files);
    if (!pointer) {
      discardMirror(files);
      noteGiven(files.mirror, forgottenSeq);
      return log.info("claimed: begins with an empty mirror", { epoch });
    }
    await context.snapshots.restore(pointer, files, lease.lost);
    const { id, seq, epoch: from } = pointer;
    log.info("claimed: restored from a snapshot", { epoch, snapshot: id, of_epoch: from, seq });
  }

  private get files() {
    return this.supervisor.settings.files;
  }

  private async workUntilReleased(): Promise<void> {
    const { clock } = this.host;
    const ending = AbortSignal.any([this.lease.lost, this.releasing.signal]);
    for (; !ending.aborted; await clock.sleep(lookEveryMs, ending)) {
      const { opened, problem } = this.supervisor;
      if (this.hasLongTrouble(problem, clock.monotonicMs())) {
        await this.supervisor.stop(0);
        // Whoever takes the company next restores it.
        abandonMirror(this.files, problem ?? "");
      }
      if (!opened) continue;
      await this.permits.isAccountNoted();
      const rival = this.permits.rival();
      if (rival !== null) this.release(`${rival} has a token of the same company, and is owned now`);
      await this.snapshots.publishIfDue(this.supervisor.counters.lastRun);
      this.packages.makeIfAsked();
      if (await this.isIdle()) this.release("there is nothing to do");
    }
  }

  /** Nothing was under way for a while, nothing is due soon, and the mirror is published. */
  private async isIdle(): Promise<boolean> {
    const { company, supervisor, context } = this;
    const { clock, afterRuns } = this.host;
    const idleMs = this.idleMs();
    const nextMs = supervisor.nextWorkMs();
    // Where no place is free others have theirs first: the company is taken again for what is left.
    const isOthersTurn = this.hasFetched && idleMs === context.times.fullIdleMs;
    const isBusy =
      (this.hasFilesLeft && !isOthersTurn) ||
      (nextMs !== null && nextMs < clock.nowMs() + idleMs) ||
      !context.inboxWatch.isDrained(company) ||
      afterRuns.isPending(company) ||
      this.packages.isPending();
    if (isBusy) this.idleSinceMs = null;
    else this.idleSinceMs ??= clock.monotonicMs();
    if (this.idleSinceMs === null || clock.monotonicMs() - this.idleSinceMs < idleMs) return false;
    // Where the store is away, the next attempt comes after as long.
    this.idleSinceMs = null;
    return this.snapshots.publishLast("before the release");
  }
}
