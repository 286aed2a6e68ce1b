import { expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import {
  aCompany,
  aMirroredCompany,
  sync,
  type Company,
  type SyncOptions,
} from "../support/company/company.ts";
import { expectEqual } from "../support/truth/equal.ts";
import { floorOf, spentOn, truthOf } from "../support/truth/truth.ts";

const inFlight = 6;
const startMs = Date.parse("2026-11-20T02:00:00Z");

function leastOf({ sandbox }: Company): number {
  const { lists, details, children } = floorOf(truthOf(sandbox));
  return lists.length + details.length + children.length;
}

/** A run that is stopped when it asks for so many. */
async function stoppedRun(company: Company, request: number, options: SyncOptions): Promise<void> {
  const stop = new AbortController();
  const at = company.proxy.asked.length + request;
  const remove = company.proxy.obstruct(({ n }) => {
    if (n >= at) stop.abort();
    return undefined;
  });
  await sync(company, { ...options, signal: stop.signal });
  remove();
}

// Fault: process | a run is stopped 8 times, and resumed up to 19 hours later | the run's signal, at varied requests | only what was in flight is read twice; equal at the end
test("a run that was stopped is resumed 19 hours later: only what was in flight is read twice, also after 8 stops", async () => {
  const company = await aCompany({ records: 30 });
  const pauseMs = 19 * hourMs;
  const stops = 8;
  for (let n = 0; n < stops; n++)
    await stoppedRun(company, 6 + ((n * 7) % 12), {
      startAtMs: startMs + Math.floor((n * pauseMs) / stops),
    });
  const report = await sync(company, { startAtMs: startMs + pauseMs });
  expect(report).toMatchObject({ outcome: "complete", resumed: true });
  // One request of each run asks who the company is.
  expect(company.proxy.asked.length).toBeLessThanOrEqual(leastOf(company) + stops * (inFlight + 1));
  expectEqual(company);
});

const share = 12;

// Fault: process | runs of a chain are stopped by a limit, a signal and a kill | `parents_per_run: N` | the chain is one share of N, and no parent's list is read twice
test("a chain of stopped runs reads one share of parents' lists, and none twice; the next chain reads others", async () => {
  const company = await aMirroredCompany({}, { startAtMs: startMs - hourMs });
  const { lists, children } = floorOf(truthOf(company.sandbox));
  const chain = async (atMs: number) => {
    const asked = company.proxy.asked.length;
    const options = { parentsPerRun: share, startAtMs: atMs };
    await stoppedRun(company, lists.length + 4, options);
    const limited = await sync(company, { ...options, mostRequests: 5 });
    // The clock was set back: what was read is known by its run.
    await stoppedRun(company, 3, { ...options, startAtMs: atMs - minuteMs });
    const last = await sync(company, { ...options, concurrency: 1 });
    expect([limited.outcome, last.outcome]).toEqual(["stopped", "complete"]);
    return spentOn(company.proxy.asked.slice(asked)).children;
  };
  const first = await chain(startMs);
  const second = await chain(startMs + hourMs);
  for (const read of [first, second]) {
    expect(new Set(read).size).toBe(share);
    // Requests that were in flight when a run was stopped are sent again.
    expect(read.length).toBeLessThanOrEqual(share + 2 * inFlight);
  }
  expect(children.length).toBeGreaterThan(2 * share);
  expect(new Set([...first, ...second]).size).toBe(2 * share);
});
