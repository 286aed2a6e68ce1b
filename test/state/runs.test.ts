import { describe, expect, test } from "vitest";
import { Parents } from "../../src/state/parents.ts";
import { Runs } from "../../src/state/runs.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put, remove } from "../support/mirror/store.ts";

describe("parents spread over runs", () => {
  test("never listed ones come first, then the stalest; deleted ones not at all", async () => {
    const mirror = await openShop();
    const parents = new Parents(mirror.db);
    for (const id of [1, 2, 3, 4]) put(mirror, "people", person(id));
    parents.markListed("notes", "people", 1, 2_000);
    parents.markListed("notes", "people", 2, 1_000);
    parents.markListed("notes", "people", 3, 500);
    parents.markListed("notes", "people", 3, 3_000);
    parents.markListed("other", "people", 4, 1);
    remove(mirror, "people", 2);
    expect(parents.stalest("notes", ["people"], 9)).toEqual([
      { resource: "people", id: 4, listedAtMs: null },
      { resource: "people", id: 1, listedAtMs: 2_000 },
      { resource: "people", id: 3, listedAtMs: 3_000 },
    ]);
    expect(parents.stalest("notes", ["people"], 1)).toHaveLength(1);
    const idsOf = (listed: object) => parents.stalest("notes", ["people"], 9, listed).map(({ id }) => id);
    expect(idsOf({ beforeMs: 0 })).toEqual([4]);
    expect(idsOf({ beforeMs: 2_500 })).toEqual([4, 1]);
    expect(idsOf({ beforeMs: 1_500, nowMs: 2_500 })).toEqual([4, 3]);
  });
});

describe("runs", () => {
  test("one that has only its scrub left counts as one that read everything, cut off or not", async () => {
    const runs = new Runs((await openShop()).db);
    const at = "2026-03-01T00:00:00.000Z";
    const run = runs.begin("incremental", at, null, {});
    expect(runs.lastEnded()).toBeNull();
    const listed = { outcome: "complete", listed_at: "2026-03-01T00:05:00.000Z", troubles: [] };
    runs.noteListed(run, listed);
    expect(runs.lastEnded()).toMatchObject({ outcome: "complete", finishedAt: listed.listed_at });
    expect([...runs.successes(9)]).toMatchObject([{ startedAt: at }]);
    const finishedAt = "2026-03-01T00:30:00.000Z";
    runs.finish(run, finishedAt, "stopped", { ...listed, outcome: "stopped" });
    expect(runs.lastEnded()).toMatchObject({ outcome: "complete", finishedAt });
    expect([...runs.successes(9)]).toHaveLength(1);
    const next = runs.begin("incremental", at, null, {});
    runs.finish(next, finishedAt, "stopped", { outcome: "stopped", listed_at: null, troubles: [] });
    expect(runs.lastEnded()).toMatchObject({ id: next, outcome: "stopped" });
    expect([...runs.successes(9)]).toHaveLength(1);
  });

  test("are remembered with what they swept and reported, the latest first", async () => {
    const runs = new Runs((await openShop()).db);
    const first = runs.begin("full", "2026-03-01T00:00:00.000Z", null, {});
    runs.noteSwept(first, "people", "2026-03-01T00:00:01.000Z");
    runs.noteSwept(first, 'counters:"odd"', "2026-03-01T00:00:02.000Z");
    runs.finish(first, "2026-03-01T00:01:00.000Z", "complete", { outcome: "complete" });
    const second = runs.begin("incremental", "2026-03-02T00:00:00.000Z", first, { people: "carried over" });
    expect(runs.latest(5)).toMatchObject([
      { id: second, resumes: first, outcome: null, finishedAt: null, swept: { people: "carried over" } },
      {
        id: first,
        mode: "full",
        outcome: "complete",
        swept: { people: "2026-03-01T00:00:01.000Z", 'counters:"odd"': "2026-03-01T00:00:02.000Z" },
        report: { outcome: "complete" },
      },
    ]);
    expect(runs.latest(1)).toHaveLength(1);
  });
});
