import { describe, expect } from "vitest";
import { test } from "../support/mirror/mirror.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put, remove } from "../support/mirror/store.ts";

describe("questions about what the mirror holds", () => {
  test("live and deleted are counted apart, also where nothing is", ({ mirror }) => {
    const { records } = mirror;
    expect(records.counts("people")).toEqual({ live: 0, deleted: 0, provisional: 0 });
    for (const id of [1, 2]) put(mirror, "people", person(id));
    const began = mirror.sequence.next();
    put(mirror, "people", person(3));
    remove(mirror, "people", 2);
    expect(records.counts("people")).toEqual({ live: 2, deleted: 1, provisional: 0 });
    expect(records.liveIds("people")).toEqual([1, 3]);
    // What was received before a moment is what a list begun then must show.
    expect(records.liveIds("people", began)).toEqual([1]);
    expect([1, 2, 9].map((id) => records.isLive("people", id))).toEqual([true, false, false]);
  });

  test("rows are found by a column's value, tombstones are not", ({ mirror }) => {
    put(mirror, "people", person(1, { name: "A", email: "x" }));
    put(mirror, "people", person(2, { name: "A", email: "y" }));
    put(mirror, "people", person(3, { name: "A", email: "x" }));
    remove(mirror, "people", 3);
    expect(mirror.records.liveIdsWhere("people", { name: "A" })).toEqual([1, 2]);
    expect(mirror.records.liveIdsWhere("people", { name: "A", email: 5 })).toEqual([]);
    expect(mirror.records.latestValue(["colours", "people"], "_synced_at")).toBe("2026-03-01T00:00:00.000Z");
    expect(mirror.records.latestValue(["people"], "score")).toBeNull();
  });
});
