import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { RunEnd } from "../../runs/run-queue.ts";
import type { StatusScope } from "../../status/company-view.ts";
import { whileOwned, type Lease } from "../ownership/ownership.ts";
import type { MirrorSnapshots } from "../snapshot/mirror-snapshots.ts";

export interface CompanySnapshotsParts {
  readonly lease: Lease;
  readonly scope: () => StatusScope;
  readonly snapshots: Pick<MirrorSnapshots, "publish">;
  /** Requests that were sent since the claim. */
  readonly requests: () => number;
  /** Publishes so often while something changes, ms. */
  readonly everyMs: number;
  /** Aborts when there is no more time for snapshots. */
  readonly cutOff: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * When a company's mirror is published: after each run, before its report, now and then while it changes, and before
 * it is released.
 *
 * Guarantee: a snapshot that fails ends nothing; it is made again the next time.
 * Source of truth: the mirror, and the published pointer.
 * Worst outcome of a crash: the next owner reads again what was not published.
 */
export class CompanySnapshots {
  published = 0;
  failed = 0;
  private readonly parts: CompanySnapshotsParts;
  /** Monotonic. */
  private dueMs: number;
  private run: RunEnd | null = null;
  /** Requests that are in a published snapshot. */
  private noted = 0;
  private last: Promise<boolean> = Promise.resolve(true);

  constructor(parts: CompanySnapshotsParts) {
    this.parts = parts;
    this.dueMs = parts.clock.monotonicMs() + parts.everyMs;
  }

  /** @param lastRun the last run of this process */
  async publishIfDue(lastRun: RunEnd | null): Promise<void> {
    const isAfterRun = lastRun !== this.run;
    if (!isAfterRun && this.parts.clock.monotonicMs() < this.dueMs) return;
    this.run = lastRun;
    await this.publish(isAfterRun ? "after a run" : "changes");
  }

  /** One at a time. False: it failed, or the company is lost. Never rejects. */
  publish(why: string): Promise<boolean> {
    return (this.last = this.last.then(() => this.publishNext(why)));
  }

  private async publishNext(why: string): Promise<boolean> {
    const { lease, scope, snapshots, requests, everyMs, cutOff, clock, log } = this.parts;
    const startedMs = clock.monotonicMs();
    this.dueMs = startedMs + everyMs;
    const signal = AbortSignal.any([lease.lost, cutOff]);
    try {
      const sent = requests();
      const fresh = sent - this.noted;
      const pointer = await whileOwned(lease, () => snapshots.publish(lease, scope(), fresh, signal));
      if (pointer === undefined) return false;
      if (pointer) {
        this.noted = sent;
        const { id, seq, inboxSeq, sizeBytes } = pointer;
        const facts = { snapshot: id, seq, inbox: inboxSeq, bytes: sizeBytes };
        log.info("snapshot published", { why, ...facts, ms: Math.round(clock.monotonicMs() - startedMs) });
        this.published++;
      }
      return true;
    } catch (error) {
      // What lost the company says so once.
      if (!lease.isHeld()) return false;
      log.error("the snapshot could not be published", { why, error: messageOf(error), ...hintOf(error) });
      this.failed++;
      return false;
    }
  }
}
