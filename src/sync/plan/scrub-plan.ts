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
  /** How many of them have recent activity. */
  readonly recent: number;
}

/** The plan of a day, in requests. */
export interface ScrubPlan {
  readonly total: number;
  /** Days until each of them was read again. */
  readonly nights: number;
  /** For those read longest ago. */
  readonly stalest: number;
  /** For those with recent activity. */
  readonly recent: number;
  /** Does what the recent ones leave unused go to the stalest? */
  readonly fills: boolean;
}

const dayMs = 24 * 3_600_000;
const usualTimeMs = 30 * 60_000;
const coveredTimeMs = 5 * 60_000;

/**
 * The requests of a day. Up to half of them are for those with recent activity, which may be read every night; the rest
 * is for the stalest, in as few nights as possible and in equal parts. Where the usual time suffices for the cycle, all
 * of it is used. Else the cycle says how many of the stalest must be read, and recent activity adds the usual time at most.
 */
export function planScrub({ timeMs, cycleMs, atMostMs }: ScrubSettings, facts: ScrubFacts): ScrubPlan {
  const { total, limit, windowMs, covered, recent } = facts;
  const requestsIn = (ms: number) => Math.max(1, Math.floor((ms * limit) / windowMs));
  const most = requestsIn(atMostMs);
  const usual = Math.min(most, requestsIn(timeMs ?? (covered ? coveredTimeMs : usualTimeMs)));
  const cycle = Math.max(1, Math.floor(cycleMs / dayMs));
  const spare = usual - Math.ceil(total / cycle);
  const added = Math.max(Math.floor(usual / 2), Math.min(usual, Math.floor(total / cycle)));
  // Events bring what webhooks say: recent activity then makes no night longer.
  const half = covered && spare >= 0 ? Math.min(Math.floor(usual / 2), spare) : added;
  const active = Math.min(recent, half, Math.floor(most / 2));
  const rest = total - active;
  const needed = Math.ceil(rest / cycle);
  const fills = active + needed <= usual;
  const nights = Math.ceil(rest / Math.max(1, fills ? usual - active : Math.min(needed, most - active)));
  const stalest = Math.ceil(rest / Math.max(1, nights));
  const forRecent = fills ? usual - stalest : active;
  return { total, nights: total === 0 ? 0 : Math.max(1, nights), stalest, recent: forRecent, fills };
}

/** A day of the scrub: it opens with its first scrub, and runs within it share one allowance. */
export interface ScrubDay {
  /** Epoch milliseconds. */
  readonly startedMs: number;
  /** Requests. */
  readonly used: number;
  /** How many had recent activity when the last scrub was planned. */
  readonly recent: number;
}

/** The day at this moment; days without a run do not add up. */
export function scrubDayAt(last: ScrubDay | null, nowMs: number): ScrubDay {
  const isOpen = last !== null && nowMs >= last.startedMs && nowMs - last.startedMs < scrubAgeMs;
  return isOpen ? last : { startedMs: nowMs, used: 0, recent: last?.recent ?? 0 };
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
 * that is cut off serves both. Of what is left of a day, half may go to recent activity.
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
  const most = Math.min(plan.recent, Math.max(left - plan.stalest, Math.floor(left / 2)));
  const active = recent.slice(0, most);
  const taken = new Set(active.map(keyOf));
  const others = stalest.filter((one) => !taken.has(keyOf(one)));
  const oldest = others.slice(0, plan.stalest);
  const rest = plan.fills ? others.slice(plan.stalest) : [];
  const chosen = Array.from({ length: Math.max(oldest.length, active.length) }, (_, i) => [
    ...active.slice(i, i + 1),
    ...oldest.slice(i, i + 1),
  ]);
  return [...chosen.flat(), ...rest].slice(0, left);
}
