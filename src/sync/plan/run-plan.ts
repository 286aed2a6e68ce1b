import { formatCount } from "../../base/units.ts";
import type { ScrubPlan } from "./scrub.ts";

export interface GrantedBudget {
  /** Requests in a window: its limit, without the reserve while other programs are seen. */
  readonly granted: number;
  readonly windowMs: number;
}

/** What a run costs, in the order in which it reads: lists, what was never read or has changed, the scrub. Pure. */
export function planRun(
  { lists, missing, scrub }: { readonly lists: number; readonly missing: number; readonly scrub: number },
  { total, nights }: Pick<ScrubPlan, "total" | "nights">,
  budget: GrantedBudget,
) {
  const cost = (requests: number) => ({ requests, minutes: minutesFor(requests, budget) });
  const minutes = minutesFor(lists + missing + scrub, budget);
  return { lists: cost(lists), missing: cost(missing), scrub: { ...cost(scrub), total, nights }, minutes };
}

export type RunPlan = ReturnType<typeof planRun>;

/** Minutes that so many requests take. A window's requests are sent at its start: the last window costs no time. */
export function minutesFor(requests: number, { granted, windowMs }: GrantedBudget): number {
  const windows = Math.max(0, Math.ceil(requests / Math.max(1, granted)) - 1);
  return Math.round((windows * windowMs) / 6_000) / 10;
}

export function minutesText(minutes: number): string {
  if (minutes < 1) return "less than a minute";
  return minutes === 1 ? "about a minute" : `about ${minutes} minutes`;
}

export function scrubText({ requests, minutes, total, nights }: RunPlan["scrub"]): string {
  if (total === 0) return "nothing yet";
  const often = nights === 1 ? "every night" : `every ${formatCount(nights)} nights`;
  const some = `${formatCount(requests)} of ${formatCount(total)}, ${minutesText(minutes)}`;
  return `${some}; every detail and CRM parent read so far is proved ${often}`;
}
