import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RecordId } from "../../src/base/ids.ts";
import { Listings, type ListedPage, type ListingStart } from "../../src/state/listings.ts";
import { Meta } from "../../src/state/meta.ts";
import { Parents } from "../../src/state/parents.ts";
import { Runs } from "../../src/state/runs.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { openShop, tempFolder } from "../support/mirror.ts";
import { put, stampOf, remove, rows, startMs } from "../support/store.ts";

const person = (id: number, more: object = {}) => ({ id, name: `n${id}`, email: null, score: null, ...more });
const order = (id: number) => ({ id, number: "1", total: 1, lines: [], receipts: [] });
const huge = 9_007_199_254_740_993n;

const start: ListingStart = {
  resource: "people",
  variant: "",
  run: 3,
  attempt: 2,
  startedSeq: 17,
  startedAt: "2026-03-01T00:00:00.000Z",
};
const page = (number: number, ids: readonly RecordId[], more: Partial<ListedPage> = {}): ListedPage => ({
  page: number,
  ids,
  perPage: 2,
  pages: 3,
  total: 5,
  consistent: true,
  ...more,
});
const openListings = async () => new Listings((await openShop()).db);

describe("listings", () => {
  test("survive a crash with everything a sweep needs to go on", async () => {
    const path = join(tempFolder(), "shop.db");
    const mirror = await openShop({ path });
    const listings = new Listings(mirror.db);
    expect(listings.addPage(start, page(1, [1, 2]))).toBeNull();
    expect(listings.addPage(start, page(3, [5], { total: 6 }))).toBeNull();
    mirror.close();
    const again = new Listings((await openShop({ path })).db);
    expect(again.addPage({ ...start, variant: "other" }, page(2, [3, 4]))).toBeNull();
    const later = { ...start, run: 4, startedSeq: 90, startedAt: "2026-03-02T00:00:00.000Z" };
    expect(again.addPage(later, page(2, [3, 4]))).toEqual({
      ...start,
      perPage: 2,
      pages: 3,
      total: 5,
      steady: false,
      shown: [1, 2, 3, 4, 5],
    });
  });

  test.each([
    ["disagrees with its own totals", { consistent: false }],
    ["names another total", { total: 6 }],
    ["names another number of pages", { pages: 4 }],
  ])("are not steady when a page %s", async (_case, more) => {
    const listings = await openListings();
    listings.addPage(start, page(1, [1, 2]));
    listings.addPage(start, page(2, [3, 4], more));
    expect(listings.addPage(start, page(3, [5]))).toMatchObject({ steady: false, pages: 3, total: 5 });
  });

  test("show what all pages showed, an id each time it came, empty pages and ids beyond 2^53 too", async () => {
    const listings = await openListings();
    listings.addPage(start, page(1, [1, 3]));
    listings.addPage(start, page(3, []));
    expect(listings.addPage(start, page(2, [3, huge]))).toMatchObject({
      steady: true,
      shown: [1, 3, 3, huge],
    });
  });

  test("a page read twice counts once, with what it showed last", async () => {
    const listings = await openListings();
    listings.addPage(start, page(1, [1, 2]));
    listings.addPage(start, page(2, [7, 8]));
    expect(listings.addPage(start, page(2, [3, 4]))).toBeNull();
    expect(listings.addPage(start, page(3, [5]))).toMatchObject({ shown: [1, 2, 3, 4, 5] });
  });

  test("opened anew or closed, nothing of the last reading stays; other listings do", async () => {
    const mirror = await openShop();
    const listings = new Listings(mirror.db);
    const ofParent = { ...start, variant: "people:17" };
    listings.addPage(start, page(1, [1]));
    listings.addPage(start, page(3, [2]));
    listings.addPage(ofParent, page(1, [9]));
    expect(listings.addPage({ ...start, attempt: 3 }, page(1, [1]))).toBeNull();
    expect(listings.addPage(start, page(2, [4]))).toBeNull();
    listings.close("people", "");
    expect(listings.addPage(start, page(3, [2]))).toBeNull();
    expect(rows(mirror, "SELECT variant FROM _listings")).toEqual([{ variant: "people:17" }]);
    expect(rows(mirror, "SELECT variant, ids FROM _listing_pages")).toEqual([
      { variant: "people:17", ids: "9" },
    ]);
  });

  test("one page is a whole listing, and closes an earlier one of more pages", async () => {
    const mirror = await openShop();
    const listings = new Listings(mirror.db);
    listings.addPage(start, page(1, [1, 2]));
    const only = page(1, [1], { pages: 1, total: 1 });
    expect(listings.addPage(start, only)).toMatchObject({ steady: true, shown: [1], total: 1 });
    expect(rows(mirror, "SELECT * FROM _listings")).toEqual([]);
  });
});

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
    expect(parents.stalest("notes", "people", 9)).toEqual([
      { id: 4, listedAtMs: null },
      { id: 1, listedAtMs: 2_000 },
      { id: 3, listedAtMs: 3_000 },
    ]);
    expect(parents.stalest("notes", "people", 1)).toHaveLength(1);
  });
});

describe("runs", () => {
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

describe("questions about what the mirror holds", () => {
  test("live and deleted are counted apart, also where nothing is", async () => {
    const mirror = await openShop();
    const { records } = mirror;
    expect(records.counts("people")).toEqual({ live: 0, deleted: 0 });
    for (const id of [1, 2, 3]) put(mirror, "people", person(id));
    remove(mirror, "people", 2);
    expect(records.counts("people")).toEqual({ live: 2, deleted: 1 });
    expect(records.liveCount("people")).toBe(2);
    expect(records.liveIds("people")).toEqual([1, 3]);
    expect([1, 2, 9].map((id) => records.isLive("people", id))).toEqual([true, false, false]);
  });

  test("what was received before a moment is what a list begun then must show", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1));
    const began = mirror.sequence.next();
    put(mirror, "people", person(2));
    expect(mirror.records.liveIdsReceivedBefore("people", began)).toEqual([1]);
  });

  test("rows are found by a column's value, tombstones are not", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, { name: "A", email: "x" }));
    put(mirror, "people", person(2, { name: "A", email: "y" }));
    put(mirror, "people", person(3, { name: "A", email: "x" }));
    remove(mirror, "people", 3);
    expect(mirror.records.liveIdsWhere("people", "name", "A")).toEqual([1, 2]);
    expect(mirror.records.liveIdsWhereBoth("people", "name", "A", "email", 5)).toEqual([]);
    expect(mirror.records.latestValue(["colours", "people"], "_synced_at")).toBe("2026-03-01T00:00:00.000Z");
    expect(mirror.records.latestValue(["people"], "score")).toBeNull();
  });

  test("the details read longest ago are found, and none that was read lately", async () => {
    const mirror = await openShop();
    for (const [id, agoMs] of [
      [1, 100],
      [2, 300],
      [3, 200],
    ] as const) {
      const at = stampOf(mirror, { receivedAtMs: startMs - agoMs });
      put(mirror, "orders", order(id), { source: "detail", stamp: at });
    }
    expect(mirror.records.oldestDetails("orders", startMs - 150, 9)).toEqual([
      { id: 2, readAtMs: startMs - 300 },
      { id: 3, readAtMs: startMs - 200 },
    ]);
    expect(mirror.records.oldestDetails("orders", startMs, 1).map(({ id }) => id)).toEqual([2]);
    const again = stampOf(mirror, { receivedAtMs: startMs });
    put(mirror, "orders", order(2), { source: "detail", stamp: again });
    expect(mirror.records.oldestDetails("orders", startMs - 150, 9).map(({ id }) => id)).toEqual([3]);
  });
});

describe("the sequence", () => {
  test("I3: never goes back behind a number that was stored, whatever the process forgot", async () => {
    const path = join(tempFolder(), "shop.db");
    const mirror = await openShop({ path });
    put(mirror, "people", person(1));
    const stored = Number(rows(mirror, "SELECT received_seq FROM _fence_people")[0]?.["received_seq"]);
    const dirtySeq = mirror.sequence.next() + 100;
    const target = { kind: "detail", resource: "people", target: "id:1", lane: "list", reason: "x" } as const;
    mirror.apply(() => new WorkQueue(mirror.db).add({ ...target, dirtySeq }));
    mirror.close();
    const again = await openShop({ path });
    const next = again.sequence.next();
    expect(next).toBeGreaterThan(stored);
    expect(next).toBeGreaterThan(dirtySeq);
    expect(put(again, "people", person(1, { name: "later" }))).toBe("updated");
  });

  test("is written with what a transaction stores, and by no other", async () => {
    const mirror = await openShop();
    const meta = new Meta(mirror.db);
    mirror.apply(() => mirror.sequence.next());
    expect(meta.get("seq")).toBeNull();
    put(mirror, "people", person(1));
    expect(Number(meta.get("seq"))).toBeGreaterThan(0);
  });
});

describe("the tables", () => {
  test("are all STRICT; child tables are their key and need no rowid", async () => {
    const mirror = await openShop();
    const kysely = "('_migrations', '_migrations_lock', 'sqlite_sequence')";
    const loose = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0
      AND name NOT LIKE 'sqlite_%' AND name NOT IN ${kysely}`;
    expect(rows(mirror, loose)).toEqual([]);
    const keyed =
      "SELECT name FROM pragma_table_list WHERE wr = 1 AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name";
    expect(rows(mirror, keyed)).toEqual([{ name: "note_attachments" }, { name: "order_lines" }]);
    expect(rows(mirror, "SELECT name, pk FROM pragma_table_info('order_lines') WHERE pk > 0")).toEqual([
      { name: "order_id", pk: 1 },
      { name: "position", pk: 2 },
    ]);
  });

  test("each record has its row, its JSON and its fence in tables of their own", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1));
    for (const table of ["people", "_raw_people", "_fence_people"]) {
      expect(rows(mirror, `SELECT id FROM "${table}"`)).toEqual([{ id: 1 }]);
    }
    expect(Object.keys(rows(mirror, "SELECT * FROM people")[0] ?? {})).toEqual([
      "id",
      "name",
      "email",
      "score",
      "_deleted_at",
      "_synced_at",
    ]);
  });

  test("a resource that has no table is a broken promise of ours", async () => {
    const mirror = await openShop();
    expect(() => mirror.table("nothing")).toThrow("broken promise: nothing has a table");
  });
});

test("I1: what one answer means commits together or not at all", async () => {
  const mirror = await openShop();
  const queue = new WorkQueue(mirror.db);
  const target = { kind: "detail", resource: "people", target: "id:1", lane: "list", reason: "x" } as const;
  queue.add({ ...target, dirtySeq: 1 });
  const work = queue.lease(startMs, ["people"]);
  if (!work) throw new Error("nothing is due");
  const step = () => {
    mirror.table("people").put({
      stamp: stampOf(mirror),
      id: 1,
      slice: Buffer.from(JSON.stringify(person(1))),
      source: "detail",
    });
    queue.add({ ...target, target: "id:2", dirtySeq: 5 });
    queue.done(work, 9);
  };
  expect(() =>
    mirror.apply(() => {
      step();
      throw new Error("the power went");
    }),
  ).toThrow("the power went");
  expect(mirror.records.liveIds("people")).toEqual([]);
  expect(queue.targets("people", "detail")).toEqual(["id:1"]);
  mirror.apply(step);
  expect(mirror.records.liveIds("people")).toEqual([1]);
  expect(queue.targets("people", "detail")).toEqual(["id:2"]);
});
