import { expect, test } from "vitest";
import { Totals } from "../../src/daemon/counters.ts";
import { createCounter } from "../../src/http/stats.ts";
import { Tally } from "../../src/sync/context/tally.ts";

function counted(inserted: number, statuses: readonly number[], waitedMs: number) {
  const tally = new Tally();
  for (let i = 0; i < inserted; i++) tally.count("invoices", "inserted");
  const counter = createCounter();
  for (const status of statuses) counter.status(status);
  counter.unanswered();
  counter.waited(waitedMs);
  return { tally, stats: counter.read() };
}

test("counts only grow when one who counted ends and another goes on", () => {
  const totals = new Totals();
  const run = counted(2, [200, 200, 429], 30);
  const tender = counted(3, [200], 12);
  const during = totals.with([run, tender]);
  expect(during).toEqual({
    rows: [{ resource: "invoices", op: "inserted", count: 5 }],
    requests: { 200: 3, 429: 1, none: 2 },
    waitedMs: 42,
  });
  totals.add(run.tally, run.stats);
  expect(totals.with([tender])).toEqual(during);
  expect(totals.with([])).toMatchObject({ requests: { 200: 2, 429: 1, none: 1 }, waitedMs: 30 });
});
