import { expect, test } from "vitest";
import { CompanyCounters } from "../../src/host/counters.ts";
import { HttpCounters } from "../../src/http/exchange.ts";
import { Tally } from "../../src/sync/context/tally.ts";

function counted(inserted: number, statuses: readonly number[], waitedMs: number) {
  const tally = new Tally();
  for (let i = 0; i < inserted; i++) tally.count("invoices", "inserted");
  const stats = new HttpCounters();
  for (const status of statuses) stats.byStatus.set(status, (stats.byStatus.get(status) ?? 0) + 1);
  stats.unanswered++;
  stats.waitedMs += waitedMs;
  return { tally, transport: { stats: () => stats } };
}

test("counts only grow when a run that counted ends and the event worker goes on", () => {
  const counters = new CompanyCounters();
  const run = counted(2, [200, 200, 429], 30);
  const worker = counted(3, [200], 12);
  const during = counters.with([run, worker]);
  expect(during).toEqual({
    rows: [{ resource: "invoices", op: "inserted", count: 5 }],
    requests: { 200: 3, 429: 1, none: 2 },
    waitedMs: 42,
  });
  counters.add(run);
  expect(counters.with([worker])).toEqual(during);
  expect(counters.with([])).toMatchObject({ requests: { 200: 2, 429: 1, none: 1 }, waitedMs: 30 });
});

test("a quick run that ends well hides no failure of a whole run; one that fails is shown until the next", () => {
  const counters = new CompanyCounters();
  const shown = [
    { outcome: "complete", isQuick: true },
    { outcome: "failed", isQuick: false },
    { outcome: "complete", isQuick: true },
    { outcome: "unauthenticated", isQuick: true },
    { outcome: "partial", isQuick: true },
    { outcome: "complete", isQuick: false },
  ].map(({ outcome, isQuick }) => {
    counters.countRun(counted(0, [], 0), { outcome, startedMs: 1, finishedMs: 2, message: null }, isQuick);
    return counters.shownRun?.outcome ?? null;
  });
  expect(shown).toEqual([null, "failed", "failed", "unauthenticated", "failed", "complete"]);
});
