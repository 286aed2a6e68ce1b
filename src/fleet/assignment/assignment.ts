import { hintOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { mirrorFiles, type MirrorFiles } from "../../config/mirror-files.ts";
import { CompanySupervisor } from "../../daemon/company-supervisor.ts";
import type { CompanySettings, DaemonContext } from "../../daemon/daemon-context.ts";
import { noteGiven } from "../../state/log-identity.ts";
import { stopDeadlines } from "../../runs/process-context.ts";
import type { Mirror } from "../../state/mirror.ts";
import { UptimeLog, type Span } from "../../state/uptime-log.ts";
import type { Lease } from "../ownership/ownership.ts";
import type { CompanyRow } from "../postgres/tables/companies-table.ts";
import type { Timeline } from "../postgres/tables/timeline-table.ts";
import { notePublished } from "../reports/publish-reports.ts";
import { createCompanyAlerts } from "./company-alerts.ts";
import { createCompanySnapshots } from "./company-snapshots.ts";
import { createInboxFollower } from "./drain.ts";
import {
  abandonMirror,
  continuesLocally,
  discardMirror,
  discardReport,
  createTroubleWatch,
  noteEpoch,
  noteTimeline,
} from "./local-mirror.ts";
import { createMonthPackages } from "./month-packages.ts";
import { createFleetPermits } from "./permits.ts";
import type { NodeContext } from "./node-context.ts";

type AssignmentEnd =
  | {
      readonly outcome: "released";
      /** When there is something to do again, epoch ms; null: nothing is known. */
      readonly nextWorkMs: number | null;
    }
  | { readonly outcome: "lost"; readonly why: string }
  | { readonly outcome: "failed"; readonly why: string };

/** How often an assignment looks whether something is to be done. */
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
  private readonly daemon: DaemonContext;
  private readonly files: MirrorFiles;
  private readonly log: Log;
  private readonly releasing = new AbortController();
  /** The config in Postgres that the settings are from, as JSON. */
  document: string;
  private readonly permits: ReturnType<typeof createFleetPermits>;
  private readonly idleMs: () => number;
  private readonly forgottenSeq: number;
  private readonly receivedSpans: () => readonly Span[];
  private readonly inbox: ReturnType<typeof createInboxFollower>;
  private readonly hasLongTrouble: ReturnType<typeof createTroubleWatch>;
  /** Monotonic. */
  private idleSinceMs: number | null = null;
  /** At the claim: a later one ends the ownership. */
  private readonly timeline: Timeline;

  constructor(
    context: NodeContext,
    daemon: DaemonContext,
    lease: Lease,
    settings: CompanySettings,
    row: Pick<CompanyRow, "account" | "config" | "addedAtMs" | "lastSeq">,
    idleMs: () => number,
  ) {
    const { tables, receivingTimes, inboxWatch, timeline } = context;
    const { clock, log, manifest, turns } = daemon;
    const { company, lost } = lease;
    this.company = company;
    this.lease = lease;
    this.context = context;
    this.daemon = daemon;
    this.log = log;
    this.files = mirrorFiles(settings.config, company);
    this.idleMs = idleMs;
    this.document = JSON.stringify(row.config);
    this.forgottenSeq = row.lastSeq;
    this.hasLongTrouble = createTroubleWatch(context.times.openMs);
    this.snapshots = createCompanySnapshots(
      lease,
      context,
      daemon,
      () => ({ ...this.supervisor.settings, manifest }),
      () => this.requests,
    );
    this.permits = createFleetPermits({
      lease,
      companies: tables.companies,
      account: row.account,
      windowMs: settings.config.rateLimit.windowMs,
      meta: () => this.supervisor.opened?.mirror.meta ?? null,
      baseUrl: () => this.supervisor.settings.config.baseUrl,
      onRival: (rival) => this.release(`${rival} has a token of the same company, and is owned now`),
      context: daemon,
    });
    this.packages = createMonthPackages(
      lease,
      context,
      daemon,
      this.permits,
      () => this.supervisor,
      () => this.snapshots.publish("a month was packed", true),
    );
    this.inbox = createInboxFollower({ company, inbox: tables.inbox, turns, clock, log }, inboxWatch, lost);
    this.timeline = timeline.current;
    const { setBackToMs, startedMs } = this.timeline;
    // What was received before may be lost with what the backup lacks.
    this.receivedSpans = receivingTimes.since(Math.max(row.addedAtMs, setBackToMs === null ? 0 : startedMs));
    this.supervisor = new CompanySupervisor(daemon, settings, {
      isHeld: () => lease.isHeld(),
      requests: this.permits,
      receivedSpans: this.receivedSpans,
      onOpen: (mirror) => this.noteOpened(mirror),
    });
    lost.addEventListener("abort", () => void this.supervisor.stop(0), { once: true });
    this.ended = this.hold();
  }

  /** Requests that were sent since the claim. */
  private get requests(): number {
    return Object.values(this.supervisor.requests).reduce((sum, count) => sum + count, 0);
  }

  /** Changes the settings; what runs ends where it can be resumed. */
  change(settings: CompanySettings, document: unknown): void {
    this.document = JSON.stringify(document);
    this.supervisor.change(settings);
  }

  /** Ends it as soon as what is under way can be resumed: the company is published and released. */
  release(why: string): void {
    if (!this.releasing.signal.aborted) this.log.info("the company is being released", { why });
    this.releasing.abort(why);
  }

  private async hold(): Promise<AssignmentEnd> {
    const { lease, supervisor, context, log } = this;
    const over = new AbortController();
    const alerts = createCompanyAlerts(lease, context, this.daemon, supervisor);
    let alerting: Promise<void> | null = null;
    try {
      await this.prepare();
      await alerts.takeOver();
      const published = await context.tables.reports.current(this.company);
      notePublished(supervisor.settings.config, this.company, published);
      supervisor.start();
      alerting = alerts.follow(AbortSignal.any([lease.lost, over.signal]));
      await this.workUntilReleased();
      await this.packages.stop();
      const nextWorkMs = this.permits.hasRival()
        ? this.daemon.clock.nowMs() + context.times.rivalMs
        : supervisor.nextWorkMs();
      this.inbox.stop();
      await supervisor.stop(this.permits.hasRival() ? 0 : stopDeadlines.releasedRequests);
      const isPublished = await this.snapshots.publish("last");
      if (!lease.isHeld()) return this.lost();
      // What only this node has is read again by whoever takes the company.
      const nextMs = isPublished ? nextWorkMs : this.daemon.clock.nowMs();
      return { outcome: "released", nextWorkMs: nextMs };
    } catch (error) {
      this.inbox.stop();
      await this.packages.stop();
      await supervisor.stop(0);
      if (!lease.isHeld()) return this.lost();
      log.error(messageOf(error), hintOf(error));
      return { outcome: "failed", why: messageOf(error) };
    } finally {
      over.abort();
      await alerting;
    }
  }

  private lost(): AssignmentEnd {
    const why = this.lease.endedBecause ?? "";
    this.log.warn("the company is lost: nothing more is sent, stored or published for it here", {
      epoch: this.lease.epoch,
      why,
    });
    return { outcome: "lost", why };
  }

  /** Has the newest state of the company in the data folder. */
  private async prepare(): Promise<void> {
    const { lease, files, context, log } = this;
    const { epoch } = lease;
    const pointer = await context.snapshots.current(this.company, this.timeline, lease.lost);
    if (continuesLocally(files, lease, pointer))
      return log.info("claimed: goes on from the mirror that is here", { epoch });
    discardReport(files);
    if (!pointer) {
      discardMirror(files);
      noteGiven(files.mirror, this.forgottenSeq);
      return log.info("claimed: begins with an empty mirror", { epoch });
    }
    await context.snapshots.restore(pointer, files, lease.lost);
    const { id, seq, epoch: from } = pointer;
    log.info("claimed: restored from a snapshot", { epoch, snapshot: id, of_epoch: from, seq });
  }

  /** The mirror is open; nothing was read or sent yet. */
  private noteOpened(mirror: Mirror): void {
    noteTimeline(mirror, this.timeline);
    noteEpoch(mirror, this.lease);
    new UptimeLog(mirror.db).merge(this.receivedSpans());
  }

  private async workUntilReleased(): Promise<void> {
    const { clock } = this.daemon;
    const ending = AbortSignal.any([this.lease.lost, this.releasing.signal]);
    for (; !ending.aborted; await clock.sleep(lookEveryMs, ending)) {
      const { opened } = this.supervisor;
      if (this.hasLongTrouble(this.supervisor.problem, clock.monotonicMs())) await this.giveUpMirror();
      if (!opened) continue;
      this.inbox.follow(opened);
      await this.permits.isAccountNoted();
      await this.snapshots.publishIfDue(this.supervisor.counters.lastRun);
      this.packages.makeIfAsked();
      if (await this.isIdle()) this.release("there is nothing to do");
    }
  }

  /** Ends it as failed: whoever takes the company next restores it. */
  private async giveUpMirror(): Promise<never> {
    const why = this.supervisor.problem ?? "";
    await this.supervisor.stop(0);
    return abandonMirror(this.files, why);
  }

  /** Nothing was under way for a while, nothing is due soon, and the mirror is published. */
  private async isIdle(): Promise<boolean> {
    const { company, supervisor, context } = this;
    const { clock, afterRuns } = this.daemon;
    const idleMs = this.idleMs();
    const nextMs = supervisor.nextWorkMs();
    const isBusy =
      (nextMs !== null && nextMs < clock.nowMs() + idleMs) ||
      !context.inboxWatch.isDrained(company) ||
      afterRuns.isPending(company) ||
      this.packages.isPending();
    if (isBusy) this.idleSinceMs = null;
    else this.idleSinceMs ??= clock.monotonicMs();
    if (this.idleSinceMs === null || clock.monotonicMs() - this.idleSinceMs < idleMs) return false;
    return this.snapshots.publish("before the release");
  }
}
