import { isoTime } from "../../base/clock.ts";

/** How many requests were sent for a company in each of the last hours, as `2026-11-23T15`; by clocks of nodes. */
export type RequestHours = Readonly<Record<string, number>>;

const hourMs = 3_600_000;
const keptHours = 24;

/** Adds requests that were sent just now, and leaves out hours that ended a day ago. Pure. */
export function addRequests(hours: RequestHours, nowMs: number, requests: number): RequestHours {
  const now = hourOf(nowMs);
  const oldest = hourOf(nowMs - (keptHours - 1) * hourMs);
  const recent = Object.entries(hours).filter(([hour]) => hour >= oldest && hour <= now);
  const added = { ...Object.fromEntries(recent), [now]: (hours[now] ?? 0) + requests };
  return Object.fromEntries(Object.entries(added).filter(([, count]) => count > 0));
}

/** All together. */
export function requestsOf(hours: RequestHours): number {
  return Object.values(hours).reduce((sum, count) => sum + count, 0);
}

function hourOf(ms: number): string {
  return isoTime(ms).slice(0, 13);
}
