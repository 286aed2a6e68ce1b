import type { Lane } from "../base/lane.ts";
import { limitOf, type GovernorState, type Others, type Rules, type Window } from "./state.ts";

/** How long other clients are taken as present after they were last seen. */
const rememberedWindows = 10;
/** What others may take while an answer is on its way. */
const lookaheadMs = 2_000;

function othersSeen(state: GovernorState, nowMs: number): boolean {
  const lately = state.others.until !== null && nowMs < state.others.until;
  return lately || state.window?.inherited === true;
}

/**
 * Permits left alone: the reserve for other clients (events may use it), and a margin for what they
 * take before we hear of it. Both are 0 when nobody else is there. Never more than half of the limit.
 */
export function heldBack(state: GovernorState, lane: Lane, nowMs: number, rules: Rules): number {
  const limit = limitOf(state, rules);
  const seen = othersSeen(state, nowMs);
  const reserve = seen && lane !== "webhook" ? Math.ceil(limit * rules.reserveShare) : 0;
  const margin = seen ? Math.ceil((theirRate(state) * lookaheadMs) / rules.windowMs) : 0;
  return Math.min(reserve + margin + state.refusals.caution, Math.floor(limit / 2));
}

function theirRate(state: GovernorState): number {
  return Math.max(state.others.perWindow, state.window?.foreign ?? 0);
}

/** Drops of one window that own requests do not explain. */
export function withForeign(
  state: GovernorState,
  window: Window,
  nowMs: number,
  rules: Rules,
): GovernorState {
  const foreign = window.first - window.lowest - window.issued;
  if (foreign <= window.foreign) return { ...state, window };
  return { ...state, window: { ...window, foreign }, others: noticed(state.others, nowMs, rules) };
}

/** When a window has ended: what the others took of it moves the average; rises count at once. */
export function othersAfter(state: GovernorState): Others {
  const taken = state.window?.foreign ?? 0;
  return { ...state.others, perWindow: Math.max(taken, Math.floor(state.others.perWindow / 2)) };
}

export function noticed(others: Others, nowMs: number, rules: Rules): Others {
  return { ...others, until: nowMs + rememberedWindows * rules.windowMs };
}
