import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { isOwed, jitterMs, type Taken } from "./owed-run.ts";
import type { CronSchedule } from "./cron-schedule.ts";

export interface FollowParts {
  readonly slots: CronSchedule;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** What was done so far: asked again at each look, as others make runs, too. */
  readonly taken: () => Taken;
  /** Makes the run of a slot, and sees to it that `taken` says so. Never rejects. */
  readonly run: (slotMs: number) => Promise<void>;
}

/** The wall clock is looked at this often: it may be put right, or the machine have slept. */
const lookEveryMs = 60_000;

/** A run that left its slot owed must not spin. */
const afterRunMs = 1_000;

/**
 * Runs each slot once: none beside another, the last of those that were missed at once, until the signal.
 *
 * Guarantee: a slot that `taken` knows is not run again. Source of truth: `taken`. Worst outcome of a
 * crash: the slot's run is made again.
 */
export async function followSchedule(parts: FollowParts): Promise<void> {
  const { clock, signal } = parts;
  let span = spanAt(parts, clock.nowMs());
  while (!signal.aborted) {
    const nowMs = clock.nowMs();
    if (nowMs < span.lookedMs || (span.nextMs !== null && nowMs >= span.nextMs)) span = spanAt(parts, nowMs);
    span.lookedMs = nowMs;
    const owed = span.slotMs !== null && isOwed(span.slotMs, parts.taken(), nowMs) ? span.slotMs : null;
    if (owed !== null && nowMs >= span.beginMs) {
      await parts.run(owed);
      await clock.sleep(afterRunMs, signal);
      continue;
    }
    const nextMs = owed === null ? span.nextMs : span.beginMs;
    await clock.sleep(Math.max(1, Math.min(lookEveryMs, (nextMs ?? Infinity) - nowMs)), signal);
  }
}

/** From one slot to the next. */
interface Span {
  readonly slotMs: number | null;
  /** The slot and its jitter. */
  readonly beginMs: number;
  readonly nextMs: number | null;
  lookedMs: number;
}

function spanAt({ slots, random }: FollowParts, nowMs: number): Span {
  const slotMs = slots.before(nowMs);
  const nextMs = slots.after(nowMs);
  const jitter = slotMs === null || nextMs === null ? 0 : jitterMs(nextMs - slotMs, random.next());
  return { slotMs, beginMs: (slotMs ?? nowMs) + jitter, nextMs, lookedMs: nowMs };
}
