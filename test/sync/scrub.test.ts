import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dayMs, hourMs, isoTime } from "../../src/base/clock.ts";
import { date, orNull } from "../../src/connector/record-schema.ts";
import { defineResource } from "../../src/connector/resource.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { ScrubCandidates, type ScrubSource } from "../../src/state/scrub-candidates.ts";
import {
  scrubAgeMs,
  readRecent,
  readScrubChoice,
  withdrawScrub,
  readScrubPlan,
  scrubSources,
  useScrubDay,
  type ScrubQuestion,
  chooseScrub,
  parentsPerRunOf,
  planScrub,
  scrubDayAt,
  scrubLeft,
} from "../../src/sync/plan/scrub.ts";
import { openHasty, resourceOf, resources } from "../support/mirror/mirror.ts";
import { note, order, person } from "../support/mirror/shop-records.ts";
import { put, putPreview, remove, stampOf, startMs } from "../support/mirror/store.ts";
import { childPage, runContextOf } from "../support/mirror/run.ts";

type ScrubToday = ReturnType<typeof readScrubPlan>;
type ScrubDay = ScrubToday["day"];
type ScrubSettings = ScrubQuestion["settings"];
type ScrubFacts = Parameters<typeof planScrub>[1];

const declared = Object.values(resources);
const usual: ScrubSettings = { timeMs: null, cycleMs: 30 * dayMs, atMostMs: 4 * hourMs };
const question: ScrubQuestion = {
  settings: usual,
  limit: 120,
  windowMs: 60_000,
  declared,
  resources: declared,
  parentsPerRun: "auto",
  isCovered: () => false,
  nowMs: startMs,
};

function readOrder(mirror: Mirror, id: number, agoMs: number, more: object = {}): void {
  const stamp = stampOf(mirror, { cause: "hydrate", receivedAtMs: startMs - agoMs });
  put(mirror, "orders", order(id, more), { source: "detail", stamp });
}

/**
 * Orders and lists of notes that were read days ago: the smaller the number, the longer ago. The third parent and order 7 are
 * deleted, the list of the fourth parent was never read, and of order 8 only the preview is known.
 */
async function aShop(): Promise<Mirror> {
  const mirror = await openHasty();
  for (const id of [1, 2, 3]) readOrder(mirror, id, (10 - id) * dayMs);
  const run = runContextOf(mirror, {}, ["people", "notes"]);
  for (const id of [1, 2, 3, 4]) put(mirror, "people", person(id));
  for (const id of [1, 2, 3])
    await childPage(run, id, [], { at: stampOf(mirror, { receivedAtMs: startMs - (20 - id) * dayMs }) });
  remove(mirror, "people", 3);
  readOrder(mirror, 7, 30 * dayMs);
  remove(mirror, "orders", 7, stampOf(mirror, { receivedAtMs: startMs - 29 * dayMs }));
  putPreview(mirror, "orders", { id: 8, number: "A", total: 1 });
  return mirror;
}

/** What is chosen by the plan of the mirror, or as `today` says. */
function chosenIn(
  mirror: Mirror,
  more: Partial<ScrubQuestion> = {},
  today: Partial<ScrubToday> = {},
): string[] {
  const asked = { ...question, ...more };
  const recent = readRecent(mirror.db, asked);
  const plan = { ...readScrubPlan(mirror.db, asked, recent.length), ...today };
  const chosen = readScrubChoice(mirror.db, plan, recent, startMs);
  return chosen.map(({ source, id }) => `${source.listOf ?? source.table} ${id}`);
}

describe("the plan of the scrub", () => {
  test("counts the details and the parents' lists that were read before", async () => {
    const { db } = await aShop();
    const { plan, left } = readScrubPlan(db, question, 0);
    expect([plan.total, plan.stalest, left]).toEqual([5, 5, 3_600]);
    const [candidates, oldestMs] = [new ScrubCandidates(db), startMs - 9 * dayMs];
    expect(candidates.readBefore([orders])).toEqual({ count: 3, oldestMs });
    expect(candidates.oldestMs([orders])).toBe(oldestMs);
  });

  test("asks whether webhooks came without a gap since the stalest of them was read", async () => {
    const { db } = await aShop();
    const asked: number[] = [];
    const isCovered = (sinceMs: number) => asked.push(sinceMs) > 0;
    expect(readScrubPlan(db, { ...question, isCovered }, 0).left).toBe(600);
    const none = await openHasty();
    readScrubPlan(none.db, { ...question, isCovered }, 0);
    expect(asked).toEqual([startMs - 19 * dayMs, startMs]);
  });

  test("leaves what the runs of a day have not used; what was not read is given back", async () => {
    const mirror = await aShop();
    const { day } = readScrubPlan(mirror.db, question, 0);
    const usedAfter = (givenBack: number) => {
      withdrawScrub({ withdrawScrub: () => givenBack }, mirror.meta);
      return 3_600 - readScrubPlan(mirror.db, question, 0).left;
    };
    expect(usedAfter(3)).toBe(0);
    useScrubDay(mirror.meta, day, 10);
    expect([0, 1, 99].map(usedAfter)).toEqual([10, 9, 0]);
  });
});

describe("what the scrub reads", () => {
  test("is everything of 20 hours ago or more, the stalest first, with enough time", async () => {
    const mirror = await aShop();
    readOrder(mirror, 4, scrubAgeMs - 1);
    readOrder(mirror, 5, scrubAgeMs);
    expect(chosenIn(mirror)).toEqual(["notes 1", "notes 2", "orders 1", "orders 2", "orders 3", "orders 5"]);
  });

  test("is nothing when the day is used up, and one when one is left", async () => {
    const mirror = await aShop();
    const { day } = readScrubPlan(mirror.db, question, 0);
    useScrubDay(mirror.meta, day, 3_599);
    expect(chosenIn(mirror)).toEqual(["notes 1"]);
    useScrubDay(mirror.meta, { ...day, used: 3_599 }, 1);
    expect(chosenIn(mirror)).toEqual([]);
  });

  test("is a parent's list of which the last run held deletions, until one removes them (I5)", async () => {
    const mirror = await openHasty();
    put(mirror, "people", person(1));
    const readOne = async (agoMs: number, allowMassDelete = false) => {
      const run = runContextOf(mirror, { allowMassDelete }, ["people", "notes"]);
      await childPage(run, 1, [note(1, 1)], { at: stampOf(mirror, { receivedAtMs: startMs - agoMs }) });
      return run.tally.allTroubles().map(({ kind }) => kind);
    };
    await readOne(2 * dayMs);
    for (let id = 1; id <= 30; id++) put(mirror, "notes", note(id, 1));
    expect(await readOne(hourMs)).toEqual(["held"]);
    const lists = () => chosenIn(mirror).filter((one) => one === "notes 1");
    expect(lists()).toEqual(["notes 1"]);
    expect(await readOne(hourMs, true)).toEqual([]);
    expect(lists()).toEqual([]);
  });

  test("are parents with activity of late before all others", async () => {
    const mirror = await aShop();
    readOrder(mirror, 4, 30 * dayMs);
    const plan = { total: 6, nights: 3, stalest: 1, recent: 1, fills: false };
    expect(chosenIn(mirror, {}, { plan, left: 2 })).toEqual(["notes 1", "orders 4"]);
  });
});

/** Four orders that were read a hundred days ago, without activity since, and one parent that was read among them. */
async function aQuietShop(parentReadMs: number): Promise<Mirror> {
  const mirror = await openHasty();
  for (const id of [1, 2, 3, 4]) readOrder(mirror, id, 100 * dayMs - id * 1_000);
  put(mirror, "people", person(1));
  const at = stampOf(mirror, { receivedAtMs: parentReadMs });
  await childPage(runContextOf(mirror, {}, ["people", "notes"]), 1, [], { at });
  return mirror;
}

describe("what the scrub reads with time for more", () => {
  test("is as much as is left of the day, also where what has activity is among the stalest", async () => {
    const plan = { total: 5, nights: 1, stalest: 1, recent: 1, fills: true };
    const mirror = await aQuietShop(startMs - 100 * dayMs + 1_500);
    expect(chosenIn(mirror, {}, { plan, left: 4 })).toEqual(["notes 1", "orders 1", "orders 2", "orders 3"]);
  });

  test("are parents with activity before records with activity, each once, whenever they were read", async () => {
    const plan = { total: 5, nights: 1, stalest: 0, recent: 5, fills: false };
    const mirror = await aQuietShop(startMs - 2 * dayMs);
    readOrder(mirror, 5, 5 * dayMs);
    readOrder(mirror, 6, scrubAgeMs);
    expect(chosenIn(mirror, {}, { plan, left: 5 })).toEqual(["notes 1", "orders 5", "orders 6"]);
  });
});

const orders: ScrubSource = { table: "orders", listOf: null, date: "issued_on", referrers: [] };
const ofPerson = [{ table: "notes", column: "person_id", date: null }];
const notesOfPeople: ScrubSource = { table: "people", listOf: "notes", date: null, referrers: ofPerson };

const idsOf = (found: readonly { readonly id: number | bigint }[]) => found.map(({ id }) => id);

test("recent activity is a change, date, event or referring record; not the first run", async () => {
  const mirror = await openHasty();
  const run = runContextOf(mirror);
  const old = stampOf(mirror, { receivedAtMs: startMs - 200 * dayMs });
  for (const id of [1, 2, 3, 4]) put(mirror, "people", person(id), { stamp: old });
  for (const id of [1, 2, 3, 4, 5]) readOrder(mirror, id, 10 * dayMs, { issuedOn: "2024-01-01" });
  mirror.apply(() => run.runs.finish(1, isoTime(startMs - 9 * dayMs), "complete", {}));
  for (const id of [1, 2, 3, 4])
    mirror.apply(() => run.parents.markListed("notes", { resource: "people", id }, startMs - 10 * dayMs, 1));
  // A change of the order 2, a date of the order 3, an event of the order 4, a note of the person 2.
  readOrder(mirror, 2, 5 * dayMs, { issuedOn: "2024-01-02" });
  readOrder(mirror, 3, 5 * dayMs, { issuedOn: "2026-02-20" });
  mirror.db.exec(`INSERT INTO _inbox (event_id, resource, resource_id, received_at, body, state) VALUES
    ('e', 'orders', 5, '2020-01-01T00:00:00Z', '{}', 'done'),
    ('f', 'orders', 4, '${isoTime(startMs - dayMs)}', '{}', 'done')`);
  put(mirror, "notes", note(7, 2));
  const candidates = new ScrubCandidates(mirror.db);
  const times = { untilMs: startMs, nowMs: startMs, sinceMs: startMs - 90 * dayMs };
  expect(new Set(idsOf(candidates.recent([orders], times, 9)))).toEqual(new Set([2, 3, 4]));
  expect(idsOf(candidates.recent([notesOfPeople], times, 9))).toEqual([2]);
  expect(idsOf(candidates.recent([orders], times, 1))).toEqual([4]);
  const early = { ...times, untilMs: startMs - 6 * dayMs };
  expect(idsOf(candidates.recent([orders], early, 9))).toEqual([4]);
});

const sourcesOf = (names: readonly string[], parentsPerRun: "auto" | "all" = "auto") =>
  scrubSources({ declared, resources: names.map(resourceOf), parentsPerRun });

describe("what needs the scrub", () => {
  test("are details that lists show in part, with the first date that each row has", () => {
    expect(sourcesOf(["orders", "people", "colours"])).toEqual([
      { table: "orders", listOf: null, date: null, referrers: [] },
    ]);
    const inPart = { ...resourceOf("people"), fullWhen: ["score"] };
    const sources = scrubSources({ declared, resources: [inPart], parentsPerRun: "auto" });
    expect(sources).toEqual([{ table: "people", listOf: null, date: null, referrers: [] }]);
  });

  test("are lists of parents with the first date that each parent has, and each record that refers to it", () => {
    const [people, notes] = [resourceOf("people"), resourceOf("notes")];
    const all = [
      defineResource({ ...people, record: people.record.extend({ until: orNull(date()), since: date() }) }),
      defineResource({ ...notes, record: notes.record.extend({ on: date() }) }),
    ];
    const sources = scrubSources({ declared: all, resources: all, parentsPerRun: "auto" });
    const referrers = [{ table: "notes", column: "person_id", date: "on" }];
    expect(sources).toEqual([{ table: "people", listOf: "notes", date: "since", referrers }]);
  });

  test("are lists of parents, unless every run reads them, with all that refers to the parents", () => {
    expect(sourcesOf(["notes"])).toEqual([notesOfPeople]);
    expect(sourcesOf(["notes"], "all")).toEqual([]);
  });
});

const facts = (total: number, more: Partial<ScrubFacts> = {}): ScrubFacts => ({
  total,
  limit: 120,
  windowMs: 60_000,
  covered: false,
  recent: 0,
  ...more,
});

const small = { ...usual, timeMs: 100_000 };
const anHour = { ...usual, timeMs: hourMs };
const aMinute = { ...usual, atMostMs: 60_000 };
const behind = { covered: true };

test.each([
  ["3,600 details and parents are proved whole every night", usual, 3_600, {}, [1, 3_600, 0]],
  ["nothing needs no night", usual, 0, {}, [0, 0, 3_600]],
  ["12,500 are proved every four nights, in half an hour of the budget", usual, 12_500, {}, [4, 3_125, 475]],
  ["it takes half at most", small, 900, { recent: 800 }, [8, 100, 100]],
  ["behind webhooks five minutes a night are enough", usual, 12_500, behind, [21, 596, 4]],
  ["activity makes no night longer then", usual, 12_500, { ...behind, recent: 2_000 }, [30, 411, 189]],
  ["the cycle may need more", usual, 500_000, {}, [30, 16_667, 0]],
  ["activity adds the usual time at most", usual, 500_000, { recent: 20_000 }, [30, 16_547, 3_600]],
  ["the longest time is never exceeded, and the cycle is longer", usual, 1_200_000, {}, [42, 28_572, 0]],
  ["however short it is", aMinute, 3_000, {}, [25, 120, 0]],
  ["the budget that the service grants counts", usual, 12_500, { limit: 60 }, [7, 1_786, 14]],
  ["a time that is set counts behind webhooks, too", anHour, 12_500, behind, [2, 6_250, 950]],
] as const)(
  "the plan of a day, as nights, the stalest and those with recent activity: %s",
  (_what, settings, total, more, expected) => {
    const { nights, stalest, recent, fills } = planScrub(settings, facts(total, more));
    expect([nights, stalest, recent]).toEqual(expected);
    expect(fills).toBe(total < 500_000);
  },
);

/** A request takes a millisecond. */
const quick = { limit: 1, windowMs: 1 };

test.each([
  ["activity takes no half of it that the cycle needs", 4, 2, 5, 9, 3, behind, [3, 3, 2, false]],
  ["activity takes half of what is spare, rounded down", 5, 2, 7, 3, 3, behind, [1, 1, 4, true]],
  ["a part of a request is none", 1.5, 2, 9, 1, 1, {}, [1, 1, 0, true]],
  ["a part of a day is none", 2, 1.9, 120, 4, 1, {}, [1, 3, 1, false]],
  ["a whole day is one", 2, 2, 120, 4, 0, {}, [2, 2, 0, true]],
  ["a request and a day are the least", 0.1, 0.1, 0.1, 2, 0, {}, [2, 1, 0, false]],
  ["one request is the stalest's behind webhooks", 1, 1, 2, 1, 1, behind, [1, 1, 0, true]],
  ["one request is that of activity without them", 1, 1, 2, 1, 1, {}, [1, 0, 1, true]],
] as const)("of a small day: %s", (_case, timeMs, cycleDays, atMostMs, total, recent, more, expected) => {
  const settings = { timeMs, cycleMs: cycleDays * dayMs, atMostMs };
  const plan = planScrub(settings, facts(total, { ...quick, recent, ...more }));
  expect([plan.nights, plan.stalest, plan.recent, plan.fills]).toEqual(expected);
});

test("how many have recent activity is what was counted now, else what the last scrub found", async () => {
  const { db, meta } = await aShop();
  useScrubDay(meta, { startedMs: startMs, used: 0, recent: 1 }, 0);
  expect([2, null].map((recent) => readScrubPlan(db, question, recent).day.recent)).toEqual([2, 1]);
});

test("parents' lists are read with the scrub, unless the config says otherwise", () => {
  const choices = [{}, { notes: "all" }, { notes: 5 }] as const;
  const found = choices.map((parentsPerRun) => parentsPerRunOf({ resources: { parentsPerRun } as never }));
  expect(found).toEqual(["auto", "all", 5]);
});

describe("the day", () => {
  const used: ScrubDay = { startedMs: 100 * hourMs, used: 500, recent: 2 };

  test("is shared by runs within 20 hours, and one that follows begins at nothing", () => {
    for (const hours of [100, 119]) expect(scrubDayAt(used, hours * hourMs)).toBe(used);
    for (const hours of [120, 1_000])
      expect(scrubDayAt(used, hours * hourMs)).toEqual({ startedMs: hours * hourMs, used: 0, recent: 2 });
    expect(scrubDayAt(null, 5)).toEqual({ startedMs: 5, used: 0, recent: 0 });
  });

  test("begins anew where the clock was set back before it", () => {
    expect(scrubDayAt(used, 99 * hourMs).used).toBe(0);
  });
});

const filled = { total: 9, nights: 3, stalest: 3, recent: 2, fills: true };
const one = { ...filled, stalest: 1 };

test.each([
  ["the stalest and recent ones in turn", filled, 5, [1, 2, 3, 4], [2, 9, 8, 7], [2, 1, 9, 3, 4]],
  ["more of the stalest where few are recent", { ...one, recent: 3 }, 4, [1, 2, 3, 4, 5], [9], [9, 1, 2, 3]],
  ["not beyond what the cycle needs", { ...one, fills: false }, 4, [1, 2, 3, 4, 5], [9], [9, 1]],
  ["each once", { ...one, recent: 1 }, 4, [1, 2, 3, 4], [3], [3, 1, 2, 4]],
  ["what is there", { ...one, recent: 1 }, 9, [1, 2], [1], [1, 2]],
  ["what is left of the day", filled, 4, [1, 2, 3, 4, 5], [5], [5, 1, 2, 3]],
  ["half of what is left for recent ones", filled, 4, [1, 2, 3, 4], [9, 8, 7], [9, 1, 8, 2]],
  ["the stalest first where one is left", filled, 1, [1, 2, 3], [3], [1]],
  ["nothing where nothing is left", filled, 0, [1, 2, 3], [3], []],
])("what is read: %s", (_case, plan, left, stalest, recent, expected) => {
  expect(chooseScrub(plan, left, { stalest, recent }, String)).toEqual(expected);
});

interface Item {
  readonly id: number;
  readAtMs: number;
  readonly recent: boolean;
}

/** Makes one run: chooses by the plan, and marks what it chose as read. Returns their number. */
function runAt(items: Item[], settings: ScrubSettings, given: ScrubFacts, day: ScrubDay, nowMs: number) {
  const plan = planScrub(settings, given);
  const old = items
    .filter(({ readAtMs }) => nowMs - readAtMs >= 20 * hourMs)
    .toSorted((a, b) => a.readAtMs - b.readAtMs || a.id - b.id);
  const candidates = { stalest: old, recent: old.filter((item) => item.recent) };
  const chosen = chooseScrub(plan, scrubLeft(plan, day), candidates, ({ id }) => String(id));
  for (const item of chosen) item.readAtMs = nowMs;
  return { plan, count: chosen.length };
}

const itemsOf = (total: number, recentEach: number): Item[] =>
  Array.from({ length: total }, (_, id) => ({ id, readAtMs: 0, recent: id % recentEach === 0 }));

const company = fc.record({
  total: fc.integer({ min: 1, max: 900 }),
  recentEach: fc.integer({ min: 1, max: 9 }),
  limit: fc.integer({ min: 1, max: 20 }),
  cycleDays: fc.integer({ min: 1, max: 30 }),
  atMostMinutes: fc.integer({ min: 1, max: 60 }),
  covered: fc.boolean(),
});

test("over 60 nights nothing is older than the promised nights and one, and no night takes more than the longest time", () => {
  fc.assert(
    fc.property(company, ({ total, recentEach, limit, cycleDays, atMostMinutes, covered }) => {
      const items = itemsOf(total, recentEach);
      const settings = { timeMs: null, cycleMs: cycleDays * dayMs, atMostMs: atMostMinutes * 60_000 };
      const recent = items.filter((item) => item.recent).length;
      const given = facts(total, { limit, covered, recent });
      const { nights } = planScrub(settings, given);
      for (let night = 1; night <= 60; night++) {
        const nowMs = night * dayMs;
        const { count } = runAt(items, settings, given, scrubDayAt(null, nowMs), nowMs);
        expect(count).toBeLessThanOrEqual(Math.max(1, atMostMinutes * limit));
        const oldestMs = Math.min(...items.map(({ readAtMs }) => readAtMs));
        if (night > nights) expect(nowMs - oldestMs).toBeLessThanOrEqual((nights + 1) * dayMs);
      }
    }),
    { numRuns: 60 },
  );
});
