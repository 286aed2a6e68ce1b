import { type Clock, elapsedSince, hourMs } from "../../base/clock.ts";
import type { RefusalReason } from "../ingest/delivery.ts";
import type { Log } from "../../base/logger.ts";
import { messageOf } from "../../base/errors.ts";
import type { CompanyConfig } from "../../config/config.ts";
import type { Subscription } from "../subscriptions/subscription-client.ts";
import { deliversHere, failedAtMs } from "../subscriptions/subscription-problems.ts";

/** One delivery that was refused, and what it says of the company's health. */
export interface Refusal {
  readonly reason: RefusalReason;
  /** The service sent it: it is signed and not stored yet. Anybody can send others. @default false */
  readonly isGenuine?: boolean;
  /** It is signed and stored already: nothing is lost. @default false */
  readonly isCopy?: boolean;
  /** By how much this clock is ahead of its `webhook-timestamp`. */
  readonly offsetMs?: number;
}

export type RefusalCounts = Readonly<Partial<Record<RefusalReason, number>>>;

/** What the service says of its deliveries since a moment. `failed`: some did not arrive; `unknown`: it does not say. */
export type DeliveryVerdict = "failed" | "fine" | "unknown";

/** Refusals without an accepted delivery between them. */
interface Streak {
  /** Of the first and last, epoch milliseconds. */
  readonly sinceMs: number;
  readonly lastMs: number;
  /** Of the first and last, on the clock that is never set. */
  readonly beganMs: number;
  readonly endedMs: number;
  readonly genuine: number;
  readonly counts: RefusalCounts;
  /** By how much this clock was ahead of the last `webhook-timestamp` that was stale; null: none was. */
  readonly offsetMs: number | null;
  /** Null: the service was not asked yet. */
  readonly verdict: DeliveryVerdict | null;
}

export type Refusing = NonNullable<ReturnType<RefusalWatch["refusing"]>>;

/** So many attempts of one delivery are made within two minutes (interface document). */
const mostRefusals = 3;
/** An accepted delivery proves for so long that the service's arrive; a genuine one may be refused for so long. */
const proofMs = 600_000;
/** Every attempt for a delivery is made within this (interface document). */
const longestRetriesMs = 4 * hourMs;
/** A single refusal may be of a key that has just been replaced: the service's next attempt comes after about 10 s. */
const doubtMs = 15_000;
/** Between two questions to the service: whoever sends garbage causes a few an hour. */
const askAgain = { leastMs: 15_000, mostMs: 600_000, forgottenMs: hourMs };

/** Those that say nothing of the service's deliveries: a wrong request, or a body that does not come. */
const meaningless: ReadonlySet<RefusalReason> = new Set<RefusalReason>([
  "unknown_company",
  "wrong_method",
  "too_large",
  "slow_body",
  "sender_gone",
  "not_open",
]);

/**
 * Pure: do the service's deliveries not arrive? Anybody can send a wrong signature: only the service knows whether one
 * of its own failed. Where it does not say, refusals count unless a delivery was accepted lately. `acceptedMs`: when one
 * was accepted last, null: never. Times are of the clock that is never set.
 */
function isRefusing(streak: Streak, acceptedMs: number | null, nowMs: number): boolean {
  if (nowMs - streak.endedMs > longestRetriesMs) return false;
  if (isProved(streak, nowMs) || streak.verdict === "failed") return true;
  const hasProof = acceptedMs !== null && nowMs - acceptedMs < proofMs;
  return streak.verdict === "unknown" && !hasProof && total(streak) >= mostRefusals;
}

/** Deliveries that are certainly the service's are refused. */
function isProved({ genuine, counts, beganMs }: Streak, nowMs: number): boolean {
  if (counts.not_stored !== undefined || genuine >= mostRefusals) return true;
  return genuine > 0 && nowMs - beganMs >= proofMs;
}

function total({ counts }: Streak): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

const skewBlamedMs = 240_000;
const skewFixedMs = 60_000;

/** Pure: does the clock, as measured, explain why deliveries seem so old? */
function explains(skewMs: number | null, offsetMs: number | null): boolean {
  if (offsetMs === null || skewMs === null) return false;
  return Math.abs(skewMs) >= skewBlamedMs && Math.sign(offsetMs) === Math.sign(skewMs);
}

/** Watches one company's refused deliveries. Nothing is written for one, and memory does not grow with them. */
export class RefusalWatch {
  readonly counts: Partial<Record<RefusalReason, number>> = {};
  private readonly clock: Clock;
  private streak: Streak | null = null;
  private acceptedMs: number | null = null;
  private blamesClock = false;
  private keys: readonly string[] | null = null;
  /** When the service was asked last, and how long it is not asked again then. */
  private askedMs: number | null = null;
  private pauseMs = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** When a delivery was accepted last, ISO; by this or an earlier process. Null: none was. */
  acceptedAt(at: string | null): void {
    const agoMs = elapsedSince(Date.parse(at ?? ""), this.clock.nowMs());
    if (!Number.isFinite(agoMs)) return;
    this.acceptedMs = Math.max(this.acceptedMs ?? -Infinity, this.clock.monotonicMs() - agoMs);
  }

  accepted(): void {
    this.acceptedMs = this.clock.monotonicMs();
    this.streak = null;
  }

  refused({ reason, isGenuine = false, isCopy = false, offsetMs }: Refusal): void {
    this.counts[reason] = (this.counts[reason] ?? 0) + 1;
    if (isCopy || meaningless.has(reason)) return;
    const atMs = this.clock.nowMs();
    const nowMs = this.clock.monotonicMs();
    const { sinceMs = atMs, beganMs = nowMs, genuine = 0, counts = {}, verdict = null } = this.streak ?? {};
    this.streak = {
      sinceMs,
      lastMs: atMs,
      beganMs,
      endedMs: nowMs,
      genuine: genuine + Number(isGenuine),
      counts: { ...counts, [reason]: (counts[reason] ?? 0) + 1 },
      offsetMs: offsetMs ?? this.streak?.offsetMs ?? null,
      verdict,
    };
  }

  /**
   * Asks the service, where that decides and it is time: `read` gets when the first delivery was refused, epoch
   * milliseconds, and whether one was ever accepted. Rejects where `read` does.
   */
  async ask(read: (sinceMs: number, everAccepted: boolean) => Promise<DeliveryVerdict>): Promise<void> {
    const { streak, askedMs } = this;
    const nowMs = this.clock.monotonicMs();
    if (streak === null || !this.isQuestion(streak, nowMs)) return;
    const isFirst = askedMs === null || nowMs - askedMs > askAgain.forgottenMs;
    this.pauseMs = isFirst ? askAgain.leastMs : Math.min(this.pauseMs * 2, askAgain.mostMs);
    this.askedMs = nowMs;
    const verdict = await read(streak.sinceMs, this.acceptedMs !== null);
    if (this.streak?.beganMs === streak.beganMs) this.streak = { ...this.streak, verdict };
  }

  private isQuestion(streak: Streak, nowMs: number): boolean {
    const { verdict, beganMs, endedMs } = streak;
    if (isProved(streak, nowMs) || verdict === "failed" || nowMs - endedMs > longestRetriesMs) return false;
    if (total(streak) < mostRefusals && nowMs - beganMs < doubtMs) return false;
    if (this.askedMs === null) return true;
    return nowMs - this.askedMs >= this.pauseMs && (verdict !== "fine" || endedMs > this.askedMs);
  }

  /**
   * Takes over the clock's skew (null: not known) and the accepted keys. Where the clock was to blame and is right
   * again, or keys changed, earlier refusals say nothing any more.
   */
  observe(skewMs: number | null, keys: readonly string[]): void {
    const isFixed = this.blamesClock && skewMs !== null && Math.abs(skewMs) < skewFixedMs;
    if (isFixed || (this.keys !== null && this.keys !== keys)) this.streak = null;
    const { offsetMs = null } = this.streak ?? {};
    this.blamesClock = this.streak !== null && (this.blamesClock || explains(skewMs, offsetMs));
    this.keys = keys;
  }

  /** Null: as far as known, the service's deliveries arrive. */
  refusing() {
    const { streak } = this;
    if (streak === null || !isRefusing(streak, this.acceptedMs, this.clock.monotonicMs())) return null;
    const { sinceMs, lastMs, counts } = streak;
    const [most] = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
    const reason = (most?.[0] ?? "bad_signature") as RefusalReason;
    return { sinceMs, lastMs, counts, reason, blamesClock: this.blamesClock };
  }
}

/** The service's stamps are of whole seconds, and its clock is known to about one. */
const stampMs = 3_000;

/**
 * Pure: did deliveries of the service to this company's receiver fail since a moment of the service's clock? Its subscriptions show when one failed last
 * (published reference). Where none of them leads here, a failure of any counts; without one, refusals are strange until
 * a delivery was accepted.
 */
export function deliveryVerdict(
  subscriptions: readonly Subscription[],
  company: CompanyConfig,
  { sinceMs, everAccepted }: { readonly sinceMs: number; readonly everAccepted: boolean },
): DeliveryVerdict {
  const here = subscriptions.filter(({ url }) => deliversHere(url, company));
  const asked = here.length > 0 ? here : subscriptions;
  if (asked.some((one) => (failedAtMs(one) ?? -Infinity) >= sinceMs - stampMs)) return "failed";
  return here.length > 0 || everAccepted ? "fine" : "unknown";
}

const lookEveryMs = 1_000;
/** A service that is away says nothing. */
const answerLimitMs = 10_000;

/**
 * Asks the service about refused deliveries, until `closed`: at once, and then a few times an hour. Never rejects.
 *
 * @param list gives the company's subscriptions; null: the service has none
 * @param skewMs by how much this clock is ahead of the service's; null: not known
 */
export async function askAboutRefusals(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  refusals: RefusalWatch,
  company: CompanyConfig,
  list: ((signal: AbortSignal) => Promise<readonly Subscription[]>) | null,
  skewMs: () => number | null,
  closed: AbortSignal,
): Promise<void> {
  const read = async (atMs: number, everAccepted: boolean): Promise<DeliveryVerdict> => {
    if (list === null) return "unknown";
    try {
      const all = await list(AbortSignal.any([closed, AbortSignal.timeout(answerLimitMs)]));
      return deliveryVerdict(all, company, { sinceMs: atMs - (skewMs() ?? 0), everAccepted });
    } catch (error) {
      log.debug("the service does not say whether its deliveries failed", { error: messageOf(error) });
      return "unknown";
    }
  };
  for (; !closed.aborted; await clock.sleep(lookEveryMs, closed)) await refusals.ask(read);
}
