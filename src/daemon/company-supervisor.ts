import { mkdirSync } from "node:fs";
import { messageOf, MirrorError } from "../base/errors.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import type { CompanyStatusView } from "../status/company-status.ts";
import { lockHolder, takeWriterLock, type WriterLock } from "../store/writer-lock.ts";
import { guarded } from "../store/database.ts";
import type { Ingest } from "../webhook/ingest/ingest.ts";
import { graceMs, CompanyRuntime } from "./company-runtime.ts";
import type { AfterRun, Settings, SupervisorParts } from "./company-settings.ts";
import { renewalNeeded } from "./restart-check.ts";
import type { EndedRun } from "./runs/run-queue.ts";
import { readCompanyStatus, type Counted } from "./status-reader.ts";
import { Totals } from "./counters.ts";

/** How soon a lock held by another process is asked for again, and a file that could not be opened. */
const lockAgainMs = 2_000;
const openAgainMs = 30_000;

/** A look that took longer is followed by a rest of so many times as long. */
const longLookMs = 20;
const restAfterLook = 20;

/**
 * One company in the daemon. Whatever happens to its mirror, its token or its service stays its own: the
 * station tells it, takes no deliveries meanwhile where it must, and tries again.
 */
export class CompanySupervisor {
  readonly name: string;
  private readonly parts: SupervisorParts;
  private settings: Settings;
  private readonly stopped = new AbortController();
  private readonly cut = new AbortController();
  private renewal = new AbortController();
  private life: CompanyRuntime | null = null;
  private without: CompanyStatusView["service"];
  private seen: {
    readonly view: CompanyStatusView;
    readonly life: CompanyRuntime | null;
    readonly untilMs: number;
  } | null = null;
  private readonly counted: Counted = { totals: new Totals(), runs: {}, deliveries: {}, lastRun: null };
  private readonly ended: Promise<void>;

  constructor(parts: SupervisorParts, settings: Settings) {
    this.name = settings.company.name;
    this.parts = parts;
    this.settings = settings;
    this.without = { state: "starting", message: null, sinceMs: parts.clock.nowMs() };
    this.ended = this.exist();
  }

  mailbox(): Ingest | "closed" {
    return this.life?.mailbox ?? "closed";
  }

  /** Looking takes the only thread there is: where queue and inbox are long, what was seen a moment ago will do. */
  view(): CompanyStatusView {
    const { settings, counted, without, life, seen } = this;
    const { clock } = this.parts;
    const beganMs = clock.monotonicMs();
    if (seen && seen.life === life && beganMs < seen.untilMs) return seen.view;
    const view = readCompanyStatus({ ...this.parts, settings, counted, without, life });
    const endedMs = clock.monotonicMs();
    const tookMs = endedMs - beganMs;
    this.seen = tookMs > longLookMs ? { view, life, untilMs: endedMs + tookMs * restAfterLook } : null;
    return view;
  }

  /** An event came. */
  stored(): void {
    this.life?.tender.wake();
  }

  answered(result: string): void {
    const { deliveries } = this.counted;
    deliveries[result] = (deliveries[result] ?? 0) + 1;
  }

  /** From now on with these. What is under way ends where it can be gone on with, if it must. */
  change(settings: Settings): void {
    const renew = renewalNeeded(this.settings, settings);
    this.settings = settings;
    if (renew) this.renewal.abort();
  }

  /** Resolves when the mirror is closed and its lock released. */
  async stop(): Promise<void> {
    this.stopped.abort();
    const late = setTimeout(() => this.cut.abort(), graceMs);
    await this.ended.finally(() => clearTimeout(late));
  }

  /** Never rejects: what nobody foresaw ends this station only. */
  private async exist(): Promise<void> {
    try {
      const lock = await this.takeLock();
      try {
        while (!this.stopped.signal.aborted) await this.oneLife();
      } finally {
        lock?.release();
      }
    } catch (error) {
      this.parts.log.error("the company's station ended", { error: messageOf(error) });
      this.say("database", messageOf(error));
    }
  }

  /** Null: stopped before it was free. */
  private async takeLock(): Promise<WriterLock | null> {
    const { clock, log } = this.parts;
    let told: string | null = null;
    while (!this.stopped.signal.aborted) {
      try {
        return this.lock();
      } catch (error) {
        const message = messageOf(error);
        if (message !== told) log.warn(`waiting: ${message}`, hintOf(error));
        told = message;
        this.say("database", message);
        await clock.sleep(lockAgainMs, this.stopped.signal);
      }
    }
    return null;
  }

  private lock(): WriterLock {
    const { config } = this.settings;
    const files = mirrorFiles(config, this.name);
    guarded(config.dataDir, () => mkdirSync(config.dataDir, { recursive: true }));
    // a look first: asking for a lock that is held makes the other companies wait, too
    const holder = lockHolder(files.lock);
    if (holder !== null) throw new MirrorError("locked", `the mirror is being written by ${holder}`);
    return takeWriterLock(files.lock, "serve");
  }

  private async oneLife(): Promise<void> {
    const { clock, log } = this.parts;
    this.renewal = new AbortController();
    const closed = AbortSignal.any([this.stopped.signal, this.renewal.signal]);
    try {
      this.life = await this.open(closed);
      this.say("starting", null);
      if (this.life.receives) log.info("the mirror is open: deliveries are taken");
      else
        log.warn("the mirror is open; without a webhook secret no delivery can be taken, only runs are made");
      await this.life.live();
    } catch (error) {
      this.life = null;
      log.error(messageOf(error), hintOf(error));
      this.say("database", messageOf(error));
      await clock.sleep(openAgainMs, closed);
    } finally {
      this.life = null;
    }
  }

  private open(closed: AbortSignal): Promise<CompanyRuntime> {
    const { settings, counted, cut } = this;
    const onRunEnd = (run: EndedRun) => {
      counted.lastRun = run;
      counted.runs[run.outcome] = (counted.runs[run.outcome] ?? 0) + 1;
    };
    // what follows a run needs no new life: it goes by the config as it is then
    const afterRun = this.parts.afterRun.map(
      (step): AfterRun =>
        ({ report }) =>
          step({ ...this.settings, report }),
    );
    return CompanyRuntime.open({
      ...this.parts,
      afterRun,
      settings,
      totals: counted.totals,
      onRunEnd,
      closed,
      signal: cut.signal,
    });
  }

  private say(state: CompanyStatusView["service"]["state"], message: string | null): void {
    if (this.without.message === message) return;
    this.without = { state, message, sinceMs: this.parts.clock.nowMs() };
  }
}

function hintOf(error: unknown) {
  return error instanceof MirrorError && error.hint !== undefined ? { hint: error.hint } : {};
}
