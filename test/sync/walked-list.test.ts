import { describe, expect, test } from "vitest";
import { dayMs, hourMs, isoTime } from "../../src/base/clock.ts";
import { silentLog, type Log } from "../../src/base/logger.ts";
import type { Resource } from "../../src/connector/resource.ts";
import type { ServiceAnswer, ServiceRequest } from "../../src/connector/transport.ts";
import { Listings } from "../../src/state/listings.ts";
import { markRestored } from "../../src/state/meta.ts";
import { expectedRecords, noteNewest } from "../../src/state/sweeps.ts";
import type { NewWorkItem } from "../../src/state/work-item.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { judgeWalk } from "../../src/sync/lists/reading.ts";
import { chooseLists, wholeListFacts, addInitialWork } from "../../src/sync/plan/initial-work.ts";
import { listPage, queueSweep } from "../../src/sync/plan/list-reads.ts";
import { smallest } from "../support/connector/smallest-connector.ts";
import { notFound } from "../support/errors.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { runContextOf, waiting } from "../support/mirror/run.ts";
import { listing, work } from "../support/mirror/state-rows.ts";
import { startMs, texts } from "../support/mirror/store.ts";
import { answerOf, runOnce } from "../support/mirror/whole-run.ts";
import { seededRandom } from "../support/seeded-random.ts";

const [, walked] = smallest.resources;
if (walked?.list.kind !== "walked")
  throw new Error("broken promise: the smallest connector walks its parcels");
const parcels: Resource = { ...walked, list: { ...walked.list, pageSize: 3 } };

const parcel = (id: number, updatedMs: number) => {
  return { id, code: `P${id}`, weight: null, updated_at: isoTime(updatedMs) };
};

const nothing = () => undefined;

interface AskedRun {
  readonly acceptIdentity?: boolean;
  readonly allowMassDelete?: boolean;
  /** For whole lists. @default no limit */
  readonly mostRequests?: number | null;
  readonly log?: Log;
}

/** A service whose lists name no total, newest id first, and a mirror of it. */
async function openParcels(ids: readonly number[], { pageSize = 3, hasPages = true } = {}) {
  const declaration = { ...smallest, resources: smallest.resources.with(1, parcels) };
  const mirror = await openHasty({ declaration });
  let nowMs = startMs;
  let held = ids.map((id) => parcel(id, nowMs - (30 - id) * dayMs));
  const asked: string[] = [];
  /** Called after each request, with its number from 1. */
  let between: (asked: number) => unknown = nothing;
  const answer = ({ path, query = {} }: ServiceRequest): unknown => {
    if (path === "/depot") return { name: "Acme" };
    const [, id] = /^\/parcels\/(\d+)$/.exec(path) ?? [];
    if (id !== undefined) return held.find((one) => one.id === Number(id));
    const since = String(query["updated_since"] ?? "");
    const listed = held.filter((one) => one.updated_at >= since).toSorted((a, b) => b.id - a.id);
    const from = hasPages ? (Number(query["page"]) - 1) * pageSize : 0;
    return listed.slice(from, from + pageSize);
  };
  const send = async (request: ServiceRequest): Promise<ServiceAnswer> => {
    request.onSent?.();
    const since = request.query?.["updated_since"] === undefined ? "" : " since";
    if (request.path !== "/depot")
      asked.push(`${request.path} ${request.query?.["page"] ?? ""}${since}`.trim());
    const found = answer(request);
    between(asked.length);
    if (found === undefined) throw notFound("gone");
    return answerOf(found);
  };
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (ms: number) => void (nowMs += ms),
  };
  const run = async ({ mostRequests = null, log = silentLog, ...more }: AskedRun = {}) => {
    asked.length = 0;
    const [queue, random] = [new WorkQueue(mirror.db), seededRandom(1)];
    const parts = { mirror, queue, transport: { send }, clock, random, log, token: "token" };
    const wholeLists = { everyMs: 7 * dayMs, mostRequests, pagesPerDay: 1 };
    const { resources } = declaration;
    const report = await runOnce(parts, { resources, concurrency: 1, wholeLists, ...more });
    between = nothing;
    return report;
  };
  return {
    run,
    asked,
    pass: (ms: number) => void (nowMs += ms),
    /** @param agoMs of its time stamp */
    change: (id: number, agoMs = 0) => {
      held = [...held.filter((one) => one.id !== id), parcel(id, nowMs - agoMs)];
    },
    remove: (id: number) => void (held = held.filter((one) => one.id !== id)),
    whenAsked: (act: (asked: number) => unknown) => void (between = act),
    expected: () => expectedRecords(mirror.meta, parcels),
    mirror,
    nowMs: () => nowMs,
    live: () =>
      mirror.records.liveIds("parcels", Number.MAX_SAFE_INTEGER).toSorted((a, b) => Number(a) - Number(b)),
  };
}

const seven = [1, 2, 3, 4, 5, 6, 7];

/** The pages that a first run asks for. */
async function pagesAsked(...ids: number[]): Promise<number[]> {
  const service = await openParcels(ids);
  await service.run();
  return service.asked.map((one) => Number(one.replace("/parcels ", "")));
}

type Service = Awaited<ReturnType<typeof openParcels>>;

/** As the next run is planned. */
const factsOf = ({ mirror }: Service) => wholeListFacts(mirror.db, [parcels])[0];

async function readWhole(ids: readonly number[]) {
  const service = await openParcels(ids);
  await service.run();
  return service;
}

describe("a list without a total", () => {
  test("ends with an empty page where the last one is full or the only one", async () => {
    expect(await pagesAsked(1, 2, 3)).toEqual([1, 2, 1, 2]);
    expect([await pagesAsked(1, 2), await pagesAsked()]).toEqual([[1, 2], [1]]);
  });

  // Fault: pagination | the service shows fewer records on a page than it documents | a list without a total | its pages are read to a shorter one, those of the list of changes too
  test("I12: is read whole where a page has fewer records than documented", async () => {
    const service = await openParcels(seven, { pageSize: 2 });
    await service.run();
    expect(service.live()).toEqual(seven);
    service.pass(dayMs);
    for (const id of [1, 2, 8, 9, 10]) service.change(id);
    const report = await service.run();
    expect(service.asked[0]).toBe("/parcels 1 since");
    expect(report.resources["parcels"]).toMatchObject({ inserted: 3, updated: 2 });
  });

  test("is read whole where the service shows all of it whatever page is asked for", async () => {
    const service = await openParcels([1, 2], { hasPages: false });
    expect(await service.run()).toMatchObject({ outcome: "complete", swept: { parcels: isoTime(startMs) } });
    expect(service.asked).toEqual(["/parcels 1", "/parcels 2"]);
  });

  // Fault: pagination | a deletion moves an unread record to a page already read | a list without a total | the second reading shows it
  test("I11: a record that a deletion hid from the first reading is shown by the second", async () => {
    const service = await openParcels(seven);
    service.whenAsked((count) => count === 1 && service.remove(7));
    expect(await service.run()).toMatchObject({ outcome: "complete" });
    expect(service.live()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  // Fault: pagination | every page repeats the first one | a list without a total | the reading ends, and the run says so
  test("whose pages repeat is given up after one of them", async () => {
    const read = { pages: 2, startedSeq: 1, startedAt: "" };
    const shown = { ids: [1, 1], withoutId: [] };
    const verdict = judgeWalk(read, shown, null, { wasWhole: false, isRepeated: true });
    expect(verdict).toMatchObject({ kind: "dead end", why: "page 2 showed nothing new" });
  });
});

const openListing = ({ mirror }: Service) =>
  new Listings(mirror.db).open({ ...listing, resource: "parcels" }, null);

const aPage = (number: number, variant = "") => listPage("parcels", { variant, page: number }, 1);
const aDetail = work({ resource: "parcels" });

test("a whole list counts as read with its last reading since a restore, and with a time stamp", async () => {
  const service = await readWhole(seven);
  expect(factsOf(service)).toEqual({
    name: "parcels",
    readAtMs: startMs,
    requests: 3,
    waits: false,
    open: null,
  });
  markRestored(service.mirror.db, startMs, isoTime(startMs));
  expect(factsOf(service)?.readAtMs).toBe(0);
  expect(factsOf(await readWhole([]))?.readAtMs).toBeNull();
  // A run that was killed before it noted the reading.
  const killed = await openParcels(seven);
  noteNewest(killed.mirror.meta, "parcels", isoTime(startMs));
  openListing(killed);
  expect(factsOf(killed)).toMatchObject({ readAtMs: null, open: null });
});

type Plan = Partial<{ days: number; most: number; full: boolean; isOpen: boolean; isPlain: boolean }> & {
  readonly waiting?: readonly NewWorkItem[];
};
const bothOpen = { isOpen: true, waiting: [aPage(2), aPage(2, "changes")] };

test.each<[string, Plan, string]>([
  ["its changes while it is not due, whatever else waits", { waiting: [aDetail] }, "changes"],
  ["all of it in a full run, however large", { days: 8, most: 1, full: true }, "whole"],
  ["all of it in a full run, also where it is not due", { full: true }, "whole"],
  ["all of it where its first page waits", { waiting: [aPage(1)] }, "whole"],
  ["all of it again where no page of it is left", { days: 8, isOpen: true }, "whole"],
  ["all of it without settings, whatever is open", { isPlain: true, ...bothOpen }, "whole"],
  [
    "the rest beside its changes where it is open",
    { isOpen: true, waiting: [aPage(2)] },
    "changes whole Infinity",
  ],
  ["a page beside its changes where it is too large", { days: 8, most: 1 }, "changes whole 1"],
  ["the changes that are open, also when it is due", { days: 8, waiting: [aPage(2, "changes")] }, "changes"],
])("of a list with changes a run reads %s", async (_case, plan, expected) => {
  const { days = 1, most: mostRequests = null, full = false, isOpen, isPlain, waiting: items = [] } = plan;
  const service = await readWhole(seven);
  service.pass(days * dayMs);
  if (isOpen) openListing(service);
  const wholeLists = isPlain ? null : { everyMs: 7 * dayMs, pagesPerDay: 1, mostRequests };
  const run = runContextOf(service.mirror, { startedAtMs: service.nowMs(), full, wholeLists });
  for (const item of items) run.queue.add(item);
  const lists = chooseLists(run)(parcels).map((variant) => variant || "whole");
  expect([...lists, ...run.wholePages.values()].join(" ")).toBe(expected);
});

test("a list of changes begins anew also where its whole list is read in parts", async () => {
  const service = await readWhole(seven);
  service.pass(8 * dayMs);
  const wholeLists = { everyMs: 7 * dayMs, pagesPerDay: 1, mostRequests: 1 };
  const run = runContextOf(service.mirror, { startedAtMs: service.nowMs(), wholeLists }, ["parcels"]);
  run.queue.add(aPage(2, "changes"));
  service.mirror.apply(() => addInitialWork(run, null));
  expect(waiting(run)).toEqual(["changes", ""].map((variant) => `parcels page:${variant}:1 list sweep`));
  expect([...run.begunLists.keys()]).toEqual(["parcels:changes"]);
});

test("a list of changes takes any page for a full one where nobody noted what fills one", async () => {
  const { mirror } = await openParcels(seven);
  noteNewest(mirror.meta, "parcels", isoTime(startMs));
  const run = runContextOf(mirror);
  queueSweep(run, { resource: "parcels", variant: "changes" }, false);
  expect(texts(mirror, "SELECT payload ->> 'perPage' AS full FROM _work")).toEqual(["1"]);
});

test("a whole list that is overdue because the month's calls do not suffice is named", async () => {
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: (...line: unknown[]) => void warned.push(line) };
  const service = await openParcels(seven);
  await service.run({ mostRequests: 0, log });
  service.pass(14 * dayMs - 1);
  await service.run({ mostRequests: 0, log });
  expect(warned).toEqual([]);
  service.pass(1);
  await service.run({ mostRequests: 0, log });
  const message = expect.stringContaining("parcels: the whole list is overdue") as string;
  expect(warned).toEqual([[message, { requests: 3, in_this_run: 0 }]]);
  await service.run({ log });
  expect(warned).toHaveLength(1);
});

const thirty = Array.from({ length: 30 }, (_, i) => i + 1);

/** A service that lost all but five records since its whole list was read, more than a run deletes; the list is due. */
async function losingMost() {
  const service = await readWhole(thirty);
  for (const id of thirty.slice(5)) service.remove(id);
  service.pass(8 * dayMs);
  return service;
}

describe("a list of changes", () => {
  test("counts anew how many records there are", async () => {
    const service = await readWhole(seven);
    expect(service.expected()).toBe(7);
    service.pass(dayMs);
    service.change(8);
    await service.run();
    expect(service.expected()).toBe(8);
  });

  test("I5: does not replace a whole list of which deletions are held: each run reads that again, and names them", async () => {
    const service = await losingMost();
    const held = { outcome: "partial", troubles: [{ resource: "parcels", kind: "held" }] };
    for (let night = 0; night < 3; night++) {
      expect(await service.run(), `night ${night}`).toMatchObject(held);
      expect(factsOf(service)?.waits, "in the plan").toBe(true);
      service.pass(dayMs);
    }
    expect(service.live()).toEqual(thirty);
    expect(await service.run({ allowMassDelete: true })).toMatchObject({ outcome: "complete" });
    expect(factsOf(service)?.waits).toBe(false);
    expect(service.live()).toEqual(thirty.slice(0, 5));
    await service.run();
    expect(service.asked).toEqual(["/parcels 1 since"]);
  });

  test("I8: is read alone where the month's calls do not suffice for the whole list of which deletions are held", async () => {
    const service = await losingMost();
    await service.run();
    service.pass(dayMs);
    await service.run({ mostRequests: 0 });
    expect(service.asked).toEqual(["/parcels 1 since"]);
    await service.run();
    expect(service.asked).toContain("/parcels 2");
  });

  test("of several pages is read until a reading shows nothing new, and a deletion meanwhile hides nothing", async () => {
    const service = await readWhole(seven);
    service.pass(dayMs);
    for (const id of seven) service.change(id);
    service.whenAsked((count) => count === 1 && service.remove(7));
    expect(await service.run()).toMatchObject({ outcome: "complete" });
    expect(service.asked.filter((one) => !one.endsWith("since"))).toEqual([]);
    service.pass(dayMs);
    expect((await service.run()).resources["parcels"]).toMatchObject({ updated: 0 });
  });

  test("I10, I11: is not enough where another company's token is accepted: its whole list is read", async () => {
    const service = await readWhole(seven);
    service.pass(dayMs);
    await service.run({ acceptIdentity: true });
    expect(service.asked).toEqual(["/parcels 1", "/parcels 2", "/parcels 3"]);
  });

  // Fault: pagination | a deletion moves a new record to a page already read | the whole list, read once more after weeks | the next list of changes shows it
  test("I11: what is new, and was hidden from the whole list by a deletion, is in the next list of changes", async () => {
    const service = await readWhole([1, 2, 3, 4, 6, 7, 8]);
    service.pass(8 * dayMs);
    service.change(5);
    service.pass(2 * hourMs);
    service.change(8);
    service.whenAsked((count) => count === 1 && service.remove(7));
    await service.run();
    expect(service.asked.slice(0, 2)).toEqual(["/parcels 1", "/parcels 2"]);
    service.pass(dayMs);
    await service.run();
    expect(service.live()).toContain(5);
  });

  test.each([
    ["what the service commits late, with a stamp within the overlap", 0, dayMs + hourMs / 2],
    ["what changes after the service stamped a record in the future", -3 * dayMs, 0],
  ])("I11: %s, is in the next list of changes", async (_case, firstAgoMs, nextAgoMs) => {
    const service = await readWhole(seven);
    service.pass(dayMs);
    service.change(7, firstAgoMs);
    await service.run();
    service.pass(dayMs);
    service.change(8, nextAgoMs);
    await service.run();
    expect(service.live()).toContain(8);
  });
});

// Fault: limiter | the whole list takes more requests than a run may spend on it | a list without a total behind a monthly quota | its pages are read over several nights, beside what changed, and it becomes whole
describe("a whole list that is larger than a run's share", () => {
  const many = Array.from({ length: 12 }, (_, i) => i + 1);

  test("I5, I11: is read over several nights, beside the list of changes, and then proves deletions", async () => {
    const service = await readWhole(many);
    service.remove(4);
    service.pass(8 * dayMs);
    const nights: string[] = [];
    for (let night = 0; night < 6; night++) {
      if (night === 2) service.change(13);
      expect(await service.run({ mostRequests: 2 })).toMatchObject({ outcome: "complete" });
      const lists = service.asked.filter((path) => path.startsWith("/parcels "));
      nights.push(lists.toSorted().join(", "));
      expect(service.live().includes(13)).toBe(night >= 2);
      service.pass(dayMs);
    }
    const changes = "/parcels 1 since";
    const parts = [1, 2, 3].map((page) => [changes, `/parcels ${page}`].toSorted().join(", "));
    // The rest fits: the record that is new fills the last page, and an empty one follows.
    expect(nights).toEqual([...parts, `${changes}, /parcels 4, /parcels 5`, changes, changes]);
    expect(service.live()).toEqual([...many, 13].filter((id) => id !== 4));
  });
});
