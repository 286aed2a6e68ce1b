import { describe, expect, test } from "vitest";
import { dayMs, hourMs } from "../../src/base/clock.ts";
import { date, orNull } from "../../src/connector/record-schema.ts";
import { defineResource } from "../../src/connector/resource.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { scrubAgeMs } from "../../src/sync/plan/scrub.ts";
import { giveBackScrub, readRecent, readScrubChoice, readScrubPlan } from "../../src/sync/plan/scrub.ts";
import { scrubSources, useScrubDay } from "../../src/sync/plan/scrub.ts";
import type { ScrubQuestion, ScrubToday } from "../../src/sync/plan/scrub.ts";
import { openHasty, resourceOf, resources } from "../support/mirror/mirror.ts";
import { order, person } from "../support/mirror/shop-records.ts";
import { put, stampOf, startMs } from "../support/mirror/store.ts";
import { childPage, runContextOf } from "../support/mirror/run.ts";

const manifest = Object.values(resources);
const question: ScrubQuestion = {
  settings: { timeMs: null, cycleMs: 30 * dayMs, atMostMs: 4 * hourMs },
  limit: 120,
  windowMs: 60_000,
  manifest,
  resources: manifest,
  parentsPerRun: "auto",
  isCovered: () => false,
  nowMs: startMs,
};

function readOrder(mirror: Mirror, id: number, agoMs: number, more: object = {}): void {
  const stamp = stampOf(mirror, { cause: "hydrate", receivedAtMs: startMs - agoMs });
  put(mirror, "orders", order(id, more), { source: "detail", stamp });
}

/** Orders and lists of notes that were read days ago: the smaller the number, the longer ago. */
async function aShop(): Promise<Mirror> {
  const mirror = await openHasty();
  for (const id of [1, 2, 3]) readOrder(mirror, id, (10 - id) * dayMs);
  const run = runContextOf(mirror, {}, ["people", "notes"]);
  for (const id of [1, 2]) {
    put(mirror, "people", person(id));
    await childPage(run, id, [], { at: stampOf(mirror, { receivedAtMs: startMs - (20 - id) * dayMs }) });
  }
  return mirror;
}

/** What is chosen by the plan of the mirror, or as `today` says. */
function choose(
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
    const { plan, left } = readScrubPlan((await aShop()).db, question, 0);
    expect([plan.total, plan.stalest, left]).toEqual([5, 5, 3_600]);
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
    const used = () => 3_600 - readScrubPlan(mirror.db, question, 0).left;
    const { day } = readScrubPlan(mirror.db, question, 0);
    giveBackScrub(mirror.meta, 3);
    expect(used()).toBe(0);
    useScrubDay(mirror.meta, day, 10);
    giveBackScrub(mirror.meta, 0);
    expect(used()).toBe(10);
    giveBackScrub(mirror.meta, 1);
    expect(used()).toBe(9);
    giveBackScrub(mirror.meta, 99);
    expect(used()).toBe(0);
  });
});

describe("what the scrub reads", () => {
  test("is everything of 20 hours ago or more, the stalest first, with enough time", async () => {
    const mirror = await aShop();
    readOrder(mirror, 4, scrubAgeMs - 1);
    readOrder(mirror, 5, scrubAgeMs);
    expect(choose(mirror)).toEqual(["notes 1", "notes 2", "orders 1", "orders 2", "orders 3", "orders 5"]);
  });

  test("is nothing when the day is used up, and one when one is left", async () => {
    const mirror = await aShop();
    const { day } = readScrubPlan(mirror.db, question, 0);
    useScrubDay(mirror.meta, day, 3_599);
    expect(choose(mirror)).toEqual(["notes 1"]);
    useScrubDay(mirror.meta, { ...day, used: 3_599 }, 1);
    expect(choose(mirror)).toEqual([]);
  });

  test("are parents with activity of late before all others", async () => {
    const mirror = await aShop();
    readOrder(mirror, 4, 30 * dayMs);
    const plan = { total: 6, nights: 3, stalest: 1, recent: 1, fills: false };
    expect(choose(mirror, {}, { plan, left: 2 })).toEqual(["notes 1", "orders 4"]);
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
    expect(choose(mirror, {}, { plan, left: 4 })).toEqual(["notes 1", "orders 1", "orders 2", "orders 3"]);
  });

  test("are parents with activity before records with activity, each once, whenever they were read", async () => {
    const plan = { total: 5, nights: 1, stalest: 0, recent: 5, fills: false };
    const mirror = await aQuietShop(startMs - 2 * dayMs);
    for (const id of [5, 6]) readOrder(mirror, id, (10 - id) * dayMs);
    expect(choose(mirror, {}, { plan, left: 5 })).toEqual(["notes 1", "orders 5", "orders 6"]);
  });
});

const sourcesOf = (names: readonly string[], parentsPerRun: "auto" | "all" = "auto") =>
  scrubSources({ manifest, resources: names.map(resourceOf), parentsPerRun });

describe("what needs the scrub", () => {
  test("are details that lists show in part, with the first date that each row has", () => {
    expect(sourcesOf(["orders", "people", "colours"])).toEqual([
      { table: "orders", listOf: null, date: null, referrers: [] },
    ]);
    const inPart = { ...resourceOf("people"), fullWhen: ["score"] };
    const sources = scrubSources({ manifest, resources: [inPart], parentsPerRun: "auto" });
    expect(sources).toEqual([{ table: "people", listOf: null, date: null, referrers: [] }]);
  });

  test("are lists of parents with the first date that each parent has, and each record that refers to it", () => {
    const [people, notes] = [resourceOf("people"), resourceOf("notes")];
    const all = [
      defineResource({ ...people, record: people.record.extend({ until: orNull(date()), since: date() }) }),
      defineResource({ ...notes, record: notes.record.extend({ on: date() }) }),
    ];
    const sources = scrubSources({ manifest: all, resources: all, parentsPerRun: "auto" });
    const referrers = [{ table: "notes", column: "person_id", date: "on" }];
    expect(sources).toEqual([{ table: "people", listOf: "notes", date: "since", referrers }]);
  });

  test("are lists of parents, unless every run reads them, with all that refers to the parents", () => {
    const referrers = [{ table: "notes", column: "person_id", date: null }];
    expect(sourcesOf(["notes"])).toEqual([{ table: "people", listOf: "notes", date: null, referrers }]);
    expect(sourcesOf(["notes"], "all")).toEqual([]);
  });
});
