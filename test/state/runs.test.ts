import { expect } from "vitest";
import { Parents } from "../../src/state/parents.ts";
import { Runs } from "../../src/state/runs.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put, remove } from "../support/mirror/store.ts";

test("parents never listed come first, then the stalest; deleted ones not at all", ({ mirror }) => {
  const parents = new Parents(mirror.db);
  for (const id of [1, 2, 3, 4]) put(mirror, "people", person(id));
  const listed = (id: number, atMs: number, run: number, resource = "notes") =>
    parents.markListed(resource, { resource: "people", id }, atMs, run);
  listed(1, 2_000, 7);
  listed(2, 1_000, 5);
  listed(3, 500, 4);
  // The clock was set back: the later run counts.
  listed(3, 300, 8);
  listed(4, 1, 9, "other");
  remove(mirror, "people", 2);
  expect(parents.stalest("notes", ["people"], 9)).toEqual([
    { resource: "people", id: 4, listedAtMs: null, run: null },
    { resource: "people", id: 1, listedAtMs: 2_000, run: 7 },
    { resource: "people", id: 3, listedAtMs: 300, run: 8 },
  ]);
  expect(parents.stalest("notes", ["people"], 1)).toHaveLength(1);
  const idsBefore = (run: number) => parents.stalest("notes", ["people"], 9, run).map(({ id }) => id);
  expect([0, 7, 8, 9].map(idsBefore)).toEqual([[4], [4], [4, 1], [4, 1, 3]]);
  expect([7, 8, 9].map((run) => parents.countListed("notes", run))).toEqual([2, 1, 0]);
});

test("a run that has only its scrub left counts as one that read everything", async () => {
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
