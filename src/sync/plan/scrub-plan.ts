/** How much the scrub reads again in a day, and what. Pure: `scrub-facts.ts` reads the facts. */
import { scrubAgeMs } from "../context/limits.ts";

/** The config's `scrub`; times in milliseconds. */
export interface ScrubSettings {
  /** Time of a day, at the full budget; null: half an hour, or five minutes behind webhooks without a gap. */
  readonly timeMs: number | null;
  /** Everything is read again within this time. */
  readonly cycleMs: number;
  /** Time of a day that is never exceeded, at the full budget. */
  readonly atMostMs: number;
}

/** What the plan of a day depends on. */
export interface ScrubFacts {
  /** Details, and lists of parents, that were read before: what is to be read again. */
  readonly total: number;
  /** Requests in a window, as the service grants them. */
  readonly limit: number;
  readonly windowMs: number;
  /** Webhooks arrived without a gap since the stalest of them was read. */
  readonly covered: boolean;
}

/** The plan of a day, in requests. */
export interface ScrubPlan {
  readonly total: number;
  /** Days until each of them was read again. */
  readonly nights: number;
  /** For those read longest ago. */
  readonly stalest: number;
  /** In addition, for those with recent activity. */
  readonly recent: number;
  /** Does what the recent ones leave unused go to the stalest? */
  readonly fills: boolean;
}

const dayMs = 24 * 3_600_000;
const usualTimeMs = 30 * 60_000;
const coveredTimeMs = 5 * 60_000;

/**
 * The requests of a day. Where the usual time suffices for the cycle, all of it is used: in as few nights as
 * possible, and in equal parts. Else the cycle says how many must be read, and the usual time is the most that
 * recent activity may add.
 */
export function planScrub({ timeMs, cycleMs, atMostMs }: ScrubSettings, facts: ScrubFacts): ScrubPlan {
  const { total, limit, windowMs, covered } = facts;
  const requestsIn = (ms: number) => Math.max(1, Math.floor((ms * limit) / windowMs));
  const most = requestsIn(atMostMs);
  const usual = Math.min(most, requestsIn(timeMs ?? (covered ? coveredTimeMs : usualTimeMs)));
  const cycle = Math.max(1, Math.floor(cycleMs / dayMs));
  const nights = Math.ceil(total / usual);
  if (nights <= cycle) {
    const stalest = nights === 0 ? 0 : Math.ceil(total / nights);
    return { total, nights, stalest, recent: usual - stalest, fills: true };
  }
  const stalest = Math.min(most, Math.ceil(total / cycle));
  const recent = Math.min(usual, most - stalest);
  return { total, nights: Math.ceil(total / stalest), stalest, recent, fills: false };
}

/** A day of the scrub: it opens with its first scrub, and runs within it share one allowance. */
export interface ScrubDay {
  /** Epoch milliseconds. */
  readonly startedMs: number;
  /** Requests. */
  readonly used: number;
}

/** The day at this moment; days without a run do not add up. */
export function scrubDayAt(last: ScrubDay | null, nowMs: number): ScrubDay {
  const isOpen = last !== null && nowMs >= last.startedMs && nowMs - last.startedMs < scrubAgeMs;
  return isOpen ? last : { startedMs: nowMs, used: 0 };
}

/** Requests that are left of the day. */
export function scrubLeft({ stalest, recent }: ScrubPlan, { used }: ScrubDay): number {
  return Math.max(0, stalest + recent - used);
}

/** What may be read again, those read longest ago first. None was read within `scrubAgeMs`. */
export interface ScrubCandidates<T> {
  readonly stalest: readonly T[];
  /** Those with recent activity, parents before records. */
  readonly recent: readonly T[];
}

/**
 * What is read in this run, in this order: in turn one with recent activity and one of the stalest, so that a run
 * that is cut off serves both.
 *
 * @param left requests that are left of the day
 * @param keyOf names a candidate
 */
export function chooseScrub<T>(
  plan: ScrubPlan,
  left: number,
  { stalest, recent }: ScrubCandidates<T>,
  keyOf: (candidate: T) => string,
): T[] {
  const oldest = stalest.slice(0, Math.min(plan.stalest, left));
  const taken = new Set(oldest.map(keyOf));
  const others = recent.filter((one) => !taken.has(keyOf(one))).slice(0, left - oldest.length);
  for (const one of others) taken.add(keyOf(one));
  const rest = plan.fills ? stalest.slice(oldest.length).filter((one) => !taken.has(keyOf(one))) : [];
  const chosen = Array.from({ length: Math.max(oldest.length, others.length) }, (_, i) => [
    ...others.slice(i, i + 1),
    ...oldest.slice(i, i + 1),
  ]);
  return [...chosen.flat(), ...rest].slice(0, left);
}
