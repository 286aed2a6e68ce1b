import { eitherSignal } from "../../base/cancellation.ts";
import { MirrorError } from "../../base/errors.ts";
import type { RateLimiter } from "../../rate-limit/permit.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import type { RequestGuard } from "../../runs/service-connection.ts";
import { pinnedIdentity, type Meta } from "../../state/meta.ts";
import { whileOwned, type Lease } from "../ownership/ownership.ts";
import { accountOf, type CompaniesTable } from "../postgres/tables/companies-table.ts";
import type { QuietMs } from "../postgres/tables/owners-table.ts";

export interface FleetPermitsParts {
  readonly lease: Lease;
  readonly companies: Pick<CompaniesTable, "setAccount">;
  /** As Postgres knew it when the company was claimed; null: it did not. */
  readonly account: string | null;
  /** The counting period of the service. */
  readonly windowMs: number;
  /** Of the opened mirror; null: none is open. */
  readonly meta: () => Meta | null;
  readonly baseUrl: () => string;
  /** Another company of the account is owned now. */
  readonly onRival: (company: string) => void;
  readonly context: Pick<ProcessContext, "clock" | "log">;
}

/** Pause before Postgres is asked again. */
const retryMs = 500;
/** Longer waits are logged. */
const noticedMs = 1_000;
/** For a request that is on its way to the service when its owner's time ends. */
const arrivalMs = 1_000;

/**
 * Leave to send requests for a company, whose budget travels with its ownership. Notes in Postgres which company of the
 * service it is, once the service has said it.
 *
 * Guarantee: a request is sent only while the company is owned, and none before the requests of another owner have left
 * the service's window (I8). Of two tokens of one company of the service one at most sends more than the question whose
 * it is. How many may go is decided by the node's own rate limiter, as in `serve`.
 * Source of truth: tables `owners` and `companies`.
 * Worst outcome of a crash: the next owner waits for a window that was not used.
 */
export class FleetPermits implements RequestGuard {
  /** Another company of the account was owned when this one was to be noted. */
  hasRival = false;
  private readonly parts: FleetPermitsParts;
  private account: string | null;
  /** Monotonic: until then the window counts as spent. */
  private spentUntilMs = 0;
  private noting: Promise<boolean> | null = null;

  constructor(parts: FleetPermitsParts) {
    this.parts = parts;
    this.account = parts.account;
    this.waitForOthers(parts.lease.quietMs);
  }

  assertMaySend(): void {
    this.parts.lease.noteRequest();
  }

  guard(rateLimiter: RateLimiter): RateLimiter {
    const { lease, context } = this.parts;
    const { clock } = context;
    return {
      view: () => rateLimiter.view(),
      admit: async (lane, signal) => {
        // Until Postgres knows the account of two companies, each of them has a budget of its own.
        for (;;) {
          const waitMs = (await this.isAccountNoted()) ? this.spentUntilMs - clock.monotonicMs() : retryMs;
          lease.assertHeld();
          if (signal?.aborted)
            throw new MirrorError("stopped", "stopped while waiting for leave to send a request");
          if (waitMs <= 0) return rateLimiter.admit(lane, signal);
          await clock.sleep(waitMs, eitherSignal(lease.lost, signal));
        }
      },
    };
  }

  /**
   * Is it noted, as far as the service has said it? One statement at a time, for all who ask. False also while Postgres
   * is away.
   */
  isAccountNoted(): Promise<boolean> {
    return (this.noting ??= this.noteAccount().finally(() => (this.noting = null)));
  }

  private async noteAccount(): Promise<boolean> {
    const { lease, companies, meta, baseUrl, onRival } = this.parts;
    const opened = meta();
    const pinned = opened && pinnedIdentity(opened);
    if (!pinned) return true;
    const account = accountOf(baseUrl(), pinned.name);
    if (account === this.account) return true;
    const use = await whileOwned(lease, () => companies.setAccount(lease, account));
    if (use === undefined) return false;
    if (use.rival === null) {
      this.account = account;
      this.waitForOthers(use.quietMs);
      return true;
    }
    this.hasRival = true;
    onRival(use.rival);
    return false;
  }

  /** The window of an owner before is taken as spent. */
  private waitForOthers(quietMs: QuietMs): void {
    const { windowMs, context } = this.parts;
    const { clock, log } = context;
    const waitMs = windowMs + arrivalMs - (quietMs ?? Infinity);
    this.spentUntilMs = Math.max(this.spentUntilMs, clock.monotonicMs() + waitMs);
    if (waitMs > noticedMs)
      log.info("requests wait until those of the owner before have left the service's window", {
        wait_ms: Math.round(waitMs),
      });
  }
}
