import { describe, expect, test } from "vitest";
import { openedLedger, openLedger } from "../support/rate-limit/rate-limit.ts";

describe("a cold start", () => {
  test("that finds nothing left waits for the end of the window at the latest", () => {
    const ledger = openLedger();
    ledger.answer(ledger.send(0), 100, 0);
    expect(ledger.room(100)).toBe(0);
    expect(ledger.nextAt(100)).toBe(60_200);
  });

  test("whose opener is never answered sends the next one after a while", () => {
    const ledger = openLedger();
    ledger.send(0);
    expect(ledger.nextAt(10)).toBe(10_000);
    expect(ledger.room(10_000)).toBe(1);
  });
});

describe("within a window", () => {
  // Fault: limiter | answers arrive in another order | the rate limiter's state | no new window is assumed
  test("a reordered answer never opens a new window", () => {
    const ledger = openedLedger({ defaultLimit: 10 });
    const [slow, fast] = [ledger.send(200), ledger.send(210)];
    ledger.answer(fast, 300, 7);
    const before = ledger.state().window;
    ledger.answer(slow, 59_900, 8);
    expect(ledger.state().window).toMatchObject({ id: before?.id, deadAt: before?.deadAt, lowest: 7 });
  });

  // Fault: limiter | an answer is lost within a window | the rate limiter's state | it counts as spent until a report includes it
  test("a lost answer counts as spent until a later report includes it", () => {
    const ledger = openedLedger();
    ledger.lose(ledger.send(200), 500);
    expect(ledger.room(500)).toBe(118);
    ledger.answer(ledger.send(600), 700, 117);
    expect(ledger.room(700)).toBe(117);
  });

  // Fault: limiter | a request arrives after its process gave it up, or ended | the rate limiter's state | it counts as spent until its deadline, whatever is reported before
  test("a request that nobody waits for any more counts until its deadline: the service may count it late", () => {
    const ledger = openedLedger({ permitMs: 30_000 });
    ledger.lose(ledger.send(200), 500, true);
    ledger.answer(ledger.send(600), 700, 118);
    expect(ledger.room(700)).toBe(117);
    ledger.answer(ledger.send(30_100), 30_300, 117);
    expect(ledger.room(30_300)).toBe(116);
    ledger.answer(ledger.send(30_300), 30_400, 116);
    expect(ledger.room(30_400)).toBe(116);
  });

  test("a permit that is never finished is lost at its deadline, even of a process that died", () => {
    const ledger = openedLedger({ permitMs: 5_000 });
    for (let i = 0; i < 119; i++) ledger.send(200);
    expect(ledger.nextAt(200)).toBe(5_200);
    expect(ledger.room(5_200)).toBe(0);
    expect(ledger.nextAt(5_200)).toBe(60_200);
    expect(ledger.state().flights.length).toBe(119);
    expect(ledger.room(60_200)).toBe(1);
  });
});

// Fault: limiter | the service sends no budget headers | the rate limiter's state | one request at a time, never above the default limit
test("the service's statements win: a service without budget headers is asked one by one, and never more often than the default limit", () => {
  const ledger = openLedger({ defaultLimit: 3 });
  for (let i = 0; i < 3; i++) {
    expect(ledger.room(i * 100)).toBe(1);
    ledger.answer(ledger.send(i * 100), i * 100 + 50, null);
  }
  expect(ledger.room(300)).toBe(0);
  expect(ledger.nextAt(300)).toBe(250 + 60_100);
});
