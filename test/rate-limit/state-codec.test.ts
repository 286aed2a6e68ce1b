import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeState, encodeState } from "../../src/state/budget-file.ts";
import { coldState, type RateLimitState } from "../../src/rate-limit/state.ts";
import { limiterKinds, simulate } from "../support/rate-limit/simulated-budget.ts";
import { openLedger, openedLedger } from "../support/rate-limit/rate-limit.ts";

const wallMs = 1_800_000_000_000;
type Clocks = Parameters<typeof encodeState>[1];

const at = (monotonicMs: number, more: Partial<Clocks> = {}): Clocks => ({
  bootId: "boot-a",
  monotonicMs,
  wallMs: wallMs + monotonicMs,
  ...more,
});
const exhausted = (): RateLimitState => {
  const ledger = openedLedger({ defaultLimit: 2 });
  ledger.answer(ledger.send(200), 300, 0);
  return ledger.state();
};

test("the state comes back as it was, for every state that a simulation leads to", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), fc.constantFrom(...limiterKinds), (seed, kind) => {
      const pace = { latencyMs: [5, 3_000] as const, concurrency: 6, durationMs: 70_000 };
      const outcome = simulate({ seed, kind, ...pace, loss: 0.1, othersPerSecond: 0.3 });
      const here = at(outcome.endedAt + 60_000);
      expect(decodeState(encodeState(outcome.state, here), here)).toEqual(outcome.state);
    }),
    { numRuns: 50 },
  );
});

// Fault: clock | the machine restarts within a used-up window | the stored budget | the rest of the window is still waited for
// Fault: clock | the machine loses power, and the budget's file its last steps | the stored budget | a window is waited out after the boot
test("after another boot a window is waited out: the last steps may be lost, and times mean nothing", () => {
  const text = encodeState(exhausted(), at(400));
  const bootedAt = (monotonicMs: number) => {
    const here = { bootId: "boot-b", monotonicMs, wallMs: wallMs + 20_400 };
    const known = decodeState(text, here);
    const { limit, nextId } = exhausted();
    expect(known).toMatchObject({ limit, nextId, window: null, flights: [] });
    return openLedger({ defaultLimit: 2 }, known ?? coldState);
  };
  expect(bootedAt(12_000).nextAt(12_000)).toBe(61_000);
  expect(bootedAt(61_000).room(61_000)).toBeGreaterThan(0);
});

const stored = () => encodeState(exhausted(), at(400));
interface StoredState {
  version: number;
  readonly state: Record<string, unknown>;
}
type Change = (document: StoredState) => void;
const changed = (change: Change) => {
  const document = JSON.parse(stored()) as StoredState;
  change(document);
  return JSON.stringify(document);
};

describe("an implausible state is discarded", () => {
  const garbage = ["", "null", "[]", "{}", '{"version":1}', "\u0000garbage", '{"version":1,"state":null}'];
  test.each(garbage)("%j", (text) => expect(decodeState(text, at(500))).toBeNull());

  test("another version, and a missing or odd part", () => {
    const changes: Change[] = [(document) => void (document.version = 2)];
    for (const key of Object.keys(exhausted()))
      for (const odd of [undefined, "x", -1, { a: 1 }]) changes.push(({ state }) => void (state[key] = odd));
    for (const change of changes) expect(decodeState(changed(change), at(500))).toBeNull();
  });
});

describe("the edge of what is plausible", () => {
  const here = at(500);
  const known = (more: Partial<RateLimitState>) =>
    decodeState(encodeState({ ...exhausted(), ...more }, here), here) !== null;
  const paused = (pausedUntil: number) => known({ refusals: { ...coldState.refusals, pausedUntil } });

  test("is a pause of a day", () => {
    expect([paused(500 + 86_400_000), paused(501 + 86_400_000)]).toEqual([true, false]);
  });

  // Fault: clock | the wall clock is set between two processes | the stored budget | the state is kept, because the boot is the same
  // Fault: clock | the stored budget is of the future | the stored budget | discarded
  test("is a clock that is a second behind, whatever the wall clock shows in the same boot", () => {
    const text = encodeState(coldState, here);
    const readAt = (monotonicMs: number) => decodeState(text, at(monotonicMs, { wallMs: 5 }));
    expect([readAt(-500), readAt(-501)]).toEqual([coldState, null]);
  });

  test("is a limit of 1, a first request of number 1, and no count below 0", () => {
    expect([known({ limit: 1 }), known({ limit: 0 })]).toEqual([true, false]);
    expect([known({ nextId: 1 }), known({ nextId: 0 })]).toEqual([true, false]);
    const taking = (perWindow: number) => known({ others: { perWindow, until: null } });
    expect([taking(0), taking(-1)]).toEqual([true, false]);
  });

  test("of clocks of which a boot is not known is a second, less counts as none", () => {
    const ledger = openedLedger();
    ledger.send(200);
    const text = encodeState(ledger.state(), here);
    const flightsAfter = (driftMs: number) =>
      decodeState(text, at(600, { bootId: null, wallMs: wallMs + 600 + driftMs }))?.flights.length;
    expect([flightsAfter(0), flightsAfter(-999), flightsAfter(-1_000)]).toEqual([1, 1, 0]);
  });
});
