import { describe, expect, test } from "vitest";
import { wholeListSettings } from "../../src/runs/company-run.ts";
import { planWholeLists } from "../../src/sync/plan/chosen-lists.ts";
import { startMs } from "../support/mirror/store.ts";

const dayMs = 24 * 3_600_000;

const list = (name: string, ageDays: number | null, requests: number) => {
  return { name, readAtMs: ageDays === null ? null : startMs - ageDays * dayMs, requests, open: null };
};

const chosen = (mostRequests: number | null, ...lists: ReturnType<typeof list>[]) => [
  ...planWholeLists(lists, { everyMs: 7 * dayMs, mostRequests, pagesPerDay: 3 }, startMs).keys(),
];

describe("which whole lists a run reads", () => {
  test("those that are due, and those never read", () => {
    expect(chosen(null, list("a", 6, 5), list("b", 7, 5), list("c", null, 5))).toEqual(["c", "b"]);
  });

  test("the stalest first, while the requests suffice; one never read is read anyhow", () => {
    expect(chosen(10, list("a", 8, 6), list("b", 9, 6))).toEqual(["b"]);
    expect(chosen(0, list("a", null, 500), list("b", 30, 1))).toEqual(["a"]);
  });

  test("one that is larger than the share of a run in parts: so many pages a day, and all of it once the rest fits", () => {
    const settings = { everyMs: 7 * dayMs, mostRequests: 10, pagesPerDay: 3 };
    const pages = (begunDaysAgo: number | null, read: number, requests = 50) => {
      const open = begunDaysAgo === null ? null : { begunMs: startMs - begunDaysAgo * dayMs, pages: read };
      return planWholeLists([{ ...list("a", 8, requests), open }], settings, startMs).get("a");
    };
    expect(pages(null, 0)).toBe(3);
    expect([pages(0.5, 3), pages(1, 3), pages(2, 3), pages(9, 3)]).toEqual([0, 3, 6, 10]);
    expect([pages(-5, 2), pages(1, 39), pages(1, 40)]).toEqual([1, 0, Infinity]);
    const two = [list("a", 8, 6), list("b", 9, 6)];
    expect(planWholeLists(two, settings, startMs)).toEqual(new Map([["b", Infinity]]));
  });
});

test("whole lists take half of what is left of the month, and in parts what each of its days has of that", () => {
  const at = (nowMs: string, left: number | null) =>
    wholeListSettings({ scrub: { listsMs: dayMs } as never }, left, Date.parse(nowMs));
  expect(at("2026-11-21T00:00:00Z", 1_000)).toEqual({ everyMs: dayMs, mostRequests: 500, pagesPerDay: 50 });
  expect(at("2026-11-30T23:00:00Z", 10)).toMatchObject({ mostRequests: 5, pagesPerDay: 120 });
  expect(at("2026-11-01T00:00:00Z", 3)).toMatchObject({ mostRequests: 1, pagesPerDay: 1 });
  expect(at("2026-11-01T00:00:00Z", null)).toMatchObject({ mostRequests: null });
});
