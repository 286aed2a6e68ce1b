import { describe, expect, test } from "vitest";
import { isoTime } from "../../src/base/clock.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { scrubAgeMs } from "../../src/sync/context/limits.ts";
import { addInitialWork } from "../../src/sync/plan/initial-work.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { openShop } from "../support/mirror.ts";
import { put, stampOf, remove, rows, startMs } from "../support/store.ts";
import { childPage, page, runContextOf, waiting } from "../support/sync.ts";

const person = (id: number) => ({ id, name: `n${id}`, email: null, score: null });
const order = (id: number) => ({ id, number: "1", total: 1, lines: [], receipts: [] });

function orderReadAt(mirror: Mirror, id: number, receivedAtMs: number): void {
  put(mirror, "orders", order(id), { source: "detail", stamp: stampOf(mirror, { receivedAtMs }) });
}

function addWork(run: RunContext, scrubAllowance = 0): string[] {
  run.mirror.apply(() => addInitialWork(run, null, scrubAllowance));
  return waiting(run);
}

describe("the scrub", () => {
  test("picks the details read longest ago, as many as the allowance, in the last lane", async () => {
    const mirror = await openShop();
    const old = startMs - scrubAgeMs;
    for (const [id, agoMs] of [
      [1, 10],
      [2, 30],
      [3, 20],
    ] as const) {
      orderReadAt(mirror, id, old - agoMs);
    }
    const run = runContextOf(mirror, {}, ["orders"]);
    expect(addWork(run, 2)).toEqual([
      "orders page::1 list sweep",
      "orders id:2 detail scrub",
      "orders id:3 detail scrub",
    ]);
    expect(rows(mirror, "SELECT DISTINCT lane FROM _work WHERE reason = 'scrub'")).toEqual([{ lane: 4 }]);
  });

  test("leaves out young details, deleted records, and everything without an allowance", async () => {
    const mirror = await openShop();
    orderReadAt(mirror, 1, startMs - scrubAgeMs + 1);
    orderReadAt(mirror, 2, startMs - scrubAgeMs);
    orderReadAt(mirror, 3, startMs - scrubAgeMs - 1);
    remove(mirror, "orders", 3, stampOf(mirror, { receivedAtMs: startMs - scrubAgeMs }));
    expect(addWork(runContextOf(mirror, {}, ["orders"]), 9)).toEqual([
      "orders page::1 list sweep",
      "orders id:2 detail scrub",
    ]);
    const none = await openShop();
    orderReadAt(none, 1, 0);
    expect(addWork(runContextOf(none, {}, ["orders"]), 0)).toEqual(["orders page::1 list sweep"]);
  });

  test("has nothing to do in a full run, nor where lists give full records", async () => {
    const mirror = await openShop();
    orderReadAt(mirror, 1, 0);
    put(mirror, "people", person(1), { stamp: stampOf(mirror, { receivedAtMs: 0 }) });
    expect(addWork(runContextOf(mirror, { full: true }, ["orders"]), 9)).toEqual([
      "orders page::1 list sweep",
    ]);
    expect(addWork(runContextOf(mirror, {}, ["people"]), 9)).not.toContain("people id:1 detail scrub");
  });
});

describe("parents' lists", () => {
  test("of parents whose own list this run reads come with that list, not before", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1));
    expect(addWork(runContextOf(mirror, {}, ["people", "notes"]))).toEqual(["people page::1 list sweep"]);
  });

  test("of parents that are not selected are taken from the mirror", async () => {
    const mirror = await openShop();
    for (const id of [1, 2]) put(mirror, "people", person(id));
    remove(mirror, "people", 2);
    expect(addWork(runContextOf(mirror, {}, ["notes"]))).toEqual(["notes child:people:1:1 child parent"]);
  });

  test("spread over runs: every parent is read in time, the stalest first, a new one within the budget", async () => {
    const mirror = await openShop();
    for (const id of [1, 2, 3]) put(mirror, "people", person(id));
    const nights: string[][] = [];
    for (let night = 0; night < 4; night++) {
      mirror.db.exec("DELETE FROM _work");
      const run = runContextOf(mirror, { parentBudget: { left: 2 } }, ["people", "notes"]);
      const chosen = addWork(run).filter((row) => row.startsWith("notes"));
      nights.push(chosen.map((row) => row.split(":")[2] ?? ""));
      const at = stampOf(mirror, { receivedAtMs: startMs + night * 1_000 });
      for (const row of chosen) await childPage(run, Number(row.split(":")[2]), [], { at });
    }
    expect(nights).toEqual([
      ["1", "2"],
      ["3", "1"],
      ["2", "1"],
      ["3", "1"],
    ]);
  });

  test("spread over runs: listing the parents queues no known ones again, and new ones within the budget", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1));
    const run = runContextOf(mirror, { parentBudget: { left: 2 } }, ["people", "notes"]);
    addWork(run);
    await page(run, "people", [person(1), person(2), person(3)], { perPage: 5 });
    expect(waiting(run).filter((row) => row.startsWith("notes"))).toEqual([
      "notes child:people:1:1 child parent",
      "notes child:people:2:1 child parent",
    ]);
  });
});

test("dead letters and held rows of this run's resources are tried again, those of others wait", async () => {
  const mirror = await openShop();
  const run = runContextOf(mirror, {}, ["people"]);
  const dead = { kind: "detail", target: "id:1", lane: "hydration", reason: "new", dirtySeq: 1 } as const;
  for (const resource of ["people", "orders"]) {
    run.queue.add({ ...dead, resource });
    run.queue.hold(resource, "403");
  }
  addWork(run);
  expect(run.queue.isReady("people", "id:1")).toBe(true);
  expect(run.queue.isReady("orders", "id:1")).toBe(false);
});

test("a page left by a run that ended is dropped with its listing before the list begins again", async () => {
  const mirror = await openShop();
  const run = runContextOf(mirror, {}, ["people"]);
  await page(run, "people", [person(1), person(2)], { total: 6 });
  expect(rows(run.mirror, "SELECT * FROM _listings")).toHaveLength(1);
  expect(addWork(run)).toEqual(["people page::1 list sweep"]);
  expect(rows(run.mirror, "SELECT * FROM _listings")).toEqual([]);
});

test("an interrupted run's open list is continued, page by page", async () => {
  const mirror = await openShop();
  const run = runContextOf(mirror, {}, ["people"]);
  await page(run, "people", [person(1), person(2)], { total: 6 });
  const unfinished = { id: 1, startedAt: isoTime(startMs - 1_000), swept: {} };
  mirror.apply(() => addInitialWork(run, unfinished, 0));
  expect(waiting(run)).toEqual(["people page::3 list sweep", "people page::2 list sweep"]);
  expect(rows(run.mirror, "SELECT * FROM _listings")).toHaveLength(1);
});
