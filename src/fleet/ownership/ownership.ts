import { uptime } from "node:os";
import { eitherSignal } from "../../base/cancellation.ts";
import { type Clock, dayMs } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { WriteRight } from "../../file-store/file-store.ts";
import { isPostgresAway } from "../postgres/postgres-error.ts";
import type { Owner, QuietMs } from "../postgres/tables/owners-table.ts";

/** The right of this process to write one company outside of itself: snapshots, budget, reports, requests. */
export type Ownership = Pick<Lease, keyof Owner | "lost" | "isHeld" | "assertHeld">;

/** The right to write what the company's owner alone writes, until it is lost or the signal aborts. */
export function writeRight(ownership: Ownership, signal: AbortSignal): WriteRight {
  return { signal: eitherSignal(ownership.lost, signal), assertHeld: () => ownership.assertHeld() };
}

/** When a statement that claims or renews was sent, by all clocks. */
type SentAt = ReturnType<typeof readSentAt>;

/** Milliseconds since the machine started; goes on while it sleeps. */
export type UptimeClock = () => number;

/** Of the operating system, to 10 ms; 13 microseconds. */
const machineUptimeMs: UptimeClock = () => uptime() * 1_000;

interface LeaseFacts extends Owner {
  /** When the claim was answered. @default null */
  readonly quietMs?: QuietMs;
  /** For how long after a statement was sent the company is certainly owned. */
  readonly heldMs: number;
}

/** Longer than any window of a service. */
const longestQuietMs = dayMs;

/** Reads all clocks before a statement is sent: it takes effect in Postgres later than that. */
export function readSentAt(clock: Clock, uptimeMs = machineUptimeMs) {
  return { monotonicMs: clock.monotonicMs(), nowMs: clock.nowMs(), uptimeMs: uptimeMs() };
}

/**
 * An ownership that lasts as long as it is renewed.
 *
 * Guarantee: what has ended never begins again, also where a renewal comes in later. It ends here before it ends in
 * Postgres, as long as the clocks of both machines run equally fast.
 * Source of truth: table `owners`.
 * Worst outcome of a crash: nobody owns the company until the lease is over.
 */
export class Lease implements Owner {
  readonly company: string;
  readonly epoch: number;
  readonly node: string;
  private readonly heldMs: number;
  private readonly clock: Clock;
  private readonly ending = new AbortController();
  private readonly uptimeMs: UptimeClock;
  private sentAt: SentAt;
  /** When the last request was sent, by this owner or one before, monotonic. */
  private lastRequestMs: number;

  constructor(
    { company, epoch, node, heldMs, quietMs = null }: LeaseFacts,
    sentAt: SentAt,
    clock: Clock,
    uptimeMs = machineUptimeMs,
  ) {
    this.company = company;
    this.epoch = epoch;
    this.node = node;
    this.heldMs = heldMs;
    this.sentAt = sentAt;
    this.clock = clock;
    this.uptimeMs = uptimeMs;
    this.lastRequestMs = clock.monotonicMs() - (quietMs ?? longestQuietMs);
  }

  /** Aborts in the moment in which the ownership ends, whoever notices it first. */
  get lost(): AbortSignal {
    return this.ending.signal;
  }

  /** Why it ended; null: it has not. */
  get endedBecause(): string | null {
    return this.lost.aborted ? String(this.lost.reason) : null;
  }

  /**
   * Is the company certainly owned now? Asked directly before anything leaves the process. The monotonic clock decides;
   * the others can only end a lease early. On a machine that slept the monotonic clock stood still, and Postgres' did
   * not: uptime shows it. A virtual machine that was paused finds nothing but its wall clock set forward, if that.
   */
  isHeld(): boolean {
    if (this.lost.aborted) return false;
    const { clock, sentAt, heldMs } = this;
    const isRunning =
      clock.monotonicMs() - sentAt.monotonicMs < heldMs &&
      this.uptimeMs() - sentAt.uptimeMs < heldMs &&
      clock.nowMs() - sentAt.nowMs < heldMs;
    if (!isRunning) this.end("it was not renewed in time");
    return isRunning;
  }

  /** Throws MirrorError `locked` where it is not held. */
  assertHeld(): void {
    if (this.isHeld()) return;
    throw new MirrorError("locked", `the company has another owner, or will have one: ${this.endedBecause}`, {
      hint: "Nothing is sent or stored any more; the next owner goes on.",
    });
  }

  noteRequest(): void {
    this.assertHeld();
    this.lastRequestMs = this.clock.monotonicMs();
  }

  get quietMs(): number {
    return Math.min(longestQuietMs, this.clock.monotonicMs() - this.lastRequestMs);
  }

  /** Postgres confirmed it. Does nothing where it has ended meanwhile. */
  renewed(sentAt: SentAt): void {
    if (this.isHeld() && sentAt.monotonicMs > this.sentAt.monotonicMs) this.sentAt = sentAt;
  }

  end(why: string): void {
    if (!this.lost.aborted) this.ending.abort(why);
  }
}

/**
 * Makes a step that only an owner may make. Undefined: the company is not owned any more, or Postgres is away for now;
 * where Postgres says that it has another owner, the lease ends at once.
 *
 * @throws what the step throws otherwise
 */
export async function whileOwned<T>(lease: Lease, step: () => Promise<T>): Promise<T | undefined> {
  try {
    lease.assertHeld();
    return await step();
  } catch (error) {
    if (error instanceof MirrorError && error.kind === "locked") lease.end(error.message);
    if (lease.isHeld() && !isPostgresAway(error)) throw error;
    return undefined;
  }
}
