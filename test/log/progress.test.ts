import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import type { BudgetView } from "../../src/rate-limit/permit.ts";
import {
  progressBlock,
  withLine,
  withProgress,
  etaMs,
  progressFields,
  type ProgressView,
} from "../../src/log/progress.ts";
import { createScreen } from "../../src/log/screen.ts";
import { createTerminal, jumpingClock, recordingLog, resource, view } from "../support/terminal/terminal.ts";

const plenty = { columns: 100, rows: 30, colour: false };

type Room = Parameters<typeof progressBlock>[1];

/** Of one run, which leaves a line of the terminal free. */
const progressLines = (one: ProgressView, room: Room) =>
  progressBlock([one], { ...room, rows: room.rows + 1 });

const ahead = { lists: 30, openLists: 2, details: 3600, isKnown: true };

const companies = (count: number, facts: ProgressView) =>
  Array.from({ length: count }, (_, i) => ({ ...facts, company: `company-${i + 1}` }));

describe("the live block", () => {
  const busy = view({
    queued: 312,
    ahead,
    budget: { limit: 120, granted: 108, remaining: 0, waitMs: 12_300 },
    resources: [
      resource("banks", { phase: "done", done: 30, total: 30 }),
      resource("clients", { phase: "failed", done: 0 }),
      resource("invoices", { phase: "listing", done: 1046, total: 2500, changed: 12 }),
      resource("orders", { phase: "listing", waiting: 1 }),
      resource("visits", { phase: "listing", waiting: 40 }),
      resource("units", { phase: "waiting" }),
    ],
  });

  test("shows first the lists, each with its amount; below them the time left at the rate that is granted", () => {
    expect(progressLines(busy, plenty)).toEqual([
      "acme  1m 05s  reading lists: 4 of 6 in, 1 failed",
      "  banks     30",
      "  clients   0  failed",
      "  invoices  1,046 of 2,500  12 changed",
      "  visits    40 lists to read",
      "  about 1h 08m left · budget 0 of 120, next in 12s · 57 requests made, 3,630 to go",
    ]);
    const unknown = view({ ...busy, ahead: { ...ahead, isKnown: false } });
    expect(progressLines(unknown, plenty).at(-1)).toContain("at least 1h 08m left");
    expect(progressLines(busy, { ...plenty, colour: true }).join("")).toContain("\u001B[31m");
    expect(progressLines(busy, plenty).join("")).not.toContain("\u001B");
  });

  test("then what is still provisional, counting down, without what is in", () => {
    const resources = [
      resource("banks", { phase: "done", done: 30, total: 30 }),
      resource("invoices", { phase: "reading", done: 1046, total: 2500, changed: 2500 }),
    ];
    const left = { ...ahead, lists: 0, openLists: 0, details: 1454 };
    const details = view({ resources, queued: 1454, ahead: left });
    expect(progressLines(details, plenty)).toEqual([
      "acme  1m 05s  every list is in; 1,454 still to be read",
      "  invoices  1,454 of 2,500 still provisional",
      "  about 27m 38s left · budget 63 of 120 · 57 requests made, 1,454 to go",
    ]);
  });

  test("has the same parts in 40 columns, the time left before what is cut off, and what is in work where there is much", () => {
    const lines = progressLines(busy, { columns: 40, rows: 8, colour: false });
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(40);
    expect(lines[0]).toBe("acme  1m 05s  reading lists: 4 of 6 in…");
    expect(lines).toContain("  invoices  1,046 of 2,500  12 changed");
    expect(lines.at(-1)).toMatch(/^ {2}about 1h 08m left · budget/);
    const done = Array.from({ length: 20 }, (_, i) => resource(`r${i}`, { phase: "done" }));
    const many = view({ resources: [...done, resource("busy")] });
    const shown = progressLines(many, { columns: 40, rows: 8, colour: false });
    expect([shown.length <= 8, shown.some((line) => line.includes("busy"))]).toEqual([true, true]);
  });

  test("of several companies shares the room; of more than fit has a line each, and counts the rest", () => {
    const two = progressBlock(companies(2, busy), { columns: 80, rows: 24, colour: false });
    expect(two.filter((line) => line.startsWith("company-"))).toHaveLength(2);
    expect(two.filter((line) => line.includes("1,046 of 2,500"))).toHaveLength(2);
    const many = progressBlock(companies(30, busy), { columns: 60, rows: 12, colour: false });
    expect(many).toHaveLength(11);
    expect(Math.max(...many.map((line) => line.length))).toBeLessThan(60);
    expect(many[0]).toBe("company-1   reading lists: 4 of 6 in, 1 failed  about 1h 0…");
    expect(many.at(-1)).toBe("and 20 more companies");
  });

  test("shows since when a run waits for the service, and what comes, in place of the budget", () => {
    const outage = { for_ms: 190_000, next_try_ms: 20_000, gives_up_ms: 710_000, error: "GET /orders: 503" };
    expect(progressLines(view({ ...busy, outage }), plenty).at(-1)).toBe(
      "  no answer from the service for 3m 10s · next try in 20s, gives up in 11m 50s · GET /orders: 503",
    );
    const { error: _, ...times } = outage;
    expect(progressFields(view({ outage }))).toMatchObject({ service_away: times });
  });

  test("says in the scrub that everything listed is in, and how much of it is done", () => {
    const scrub = { done: 1200, planned: 3600 };
    const [head] = progressLines(view({ scrub, queued: 2400 }), plenty);
    expect(head).toBe(
      "acme  1m 05s  everything listed is in; proving details: 1,200 of 3,600, Ctrl-C loses nothing",
    );
    expect(progressFields(view({ scrub }))).toMatchObject({ phase: "scrub: everything listed is in", scrub });
    const waiting = view({ resources: [resource("orders", { phase: "waiting" })] });
    expect(progressFields(waiting)).toMatchObject({ resources: {} });
    expect(progressFields(waiting)).not.toHaveProperty("phase");
  });

  test("shows when nothing is known yet", () => {
    const text = progressLines(view({ budget: budget(null, null) }), plenty).join("\n");
    expect(text).toContain("budget not known yet");
    expect(text).not.toContain("left");
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

/** Works until `ticks` views were taken. */
function runOf(ticks: number, clock: Clock) {
  const taken: ProgressView[] = [];
  const read = () => {
    const invoices = resource("invoices", { done: taken.length + 1, total: 9 });
    taken.push(view({ resources: [invoices], queued: 5 }));
    return taken.slice(-1);
  };
  const work = async () => {
    while (taken.length < ticks) await clock.sleep(1_000);
  };
  return { read, work };
}

function shownAt(isTerminal: boolean) {
  const clock = jumpingClock();
  const terminal = createTerminal();
  const { log, records } = recordingLog({ clock });
  const options = { screen: createScreen(terminal, isTerminal), log, clock, colour: false };
  return { clock, terminal, records, options };
}

/** What is logged of the plan of a run that looks so, one view after the other. */
async function plansOf(...views: readonly ProgressView[]) {
  const { clock, records, options } = shownAt(false);
  let taken = 0;
  const work = async () => {
    while (taken < views.length) await clock.sleep(1_000);
  };
  await withProgress(options, () => views.slice(taken, ++taken), work);
  return records().filter(({ msg }) => String(msg).includes("requests to make"));
}

test("the plan of a run is logged once, as soon as every list has shown its length: requests and time at the granted budget", async () => {
  const ready = view({ queued: 40, requests: 20, ahead, budget: budget(120, 63) });
  const unknown = { ...ready, ahead: { ...ahead, isKnown: false } };
  const msg =
    "acme: about 3,630 requests to make, about 30m 00s at 120 in 1m 00s (30 for lists, 3,600 for details)";
  const plan = { msg, requests: 3630, eta_ms: 1_800_000 };
  expect(await plansOf(unknown, ready, ready, ready)).toMatchObject([plan]);
  const [night] = await plansOf({ ...ready, queued: 30, ahead: { ...ahead, details: 0 } });
  expect(night?.["msg"]).toContain(
    "30 requests to make, less than a minute at 120 in 1m 00s (30 for lists, 0 for details)",
  );
});

describe("a long run", () => {
  test("without a terminal says that it is at work also where it waits for others, or makes reports", async () => {
    const { clock, records, options } = shownAt(false);
    const wait = () => clock.sleep(90_000);
    await withProgress(options, () => [], wait);
    await withLine(options, (show) => {
      show(() => "acme: making the report");
      return wait();
    });
    const said = records().map(({ msg }) => msg);
    expect(said).toContain("still at work, for 20s");
    expect(said).toContain("acme: making the report");
    expect(Math.max(...clock.slept.filter((ms) => ms < 90_000))).toBeLessThanOrEqual(30_000);
  });

  test("without a terminal logs a JSON line at least every 30 seconds: what, how much, time left", async () => {
    const { clock, terminal, records, options } = shownAt(false);
    const { read, work } = runOf(4, clock);
    await withProgress(options, read, work);
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

  test("at a terminal draws at most ten times a second, and leaves it as it was also where it fails", async () => {
    const { clock, terminal, options } = shownAt(true);
    const seen: string[][] = [];
    const { read, work } = runOf(3, clock);
    const watched = () => {
      seen.push(terminal.visible());
      return read();
    };
    const fail = () => work().then(() => Promise.reject(new Error("the run failed")));
    await expect(withProgress(options, watched, fail)).rejects.toThrow("the run failed");
    expect(seen[1]).toEqual(expect.arrayContaining([expect.stringContaining("invoices  1 of 9")]));
    expect(seen[2]).toEqual(expect.arrayContaining([expect.stringContaining("invoices  2 of 9")]));
    expect(Math.min(...clock.slept)).toBeGreaterThanOrEqual(100);
    expect(terminal.visible()).toEqual([""]);
    expect(terminal.cursorHidden()).toBe(false);
  });
});
