import { describe, expect, test } from "vitest";
import { openedLedger } from "../support/rate-limit/rate-limit.ts";

describe("429", () => {
  test.each([
    [0, 2_300],
    [37, 38_300],
  ])("with Retry-After %i is waited out, a second at least, and a second more", (retryAfterS, endMs) => {
    const ledger = openedLedger();
    ledger.refuse(ledger.send(200), 300, retryAfterS);
    expect([ledger.nextAt(300), ledger.room(endMs)]).toEqual([endMs, 1]);
  });

  // Fault: limiter | 429 without Retry-After | the rate limiter's state | nothing is sent until the window has surely ended
  test("without it waits until the window has surely ended", () => {
    const ledger = openedLedger();
    ledger.refuse(ledger.send(200), 300, null);
    expect(ledger.nextAt(300)).toBe(60_200);
  });

  // Fault: limiter | 429 with a very long Retry-After | the rate limiter's state | asked again earlier
  test("with a very long Retry-After is asked again earlier", () => {
    const ledger = openedLedger();
    ledger.refuse(ledger.send(200), 300, 1_000_000);
    expect(ledger.nextAt(300)).toBe(600_300);
  });

  test("shows how much they took: what own requests did not", () => {
    const ledger = openedLedger();
    for (let i = 0; i < 50; i++) ledger.answer(ledger.send(200), 300, 118 - i);
    ledger.refuse(ledger.send(400), 500, 1);
    expect(ledger.state().window).toMatchObject({ foreign: 119 - 51 });
  });

  // Fault: limiter | 429 twice in a row | the rate limiter's state | one request at a time for a window
  test("twice in a row: one request at a time for a window", () => {
    const ledger = openedLedger();
    ledger.refuse(ledger.send(200), 300, 1);
    ledger.refuse(ledger.send(2_300), 2_400, 1);
    expect(ledger.nextAt(2_400)).toBe(4_400);
    const alone = ledger.send(4_400);
    expect(ledger.room(4_450)).toBe(0);
    ledger.answer(alone, 4_500, 119);
    expect(ledger.room(4_500)).toBe(1);
    expect(ledger.room(64_400)).toBeGreaterThan(1);
  });
});
