import { eitherSignal } from "../../base/cancellation.ts";
import type { Clock } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { RequestGuard } from "../../runs/service-connection.ts";
import type { Permit, RateLimiter } from "../../rate-limit/permit.ts";
import type { Lease } from "../ownership/ownership.ts";
import { isPostgresAway } from "../postgres/postgres-error.ts";
import type { BudgetsTable, PermitBlock } from "../postgres/tables/budgets-table.ts";

/** What the permits of one ownership are taken with. */
export interface FleetPermitsParts {
  /** Ended where Postgres says that it is over. */
  readonly lease: Lease;
  readonly budgets: Pick<BudgetsTable, "take">;
  /** The counting period of the service. */
  readonly windowMs: number;
  /** Does this node's rate limiter know what was sent for the company before, because its state stayed here? */
  readonly continues: () => boolean;
  /** Does Postgres know which company of the service this is, as far as the service has said it? */
  readonly isAccountNoted: () => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Permits that one statement takes. */
const blockSize = 10;
/** How long they may be used, from before the statement was sent. */
const blockMs = 5_000;
/** Pause before Postgres is asked again. */
const retryMs = 500;
/** Longer waits are logged. */
const noticedMs = 1_000;
/** For a request that is on its way to the service when its permit ends. */
const arrivalMs = 1_000;

/**
 * Leave to send requests for a company, from the budget that all nodes share.
 *
 * Guarantee: a request is sent only while the company is owned, and none before the requests of another owner have left
 * the service's window (I8). Of two tokens of one company of the service one at most sends more than the question whose
 * it is. How many may go is decided by the node's own rate limiter, as in `serve`.
 * Source of truth: table `budgets`.
 * Worst outcome of a crash: up to a block of permits is not used.
 */
export class FleetPermits implements RequestGuard {
  private readonly parts: FleetPermitsParts;
  /** Requests that were let go. */
  sent = 0;
  private left = 0;
  /** Of the block, monotonic. */
  private endMs = 0;
  private taking: Promise<void> | null = null;

  constructor(parts: FleetPermitsParts) {
    this.parts = parts;
  }

  assertMaySend(): void {
    this.parts.lease.assertHeld();
  }

  guard(rateLimiter: RateLimiter): RateLimiter {
    return {
      view: () => rateLimiter.view(),
      admit: async (lane, signal) => {
        await this.untilAccount(signal);
        // Before the rate limiter: until the window of another owner is over it would give permits that cannot be used.
        await this.untilBlock(signal);
        const permit = await rateLimiter.admit(lane, signal);
        return this.withLeave(permit, signal);
      },
    };
  }

  /** Takes one of the block's permits for a request that the rate limiter admits. */
  private async withLeave(permit: Permit, signal: AbortSignal | undefined): Promise<Permit> {
    try {
      while (!this.takeOne()) await this.untilBlock(signal);
      return permit;
    } catch (error) {
      permit.lost();
      throw error;
    }
  }

  private takeOne(): boolean {
    if (!this.hasBlock()) return false;
    this.left--;
    this.sent++;
    return true;
  }

  private hasBlock(): boolean {
    return this.left > 0 && this.parts.clock.monotonicMs() < this.endMs;
  }

  /** Until Postgres knows the account of two companies, each of them has a budget of its own. */
  private async untilAccount(signal: AbortSignal | undefined): Promise<void> {
    const { lease, isAccountNoted, clock } = this.parts;
    while (!(await isAccountNoted())) {
      this.assertWaiting(signal);
      await clock.sleep(retryMs, eitherSignal(lease.lost, signal));
    }
  }

  /** Resolves when there is a block. One statement at a time, for all who wait. */
  private async untilBlock(signal: AbortSignal | undefined): Promise<void> {
    while (!this.hasBlock()) {
      this.assertWaiting(signal);
      this.taking ??= this.takeBlock().finally(() => (this.taking = null));
      await unlessAborted(this.taking, signal);
    }
  }

  private assertWaiting(signal: AbortSignal | undefined): void {
    this.parts.lease.assertHeld();
    if (signal?.aborted)
      throw new MirrorError("stopped", "stopped while waiting for leave to send a request");
  }

  private async takeBlock(): Promise<void> {
    const { lease, windowMs, clock, log } = this.parts;
    const sentMs = clock.monotonicMs();
    const spentMs = blockMs + windowMs + arrivalMs;
    const { granted, waitMs } = await this.ask(spentMs);
    this.left = granted;
    this.endMs = sentMs + blockMs;
    if (granted > 0) return;
    if (waitMs > noticedMs)
      log.info("requests wait until those of the owner before have left the service's window", {
        wait_ms: waitMs,
      });
    await clock.sleep(waitMs, lease.lost);
  }

  /** While Postgres is away it is asked again: until the lease is over, nothing is lost. */
  private async ask(spentMs: number): Promise<PermitBlock> {
    const { lease, budgets, continues } = this.parts;
    try {
      return await budgets.take(lease, { count: blockSize, spentMs, continues: continues() });
    } catch (error) {
      if (error instanceof MirrorError && error.kind === "locked") lease.end(error.message);
      if (!isPostgresAway(error)) throw error;
      return { granted: 0, waitMs: retryMs };
    }
  }
}

/** Resolves as the task does, or when the signal aborts. */
async function unlessAborted(task: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  // Nobody may wait for it any more when it fails.
  task.catch(() => undefined);
  signal?.addEventListener("abort", end);
  await Promise.race([task, promise]).finally(() => signal?.removeEventListener("abort", end));
}
