import { waitUntil } from "./admission.ts";
import { expireFlights } from "./in-flight.ts";
import type { BudgetView } from "./permit.ts";
import { leftIn, liveWindow, type RateLimitState, type Rules } from "./state.ts";

export function budgetViewOf(stored: RateLimitState, nowMs: number, rules: Rules): BudgetView {
  const state = expireFlights(stored, nowMs);
  const window = liveWindow(state, nowMs);
  const untilMs = waitUntil(state, "list", nowMs, rules);
  return {
    limit: state.limit,
    remaining: window ? Math.max(0, leftIn(window, state)) : null,
    waitMs: untilMs === null ? 0 : Math.max(0, Math.ceil(untilMs - nowMs)),
  };
}
