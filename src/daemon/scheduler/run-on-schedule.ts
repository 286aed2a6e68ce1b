import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { CronSchedule } from "./cron-schedule.ts";

/** What is done by a schedule, and how it is known to be done. */
export interface ScheduledWork {
  readonly schedule: CronSchedule;
  readonly clock: Clock;
  readonly random: Random;
  readonly closed: AbortSignal;
  /** What was done so far; asked each time, because others make runs too. */
  readonly done: () => DoneRuns;
  /** Makes the run of a slot and records it, so that `done` gives it. Never rejects. */
  readonly run: (slotMs: number) => Promise<void>;
}

/** What is known of a schedule's past; null: nothing. Epoch milliseconds. */
export interface DoneRuns {
  /** The last slot whose run is done. */
  readonly slotMs: number | null;
  /** When the last complete run began, whoever made it: the first list of it, where it continues another. */
  readonly wholeRunMs: number | null;
}

/** The wall clock is read at least this often: it may be set, or the machine may sleep. */
const checkEveryMs = 60_000;

/** Pause after a run, so that one that left its slot due does not spin. */
const afterRunMs = 1_000;

/**
 * Runs each slot of a schedule once, never two at a time, and after a pause the last missed slot at once, until
 * `closed`.
 *
 * Guarantee: a slot that `done` knows is not run again.
 * Source of truth: `done`.
 * Worst outcome of a crash: the slot's run is made again.
 */
export async function runOnSchedule(work: ScheduledWork): Promise<void> {
  const { clock, closed } = work;
  let checkedMs = clock.nowMs();
  let slot = slotAt(work, checkedMs);
  while (!closed.aborted) {
    const nowMs = clock.nowMs();
    if (nowMs < checkedMs || (slot.nextMs !== null && nowMs >= slot.nextMs)) slot = slotAt(work, nowMs);
    checkedMs = nowMs;
    const dueMs = slot.slotMs !== null && isDue(slot.slotMs, work.done(), nowMs) ? slot.slotMs : null;
    if (dueMs !== null && nowMs >= slot.beginMs) {
      await work.run(dueMs);
      await clock.sleep(afterRunMs, closed);
      continue;
    }
    const nextMs = dueMs === null ? slot.nextMs : slot.beginMs;
    await clock.sleep(Math.max(1, Math.min(checkEveryMs, (nextMs ?? Infinity) - nowMs)), closed);
  }
}

/** The current slot, when its run begins (with the jitter), and the next slot. */
function slotAt({ schedule, random }: ScheduledWork, nowMs: number) {
  const slotMs = schedule.before(nowMs);
  const nextMs = schedule.after(nowMs);
  const jitter = slotMs === null || nextMs === null ? 0 : jitterMs(nextMs - slotMs, random.next());
  return { slotMs, beginMs: (slotMs ?? nowMs) + jitter, nextMs };
}

/**
 * Pure: must the run of this slot still be made? Of several missed slots only the last one counts. Times in the
 * future were recorded by a wrong clock and count for nothing.
 */
export function isDue(slotMs: number, done: DoneRuns, nowMs: number): boolean {
  return [done.slotMs, done.wholeRunMs].every((atMs) => atMs === null || atMs > nowMs || atMs < slotMs);
}

const maxJitterMs = 60_000;
const jitterShare = 0.05;

/**
 * How long after its slot a run begins, so that not all clients ask the service in the same second.
 *
 * @param share from 0 to 1, random
 */
export function jitterMs(intervalMs: number, share: number): number {
  return Math.floor(Math.min(maxJitterMs, intervalMs * jitterShare) * share);
}
