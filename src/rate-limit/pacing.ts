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

/** When no more than so many probes are held any longer. */
export function heldAtMostAt(window: Window, probes: number, heldBack: number, rules: Rules): number {
  return window.deadAt - (probes + 1) * spacingMs(window, heldBack, rules) + 1;
}

function spacingMs(window: Window, heldBack: number, rules: Rules): number {
  const usable = Math.max(1, Math.min(probesPerWindow, window.first - heldBack));
  return Math.max(minSpacingMs, rules.windowMs / usable);
}
