import type { CronSchedule } from "./cron-schedule.ts";

const hourMs = 3_600_000;
/** A run takes its time, and begins a little late. */
const runMs = 2 * hourMs;
const leastMs = 26 * hourMs;

/**
 * Pure: for how long what a run read counts as current, by the schedule as it is around this moment. Right after
 * a slot its run has still to be made: then the time before it counts.
 */
export function freshForMs(slots: CronSchedule | null, nowMs: number): number {
  const last = slots?.before(nowMs) ?? null;
  if (slots === null || last === null) return leastMs;
  const next = slots.after(nowMs) ?? last;
  const previous = slots.before(last - 1) ?? last;
  return Math.max(leastMs, Math.max(next - last, last - previous) + runMs);
}
