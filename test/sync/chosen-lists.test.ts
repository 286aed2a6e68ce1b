import { describe, expect, test } from "vitest";
import { dayMs, isoTime } from "../../src/base/clock.ts";
import { sweepKey, variantsOf } from "../../src/state/sweeps.ts";
import {
  listRequests,
  listsRead,
  planSweeps,
  planWholeLists,
  listAgeMs,
} from "../../src/sync/plan/initial-work.ts";
import { wholeListSettings } from "../../src/runs/company-run.ts";
import { resourceOf } from "../support/mirror/mirror.ts";
import { startMs } from "../support/mirror/store.ts";

type Unfinished = NonNullable<Parameters<typeof planSweeps>[1]>;

const list = ["people", "colours", "counters", "notes"].map(resourceOf);

/** @param open by `sweepKey`: how long ago each open sweep was begun */
function plan(unfinished: Unfinished | null, open: Readonly<Record<string, number>> = {}): string[] {
  const parts = list.flatMap((one) => variantsOf(one).map((variant) => ({ resource: one.name, variant })));
  const lists = parts.map(({ resource, variant }) => {
    const agoMs = open[sweepKey(resource, variant)];
    return { resource, variant, openSinceMs: agoMs === undefined ? null : startMs - agoMs };
  });
  const { begin, abandoned } = planSweeps(lists, unfinished, startMs);
  return [
    ...begin.map(({ resource, variant }) => sweepKey(resource, variant)),
    ...abandoned.map(({ resource, variant }) => `abandon ${sweepKey(resource, variant)}`),
  ];
}

const everything = ["people", "colours", "counters:order", "counters:credit-note"];

/** @param sweptAgoMs by `sweepKey`: how long ago each list was begun that was read whole */
function interrupted(sweptAgoMs: Readonly<Record<string, number>> = {}): Unfinished {
  const swept = Object.entries(sweptAgoMs).map(([key, ms]) => [key, isoTime(startMs - ms)] as const);
  return { id: 1, swept: Object.fromEntries(swept) };
}

describe("which lists a run begins with", () => {
  test("all of them, each variant for itself, when the last run ended", () => {
    expect(plan(null)).toEqual(everything);
  });

  test("an interrupted run is continued: neither its open sweeps nor its complete ones begin again", () => {
    const swept = { people: listAgeMs - 1, "counters:order": 40_000 };
    expect(plan(interrupted(swept), { colours: 50_000 })).toEqual(["counters:credit-note"]);
  });

  test("what an interrupted run read whole is read again when it is older than 20 hours", () => {
    const swept = { people: listAgeMs, colours: listAgeMs - 1, "counters:order": 2 * listAgeMs };
    expect(plan(interrupted(swept))).toEqual(["people", "counters:order", "counters:credit-note"]);
  });

  test("a resource of which every list was read needs none", () => {
    const swept = { people: 1_000, colours: listAgeMs, "counters:order": 1_000 };
    expect(listsRead(list, interrupted(swept), startMs)).toEqual(new Set(["people"]));
  });

  // Fault: clock | a list that was read in the future | the plan of a run | read again: its age is unknown
  // Fault: clock | the clock is set back by a year between two runs | the lists of the last run | lists of unknown age are read again
  test("a list read after the clock was set back is read again: its age is unknown", () => {
    const swept = { people: -365 * dayMs, colours: -1_000, "counters:order": 0, "counters:credit-note": 0 };
    expect(plan(interrupted(swept))).toEqual(["people"]);
  });
});

const requestsOf = (name: string, records: number) => listRequests(resourceOf(name), records);

test("the lists of a resource take a request for each page or variant, and one at least", () => {
  expect([requestsOf("shop", 9), requestsOf("colours", 9), requestsOf("counters", 9)]).toEqual([1, 1, 2]);
  expect([0, 1, 2, 3].map((records) => requestsOf("people", records))).toEqual([1, 1, 1, 2]);
  // Without a total the last page is known by one that is shorter, or empty.
  const walked = { ...resourceOf("people"), list: { kind: "walked", path: "/people", pageSize: 3 } } as const;
  expect([0, 1, 2, 3, 5, 6].map((records) => listRequests(walked, records))).toEqual([1, 2, 2, 2, 2, 3]);
});

type Facts = Parameters<typeof planWholeLists>[0][number];

const wholeList = (name: string, ageDays: number | null, requests: number): Facts => {
  const readAtMs = ageDays === null ? null : startMs - ageDays * dayMs;
  return { name, readAtMs, requests, waits: false, open: null };
};

const settings = { everyMs: 7 * dayMs, mostRequests: 10, pagesPerDay: 3 };

const chosen = (mostRequests: number | null, ...lists: Facts[]) => [
  ...planWholeLists(lists, { ...settings, mostRequests }, startMs).keys(),
];

/** Of a list of fifty pages, some of which were read since it was begun. */
const pages = (begunDaysAgo: number | null, read: number, mostRequests = 10) => {
  const open = begunDaysAgo === null ? null : { begunMs: startMs - begunDaysAgo * dayMs, pages: read };
  const lists = [{ ...wholeList("a", 8, 50), open }];
  return planWholeLists(lists, { ...settings, mostRequests }, startMs).get("a");
};

describe("which whole lists a run reads", () => {
  test("those that are due, those never read, and one of which the first page waits", () => {
    expect(chosen(null, { ...wholeList("a", 1, 5), waits: true }, wholeList("b", 1, 5))).toEqual(["a"]);
    const never = wholeList("c", null, 5);
    expect(chosen(null, wholeList("a", 6, 5), wholeList("b", 7, 5), never)).toEqual(["c", "b"]);
    const open = { begunMs: startMs, pages: 1 };
    expect(chosen(null, { ...wholeList("a", 6, 5), open }, wholeList("b", -1, 5))).toEqual(["a", "b"]);
  });

  test("the stalest first, while the requests suffice; one never read is read anyhow", () => {
    const two = [wholeList("a", 8, 6), wholeList("b", 9, 6)];
    for (const lists of [two, two.toReversed()]) expect(chosen(10, ...lists)).toEqual(["b"]);
    const restored = { ...wholeList("a", 0, 6), readAtMs: 0 };
    expect(chosen(10, restored, wholeList("b", null, 6))).toEqual(["b"]);
    expect(chosen(0, wholeList("a", null, 500), wholeList("b", 30, 1))).toEqual(["a"]);
  });

  test("one that is larger than the share of a run in parts: so many pages a day, and all of it once the rest fits", () => {
    expect(pages(null, 0)).toBe(3);
    expect([pages(0.5, 3), pages(1, 3), pages(2, 3), pages(9, 3)]).toEqual([0, 3, 6, 10]);
    expect([pages(-5, 2), pages(1, 39), pages(1, 40)]).toEqual([1, 0, Infinity]);
    expect([0, 1].map((most) => pages(1, 60, most))).toEqual([0, Infinity]);
  });

  const begun = { ...wholeList("a", 8, 9), open: { begunMs: startMs - dayMs, pages: 3 } };

  test.each([
    ["one that fits in a run alone waits for it", wholeList("a", 8, 10), wholeList("b", 9, 6), "b Infinity"],
    ["one in parts takes the last", wholeList("a", 8, 50), wholeList("b", 9, 9), "b Infinity, a 1"],
    ["one in parts leaves the rest", wholeList("a", 9, 50), wholeList("b", 8, 5), "a 3, b Infinity"],
    ["one that is open goes on", begun, wholeList("b", 9, 6), "b Infinity, a 3"],
  ])("of two that a run of ten requests may read: %s", (_case, one, other, expected) => {
    const found = planWholeLists([one, other], settings, startMs);
    expect(Array.from(found, (pair) => pair.join(" ")).join(", ")).toBe(expected);
  });
});

const at = (nowMs: string, left: number | null) =>
  wholeListSettings({ listsMs: dayMs } as never, 8, left, Date.parse(nowMs));

test("whole lists take half of what is left of the month, and in parts what each of its days has of that", () => {
  expect(at("2026-11-21T00:00:00Z", 1_000)).toEqual({ everyMs: dayMs, mostRequests: 500, pagesPerDay: 50 });
  expect(at("2026-11-30T23:00:00Z", 10)).toMatchObject({ mostRequests: 1, pagesPerDay: 24 });
  expect(at("2026-11-01T00:00:00Z", 10)).toMatchObject({ mostRequests: 1, pagesPerDay: 1 });
  expect(at("2026-11-01T00:00:00Z", null)).toMatchObject({ mostRequests: null });
});

// Fault: limiter | a month's calls that whole lists would use up before its last nights | the plan of a run | nights come first, and whole lists have a tenth at least
test("whole lists leave the month what its nights need, and have a tenth of it themselves", () => {
  expect(at("2026-11-12T00:00:00Z", 200)).toMatchObject({ mostRequests: 20, pagesPerDay: 1 });
  expect(at("2026-11-12T00:00:00Z", 300)).toMatchObject({ mostRequests: 110 });
  expect(at("2026-11-12T00:00:00Z", 400)).toMatchObject({ mostRequests: 200 });
});
