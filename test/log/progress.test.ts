import { EventEmitter, once } from "node:events";
import { describe, expect, test } from "vitest";
import type { BudgetView } from "../../src/rate-limit/permit.ts";
import { withProgress } from "../../src/log/progress.ts";
import { progressLines } from "../../src/log/progress-text.ts";
import { etaMs, progressFields } from "../../src/log/progress-view.ts";
import { createScreen } from "../../src/log/screen.ts";
import { createTerminal, jumpingClock, recordingLog, resource, view } from "../support/terminal.ts";

const plenty = { columns: 100, rows: 30, colour: false };

describe("the live block", () => {
  const busy = view({
    queued: 312,
    budget: { limit: 120, granted: 120, remaining: 0, waitMs: 12_300 },
    resources: [
      resource("banks", { phase: "done", done: 30, total: 30 }),
      resource("clients", { phase: "failed", done: 0 }),
      resource("invoices", { phase: "listing", done: 1200, total: 4800, changed: 12 }),
      resource("orders", { phase: "waiting" }),
    ],
  });

  test("shows phase, amount and changes of each resource; below them budget, queue and time left", () => {
    expect(progressLines(busy, plenty)).toEqual([
      "acme  1m 05s  1 of 4 resources done, 1 failed",
      "  banks     done     30 of 30",
      "  clients   failed   0",
      "  invoices  listing  1200 of 4800 25%  12 changed",
      "  budget 0 of 120, next request in 12s · 57 requests made, 312 queued · about 5m 56s left",
    ]);
  });

  test("shows since when a run waits for the service, and what comes, in place of the budget", () => {
    const outage = { forMs: 190_000, nextTryMs: 20_000, givesUpMs: 710_000, error: "GET /orders: 503" };
    expect(progressLines(view({ ...busy, outage }), plenty).at(-1)).toBe(
      "  no answer from the service for 3m 10s · next try in 20s, gives up in 11m 50s · GET /orders: 503",
    );
    expect(progressFields(view({ outage }))).toMatchObject({
      service_away: { for_ms: 190_000, next_try_ms: 20_000, gives_up_ms: 710_000 },
    });
  });

  test("is never wider or higher than the terminal, and keeps the resources in work", () => {
    const many = [
      ...Array.from({ length: 20 }, (_, i) => resource(`r${i}`, { phase: "done" })),
      resource("busy"),
    ];
    const lines = progressLines(view({ resources: many }), { columns: 40, rows: 8, colour: false });
    expect(lines.length).toBeLessThanOrEqual(8);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(40);
    expect(lines.join("\n")).toContain("busy");
  });

  test("says in the scrub that everything listed is in, and how much of it is done", () => {
    const scrub = { done: 1200, planned: 3600 };
    const [head] = progressLines(view({ scrub, queued: 2400 }), plenty);
    expect(head).toBe("acme  1m 05s  everything listed is in; scrub: 1,200 of 3,600");
    expect(progressFields(view({ scrub }))).toMatchObject({ phase: "scrub: everything listed is in", scrub });
    expect(progressFields(view({}))).not.toHaveProperty("phase");
  });

  test("shows when nothing is known yet", () => {
    const text = progressLines(
      view({ budget: { limit: null, granted: 120, remaining: null, waitMs: 0 } }),
      plenty,
    ).join("\n");
    expect(text).toContain("budget not known yet");
    expect(text).not.toContain("left");
  });

  test("is coloured only when asked", () => {
    expect(progressLines(busy, { ...plenty, colour: true }).join("")).toContain("\u001B[31m");
    expect(progressLines(busy, plenty).join("")).not.toContain("\u001B");
  });
});

function budget(limit: number | null, remaining: number | null, waitMs = 0): BudgetView {
  return { limit, granted: limit ?? 120, remaining, waitMs };
}

describe("the time left", () => {
  test.each([
    ["nothing queued", 0, budget(120, 5), 0],
    ["no limit known", 10, budget(null, null), null],
    ["all of it fits now", 60, budget(120, 63), 0],
    ["the rest fits the next window", 100, budget(120, 63), 60_000],
    ["the window is used up", 120, budget(120, 0, 7000), 7000],
    ["three windows more", 300, budget(120, 0, 7000), 127_000],
  ])("by the budget: %s", (_, queued, known, left) => {
    expect(etaMs(view({ queued, budget: known, requests: 10 }))).toBe(left);
  });

  test("by the pace so far where that is slower than the budget allows", () => {
    const slow = { requests: 50, elapsedMs: 100_000, queued: 30, budget: budget(60_000, 50_000) };
    expect(etaMs(view(slow))).toBe(60_000);
    expect(etaMs(view({ ...slow, requests: 3 }))).toBe(0);
  });
});

/** Works until `ticks` more snapshots were taken. */
function runOf(ticks: number) {
  let taken = 0;
  const finished = new EventEmitter();
  const end = once(finished, "end");
  const read = () => {
    taken += 1;
    if (taken === ticks) finished.emit("end");
    return [view({ resources: [resource("invoices", { done: taken, total: 9 })], queued: 5 })];
  };
  return { read, work: () => end };
}

async function fail(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  throw new Error("the run failed");
}

describe("a long run", () => {
  test("without a terminal logs a JSON line at least every 30 seconds: what, how much, time left", async () => {
    const clock = jumpingClock();
    const { log, records } = recordingLog({ clock });
    const terminal = createTerminal();
    const { read, work } = runOf(4);
    await withProgress({ screen: createScreen(terminal, false), log, clock, colour: false }, read, work);
    expect(terminal.visible()).toEqual([""]);
    expect(records().length).toBeGreaterThanOrEqual(4);
    expect(Math.max(...clock.slept)).toBeLessThanOrEqual(30_000);
    expect(records()[1]).toMatchObject({
      msg: "progress",
      company: "acme",
      requests: 57,
      queued: 5,
      eta_ms: 5702,
      resources: { invoices: { phase: "listing", done: 2, total: 9, changed: 0 } },
    });
  });

  test("at a terminal draws at most ten times a second and leaves nothing behind", async () => {
    const clock = jumpingClock();
    const terminal = createTerminal();
    const seen: string[][] = [];
    const { read, work } = runOf(3);
    const watched = () => {
      seen.push(terminal.visible());
      return read();
    };
    const screen = createScreen(terminal, true);
    await withProgress({ screen, log: recordingLog().log, clock, colour: false }, watched, work);
    expect(seen[1]).toEqual(expect.arrayContaining([expect.stringContaining("invoices  listing  1 of 9")]));
    expect(seen[2]).toEqual(expect.arrayContaining([expect.stringContaining("invoices  listing  2 of 9")]));
    expect(Math.min(...clock.slept)).toBeGreaterThanOrEqual(100);
    expect(terminal.visible()).toEqual([""]);
    expect(terminal.cursorHidden()).toBe(false);
  });

  test("that fails throws its error, with the terminal as it was", async () => {
    const terminal = createTerminal();
    const screen = createScreen(terminal, true);
    const options = { screen, log: recordingLog().log, clock: jumpingClock(), colour: false };
    await expect(withProgress(options, () => [view()], fail)).rejects.toThrow("the run failed");
    expect(terminal.cursorHidden()).toBe(false);
    expect(terminal.visible()).toEqual([""]);
  });
});

test("waiting resources are not in the log's fields: a line stays short", () => {
  const fields = progressFields(view({ resources: [resource("orders", { phase: "waiting" })] }));
  expect(fields["resources"]).toEqual({});
});
