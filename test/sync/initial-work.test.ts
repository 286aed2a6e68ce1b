import { describe, expect } from "vitest";
import { listAgeMs, addInitialWork, refreshLists } from "../../src/sync/plan/initial-work.ts";
import { mostQuarantined, queueScrub } from "../../src/sync/plan/read-reasons.ts";
import { childList } from "../../src/sync/plan/list-reads.ts";
import { useScrubDay } from "../../src/sync/plan/scrub.ts";
import { createRunContext, type RunContext } from "../../src/sync/context/run-context.ts";
import { openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { test as shopTest } from "../support/mirror/shop-test.ts";
import { note, order, person } from "../support/mirror/shop-records.ts";
import { work } from "../support/mirror/state-rows.ts";
import { put, stampOf, remove, rows, startMs, texts } from "../support/mirror/store.ts";
import { childPage, leaseNext, page, runContextOf, waiting } from "../support/mirror/run.ts";

const test = shopTest.extend("run", ({ mirror }) => runContextOf(mirror, {}, ["people"]));

const child = (id: number) => `notes child:people:${id}:1 child parent`;

function addWork(run: RunContext): string[] {
  run.mirror.apply(() => addInitialWork(run, null));
  return waiting(run);
}

describe("parents' lists", () => {
  test("never read are read at once, without the parents' list, others by the scrub", async ({ mirror }) => {
    for (const id of [1, 2, 3]) put(mirror, "people", person(id));
    remove(mirror, "people", 2);
    const run = runContextOf(mirror, {}, ["notes"]);
    await childPage(run, 3, []);
    expect(addWork(run)).toEqual([child(1)]);
    expect(leaseNext(run.queue, ["notes"]).lane).toBe("hydration");
  });

  test("of new parents are queued when the parents' own list shows them", async ({ mirror }) => {
    put(mirror, "people", person(1));
    const run = runContextOf(mirror, {}, ["people", "notes"]);
    await childPage(run, 1, []);
    expect(addWork(run)).toEqual(["people page::1 list sweep"]);
    await page(run, "people", [person(1), person(2)]);
    expect(waiting(run)).toEqual([child(2)]);
  });

  test("of new parents are queued, too, where the lists were named and the config leaves them out", async ({
    mirror,
  }) => {
    const run = runContextOf(mirror, {}, ["people", "notes"]);
    const named = createRunContext(run, { ...run, mirrored: [resourceOf("people")] });
    await page(named, "people", [person(1)]);
    expect(waiting(named)).toEqual([child(1)]);
  });

  test("I5: of which deletions were held are read by each run, until one removes them", async ({
    mirror,
  }) => {
    put(mirror, "people", person(1));
    await childPage(runContextOf(mirror, {}, ["notes"]), 1, [note(1, 1)]);
    for (let id = 1; id <= 30; id++) put(mirror, "notes", note(id, 1));
    await childPage(runContextOf(mirror, {}, ["notes"]), 1, []);
    for (const continued of [null, { id: 1, swept: {} }]) {
      const run = runContextOf(mirror, {}, ["notes"]);
      expect(texts(mirror, "SELECT state, error FROM _work")).toEqual(["held deletions are held"]);
      run.mirror.apply(() => addInitialWork(run, continued));
      expect(run.queue.counts()).toMatchObject([{ state: "ready", count: 1 }]);
      expect(waiting(run)).toEqual([child(1)]);
      await childPage(run, 1, []);
      expect(run.tally.allTroubles()).toMatchObject([{ kind: "held" }]);
    }
    const run = runContextOf(mirror, { allowMassDelete: true }, ["notes"]);
    addWork(run);
    await childPage(run, 1, []);
    expect(waiting(run)).toHaveLength(30);
  });

  test("that an interrupted run has not finished go on as they were", ({ mirror }) => {
    put(mirror, "people", person(1));
    const run = runContextOf(mirror, {}, ["notes"]);
    const payload = { parent: "people", parentId: "1", page: 1, attempt: 2 };
    const item = { kind: "child", resource: "notes", target: "child:people:1:1", reason: "parent" } as const;
    run.queue.add(work({ ...item, payload }));
    expect(addWork(run)).toEqual([child(1)]);
    expect(leaseNext(run.queue, ["notes"]).payload).toEqual(payload);
  });

  test.each([
    ["a new run, its own share", null, 2, [2, 3, 4], 0],
    ["a run that goes on, what is left of the share", { id: 1, swept: {} }, 3, [2, 3], 0],
    ["a run that goes on, none beyond it", { id: 1, swept: {} }, 1, [2], -1],
  ])("of known parents are read in %s", async (_case, unfinished, left, expected, leftOver) => {
    const mirror = await openHasty();
    for (const id of [1, 2, 3, 4, 5]) put(mirror, "people", person(id));
    const before = runContextOf(mirror, {}, ["notes"]);
    await childPage(before, 1, []);
    before.queue.add(childList(before, "notes", { resource: "people", id: 2 }));
    const parentReads = { beforeRun: before.runId ?? 0, left };
    const run = runContextOf(mirror, { parentReads }, ["notes"]);
    mirror.apply(() => addInitialWork(run, unfinished));
    expect([waiting(run), parentReads.left]).toEqual([expected.map(child), leftOver]);
  });

  test("what a killed run left of its scrub is taken back, and so is its share of the day", ({ mirror }) => {
    const run = runContextOf(mirror, {}, ["orders", "receipts"]);
    put(mirror, "orders", order(1), { source: "detail" });
    mirror.apply(() => {
      const source = { table: "orders", listOf: null, date: null, referrers: [] };
      for (const id of [1, 2, 3]) queueScrub(run, { source, id, readAtMs: 0 });
      useScrubDay(mirror.meta, { startedMs: startMs - 1_000, used: 0, recent: 0 }, 5);
    });
    // Refusals held the resource; what is held is taken back as well.
    mirror.apply(() => run.queue.hold("orders", "403"));
    expect(addWork(run)).toEqual(["orders page::1 list sweep"]);
    expect(mirror.meta.get("scrub_day")).toEqual({ startedMs: startMs - 1_000, used: 2, recent: 0 });
  });

  test("spread over runs: a list queues no known parent, and new ones within budget", async ({ mirror }) => {
    put(mirror, "people", person(1));
    const parentReads = { beforeRun: 99, left: 2 };
    const run = runContextOf(mirror, { parentReads }, ["people", "notes"]);
    addWork(run);
    await page(run, "people", [person(1), person(2), person(3)], { perPage: 5 });
    expect(waiting(run).filter((row) => row.startsWith("notes"))).toEqual([child(1), child(2)]);
  });
});

async function runWithClock() {
  let nowMs = startMs;
  const run = runContextOf(await openHasty(), {}, ["people", "colours"]);
  const clock = { ...run.clock, nowMs: () => nowMs };
  return { run: { ...run, clock }, pass: (ms: number) => (nowMs += ms) };
}

describe("lists that grow old in a run that lasts days", () => {
  test("are read again 20 hours after they began, and no earlier", async () => {
    const { run, pass } = await runWithClock();
    addWork(run);
    await page(run, "people", []);
    await page(run, "colours", []);
    pass(listAgeMs - 1);
    expect([refreshLists(run), waiting(run)]).toEqual([false, []]);
    pass(1);
    expect(run).toSatisfy(refreshLists);
    expect(waiting(run)).toEqual(["colours page::1 list sweep", "people page::1 list sweep"]);
    expect(rows(run.mirror, "SELECT DISTINCT rank FROM _work")).toEqual([{ rank: 0 }]);
    expect(run).not.toSatisfy(refreshLists);
  });

  // Fault: clock | the clock is set by a year, back or ahead, in the middle of a run | the lists that it has begun | they are read once more
  test("seem to begin in the future where the clock was set back: they are read again", async () => {
    const { run, pass } = await runWithClock();
    addWork(run);
    for (const resource of ["people", "colours"]) await page(run, resource, []);
    pass(-30_000);
    expect(run).not.toSatisfy(refreshLists);
    pass(-3_600_000);
    expect(run).toSatisfy(refreshLists);
  });

  test("were begun by the run that this one continues, or now where no page of them was read", async () => {
    const { run, pass } = await runWithClock();
    const swept = { people: new Date(startMs - listAgeMs + 2).toISOString() };
    run.queue.add(work({ kind: "list", resource: "colours", target: "page::1", lane: "list" }));
    run.mirror.apply(() => addInitialWork(run, { id: 1, swept }));
    expect(waiting(run)).toEqual(["colours page::1 list new"]);
    await page(run, "colours", []);
    pass(1);
    expect(run).not.toSatisfy(refreshLists);
    pass(1);
    expect([refreshLists(run), waiting(run)]).toEqual([true, ["people page::1 list sweep"]]);
    await page(run, "people", []);
    pass(listAgeMs - 2);
    expect([refreshLists(run), waiting(run)]).toEqual([true, ["colours page::1 list sweep"]]);
  });

  test("are not begun twice: one that is still being read is left to its end, one that failed waits 20 hours", async () => {
    const { run, pass } = await runWithClock();
    addWork(run);
    await page(run, "people", [person(1), person(2)], { total: 6 });
    const fail = () => {
      const item = leaseNext(run.queue, ["colours"]);
      run.queue.deadLetter(item, "odd");
      run.queue.release(item);
    };
    fail();
    pass(listAgeMs);
    expect(run).toSatisfy(refreshLists);
    const pages = ["page::3", "page::2"].map((target) => `people ${target} list sweep`);
    expect(waiting(run)).toEqual(["colours page::1 list sweep", ...pages]);
    fail();
    pass(listAgeMs - 1);
    expect(run).not.toSatisfy(refreshLists);
    await page(run, "people", [person(5), person(6)], { page: 3, total: 6 });
    await page(run, "people", [person(3), person(4)], { page: 2, total: 6 });
    expect(run).toSatisfy(refreshLists);
    expect(waiting(run)).toEqual(["colours page::1 list sweep", "people page::1 list sweep"]);
  });

  test("take turns with details that wait, when they were read whole before", async () => {
    const { run, pass } = await runWithClock();
    run.queue.add(work());
    addWork(run);
    await page(run, "people", []);
    pass(listAgeMs);
    expect(run).toSatisfy(refreshLists);
    // Colours were never read whole.
    const sql = "SELECT resource, rank FROM _work WHERE kind = 'list' ORDER BY resource";
    expect(texts(run.mirror, sql)).toEqual(["colours 0", "people 1"]);
  });
});

test("dead letters and held rows of the run's resources are tried again, others wait", ({ run }) => {
  for (const resource of ["people", "orders"]) {
    run.queue.add(work({ resource }));
    run.queue.hold(resource, "403");
  }
  addWork(run);
  expect(run.queue.isQueued("people", "id:1")).toBe(true);
  expect(run.queue.isQueued("orders", "id:1")).toBe(false);
});

// Fault: service | a detail that cannot become a row, once | the records in quarantine at the start of a run | it is read again; what a list shows in full is judged with its list
test("I11: details in quarantine are read again, a bounded number in each run", ({ mirror }) => {
  const run = runContextOf(mirror, {}, ["people", "orders"]);
  const odd = (resource: string, id: number) =>
    mirror.quarantine.add(stampOf(mirror), { resource, id, reason: "odd", json: "{}" });
  odd("people", 1);
  for (let id = 1; id <= mostQuarantined + 1; id++) odd("orders", id);
  odd("notes", 1);
  const add = () => addWork(run).filter((one) => one.endsWith("quarantined"));
  const added = add();
  expect(added).toHaveLength(mostQuarantined);
  expect(added).toContain("orders id:1 detail quarantined");
  expect(added.filter((one) => !one.startsWith("orders"))).toEqual([]);
  expect(add()).toEqual(added);
});

test("a page left by a run that ended is dropped with its listing; the list begins anew", async ({ run }) => {
  await page(run, "people", [person(1), person(2)], { total: 6 });
  expect(rows(run.mirror, "SELECT * FROM _listings")).toHaveLength(1);
  run.queue.add(work({ target: "id:7" }));
  const left = ["people id:7 detail new", "people page::1 list sweep"];
  expect(addWork(run)).toEqual(left);
  expect(rows(run.mirror, "SELECT * FROM _listings")).toEqual([]);
});

test("a quick run's records are taken over and read with other changes, its lists not", ({ mirror, run }) => {
  const quick = { resource: "people", lane: "quick" } as const;
  run.queue.add(work({ ...quick, kind: "list", target: "page:quick open x:1" }));
  run.queue.add(work({ ...quick, target: "id:7" }));
  expect(addWork(run)).toEqual(["people id:7 detail new", "people page::1 list sweep"]);
  expect(leaseNext(run.queue, ["people"]).target).toBe("page::1");
  expect(texts(mirror, "SELECT lane FROM _work WHERE kind = 'detail'")).toEqual(["2"]);
});

test("a list that an interrupted run did not come to is begun, whatever else waits", ({ mirror, run }) => {
  run.queue.add(work({ target: "id:7" }));
  mirror.apply(() => addInitialWork(run, { id: 1, swept: {} }));
  expect(waiting(run)).toEqual(["people id:7 detail new", "people page::1 list sweep"]);
});

test("an interrupted run's open list is continued, page by page", async ({ mirror, run }) => {
  await page(run, "people", [person(1), person(2)], { total: 6 });
  const unfinished = { id: 1, swept: {} };
  mirror.db.prepare("UPDATE _listings SET started_at = ?").run(new Date(startMs - listAgeMs).toISOString());
  mirror.apply(() => addInitialWork(run, unfinished));
  expect(waiting(run)).toEqual(["people page::3 list sweep", "people page::2 list sweep"]);
  expect(rows(run.mirror, "SELECT * FROM _listings")).toHaveLength(1);
  // It takes so long that it is due once it is complete.
  expect(run.begunLists.get("people")?.begunMs).toBe(startMs - listAgeMs);
});
