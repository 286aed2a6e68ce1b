import { describe, expect, test } from "vitest";
import { planWholeLists } from "../../src/sync/plan/whole-lists.ts";
import { startMs } from "../support/mirror/store.ts";

const dayMs = 24 * 3_600_000;

const list = (name: string, ageDays: number | null, requests: number) => {
  return { name, readAtMs: ageDays === null ? null : startMs - ageDays * dayMs, requests };
};

const chosen = (mostRequests: number | null, ...lists: ReturnType<typeof list>[]) => [
  ...planWholeLists(lists, { everyMs: 7 * dayMs, mostRequests }, startMs),
];

describe("which whole lists a run reads", () => {
  test("those that are due, and those never read", () => {
    expect(chosen(null, list("a", 6, 5), list("b", 7, 5), list("c", null, 5))).toEqual(["c", "b"]);
  });

  test("the stalest first, while the requests suffice; one never read is read anyhow", () => {
    expect(chosen(10, list("a", 8, 6), list("b", 9, 6))).toEqual(["b"]);
    expect(chosen(0, list("a", null, 500), list("b", 30, 1))).toEqual(["a"]);
  });
});
