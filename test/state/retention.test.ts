import { describe, expect } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { countOld } from "../../src/state/retention/prune-mirror.ts";
import { readSizes } from "../../src/state/retention/sizes.ts";
import { Runs } from "../../src/state/runs.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { changeDaily, daysAgo, prune, makeRuns, answersOf } from "../support/mirror/prune.ts";
import { rows } from "../support/mirror/store.ts";

const all = { runsMs: 1_000, inboxBodiesMs: 1_000, changesMs: 1_000 };

describe("runs", () => {
  test.each([1, 2])("go by age; whatever is asked of the others has the same answer (%i)", async (seed) => {
    const mirror = await openHasty();
    makeRuns(mirror, seed);
    const before = answersOf(mirror.db);
    const { runs } = await prune(mirror, { runsMs: 300 * dayMs });
    expect(answersOf(mirror.db)).toEqual(before);
    expect(runs.rows).toBeGreaterThan(300);
    expect(new Runs(mirror.db).latest(1_000).length).toBe(700 - runs.rows);
    await prune(mirror, { runsMs: 1_000 });
    expect(answersOf(mirror.db)).toEqual(before);
    expect(new Runs(mirror.db).latest(1_000).length).toBeLessThan(150);
    expect((await prune(mirror, { runsMs: 1_000 })).runs.rows).toBe(0);
  });

  test("those of an open list, and the first whole one, stay", async ({ mirror }) => {
    const runs = new Runs(mirror.db);
    for (let day = 20; day > 0; day--)
      runs.finish(runs.begin("incremental", daysAgo(day), null, {}), daysAgo(day), "complete", {
        resources: {},
      });
    mirror.db
      .exec(`INSERT INTO _listings (resource, variant, run, attempt, started_seq, started_at, per_page, pages, total,
      steady) VALUES ('people', '', 7, 1, 1, '', 2, 1, 1, 1)`);
    await prune(mirror, all);
    expect(runs.latest(99).map(({ id }) => id)).toEqual([20, 7, 1]);
  });
});

test("sizes: about what the tables take, of few rows read", ({ mirror }) => {
  expect(readSizes(mirror.db)).toMatchObject({
    inbox: { rows: 0, bytes: 0 },
    runs: { rows: 0, bytes: 0 },
  });
  changeDaily(mirror, 100, 7);
  makeRuns(mirror, 4);
  const sizes = readSizes(mirror.db);
  expect(sizes.change_log.rows).toBe(700);
  const kept = Number(
    rows(mirror, "SELECT sum(pgsize) AS bytes FROM dbstat WHERE name = '_change_log'")[0]?.["bytes"],
  );
  expect(sizes.change_log.bytes / kept).toBeGreaterThan(0.7);
  expect(sizes.change_log.bytes / kept).toBeLessThan(1.4);
  expect(sizes.runs.rows).toBe(700);
  expect(sizes.database_bytes).toBeGreaterThan(kept);
});

// Fault: clock | rows written by a clock that was ahead | the times of old rows | they go with an old one written after them, and not without
test("rows are old by their times and their order", () => {
  const limit = { until: daysAgo(10), now: daysAgo(0) };
  const [old, young, ahead] = [{ at: daysAgo(11) }, { at: daysAgo(9) }, { at: daysAgo(-1) }];
  const undated = { at: null };
  expect(countOld([], limit)).toBe(0);
  expect(countOld([old, old, young, old], limit)).toBe(2);
  expect(countOld([young, old], limit)).toBe(0);
  expect(countOld([ahead, undated, old, ahead, young], limit)).toBe(3);
  expect(countOld([ahead, ahead], limit)).toBe(0);
});
