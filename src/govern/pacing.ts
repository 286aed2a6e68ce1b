import type { Rules, Window } from "./state.ts";

/** A reset looked for more often than this gains nothing. */
const minSpacingMs = 5_000;
const probesPerWindow = 12;

/**
 * A window whose opening we did not see may end any moment. Most of it is spent at once; a few permits
 * are kept and let go one by one, so that the reset is seen soon and the next window is known exactly.
 */
export function probesHeld(window: Window, heldBack: number, nowMs: number, rules: Rules): number {
  const unsureFrom = Math.max(nowMs, window.aliveUntil);
  return Math.max(0, Math.floor((window.deadAt - unsureFrom) / spacingMs(window, heldBack, rules)));
}

/** When one probe fewer is held than now. */
export function nextProbeAt(window: Window, heldBack: number, nowMs: number, rules: Rules): number | null {
  const held = probesHeld(window, heldBack, nowMs, rules);
  return held === 0 ? null : window.deadAt - held * spacingMs(window, heldBack, rules) + 1;
}

function spacingMs(window: Window, heldBack: number, rules: Rules): number {
  const usable = Math.max(1, Math.min(probesPerWindow, window.first - heldBack));
  return Math.max(minSpacingMs, rules.windowMs / usable);
}
