import Database from "better-sqlite3";
import { describe, expect, onTestFinished, vi } from "vitest";
import { dayMs, hourMs } from "../../src/base/clock.ts";
import type { RecordId } from "../../src/base/ids.ts";
import { Meta, markRestored } from "../../src/state/meta.ts";
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import { openShop, openAgain, rollBack } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { person } from "../support/mirror/shop-records.ts";
import { work, listing } from "../support/mirror/state-rows.ts";
import { leaseNext } from "../support/mirror/run.ts";
import { put, remove, rows, texts } from "../support/mirror/store.ts";
import { Listings, type EarlierReadings, type ListedPage } from "../../src/state/listings.ts";
import { beginLog, readLog } from "../../src/state/log-identity.ts";
import { inTransaction, type Db } from "../../src/store/database.ts";
import { Parents } from "../../src/state/parents.ts";
import { Runs } from "../../src/state/runs.ts";
import { openSnapshot } from "../../src/state/mirror-snapshot.ts";
import { heartbeatMs, UptimeLog } from "../../src/state/uptime-log.ts";

test("I10: is opened and shown by its own connector alone: another one would derive other rows from its JSON", async ({
  mirror,
}) => {
  put(mirror, "people", person(1));
  const { declaration, db } = mirror;
  mirror.meta.set("connector", declaration.name);
  const held = rows(mirror, "SELECT * FROM people");
  mirror.close();
  const other = { ...declaration, name: "other" };
  await expect(openMirror(db.name, other)).rejects.toMatchObject({ kind: "identity" });
  expect(() => openSnapshot(db.name, other, { reportDate: "2026-11-29" })).toThrow(
    'the config names "other"',
  );
  const again = await openShop({ path: db.name });
  expect(rows(again, "SELECT * FROM people")).toEqual(held);
});

describe("the sequence", () => {
  // Fault: process | a crash after numbers were given | the sequence in the file and in memory | it never goes back behind a number that was stored (I3)
  test("I3: never goes back behind a number that was stored by any process", async ({ mirror, queue }) => {
    put(mirror, "people", person(1));
    const stored = Number(texts(mirror, "SELECT received_seq FROM _fence_people")[0]);
    const dirtySeq = mirror.sequence.next() + 100;
    mirror.apply(() => queue.add(work({ dirtySeq })));
    const again = await openAgain(mirror);
    const next = again.sequence.next();
    expect(next).toBeGreaterThan(stored);
    expect(next).toBeGreaterThan(dirtySeq);
    expect(put(again, "people", person(1, { name: "later" }))).toBe("updated");
  });

  test("is found without a look at events that are done", async ({ mirror: { db } }) => {
    db.close();
    const prepared = vi.spyOn(Database.prototype, "prepare");
    onTestFinished(() => prepared.mockRestore());
    const mirror = await openShop({ path: db.name });
    const asked = prepared.mock.calls.flatMap(([sql]) => (/from "?_inbox"?\b/i.test(sql) ? [sql] : []));
    const plans = asked.flatMap((sql) => rows(mirror, `EXPLAIN QUERY PLAN ${sql}`));
    expect(plans.map(({ detail }) => detail)).toEqual(["SEARCH _inbox USING COVERING INDEX _inbox_waiting"]);
  });

  test.for([
    ["confirmed", (mirror: Mirror) => put(mirror, "people", person(1), { source: "detail" })],
    ["deleted", (mirror: Mirror) => remove(mirror, "people", 1)],
  ] as const)(
    "I3: never goes back behind the number of a record that was %s",
    async ([, step], { mirror }) => {
      put(mirror, "people", person(1));
      step(mirror);
      const last = mirror.sequence.next();
      expect((await openAgain(mirror)).sequence.next()).toBe(last);
    },
  );

  test("is written with what a transaction stores, and by no other", ({ mirror }) => {
    const meta = new Meta(mirror.db);
    mirror.apply(() => mirror.sequence.next());
    expect(meta.get("seq")).toBeNull();
    put(mirror, "people", person(1));
    expect(Number(meta.get("seq"))).toBeGreaterThan(0);
  });
});

test("the tables are all STRICT; child tables are their key and need no rowid", ({ mirror }) => {
  const loose = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0
    AND name NOT LIKE 'sqlite_%'`;
  expect(rows(mirror, loose)).toEqual([]);
  const keyed =
    "SELECT name FROM pragma_table_list WHERE wr = 1 AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name";
  expect(texts(mirror, keyed)).toEqual(["document_files", "note_attachments", "order_lines"]);
  const key = texts(mirror, "SELECT name, pk FROM pragma_table_info('order_lines') WHERE pk > 0");
  expect(key).toEqual(["order_id 1", "position 2"]);
});

// Fault: process | an error in the middle of applying an answer | the transaction | all of it or nothing (I1)
test("I1: what one answer means commits together or not at all", ({ mirror, queue }) => {
  queue.add(work());
  const item = leaseNext(queue, ["people"]);
  const step = () => {
    put(mirror, "people", person(1), { source: "detail" });
    queue.add(work({ target: "id:2", dirtySeq: 5 }));
    queue.done(item, 9);
  };
  const targets = () => texts(mirror, "SELECT target FROM _work");
  rollBack(mirror, step);
  expect([mirror.records.liveIds("people"), targets()]).toEqual([[], ["id:1"]]);
  mirror.apply(step);
  expect([mirror.records.liveIds("people"), targets()]).toEqual([[1], ["id:2"]]);
});

const columns = "(resource, target, kind, lane, due_ms, reason, payload, dirty_seq)";
const child = (page: number) =>
  `('people', 'child:people:7:${page}', 'child', 3, 0, 'new', '{"parent":"people","parentId":7,"page":${page}}', 1)`;

// Fault: disk | a mirror is restored from a backup that was taken in the middle of lists | markRestored over open lists and queued pages | nothing goes on in a list's middle: its earlier pages are of another time; records stay queued
test("a restored mirror goes on in no list's middle, and keeps queued records", ({ mirror }) => {
  const { db } = mirror;
  const listings = new Listings(db);
  listings.open(listing, null);
  listings.putPage(listing, { page: 1, ids: [1, 2], withoutId: [], perPage: 2, total: 5 });
  db.exec(`INSERT INTO _work ${columns} VALUES
    ('people', 'list:2', 'list', 2, 0, 'sweep', '{"page":2}', 1), ${child(3)}, ${child(2)},
    ('people', 'id:9', 'detail', 3, 0, 'new', NULL, 1)`);
  markRestored(db, 0, "2026-03-01T00:00:00.000Z");
  expect(listings.find(listing.resource, listing.variant)).toBeNull();
  expect(rows(mirror, "SELECT * FROM _listing_pages")).toEqual([]);
  const left = texts(mirror, "SELECT target, payload ->> 'page' AS page FROM _work ORDER BY target");
  expect(left).toEqual(["child:people:7:1 1", "id:9 null"]);
});

// Fault: clock | a backup is restored twice within one moment of a clock that was set back | beginLog over the same copy | numbers above the backup's, the replaced mirror's and the first restore's
test("a log that goes on from a backup begins above all that did so before, by any clock", ({ mirror }) => {
  const { db } = mirror;
  const began = readLog(db);
  const firsts: number[] = [];
  for (const nowMs of [0, 0, -1]) {
    inTransaction(db, () => beginLog(db, db.name, nowMs));
    const { id, from, first } = readLog(db);
    expect([id === began.id, from]).toEqual([false, began.from]);
    firsts.push(first);
  }
  expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
  expect(new Set(firsts).size).toBe(3);
});

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
  const stalest = parents.stalest("notes", ["people"], 9);
  const found = stalest.map(({ resource, id, listedAtMs, run }) => `${resource} ${id} ${listedAtMs} ${run}`);
  expect(found).toEqual(["people 4 null null", "people 1 2000 7", "people 3 300 8"]);
  expect(parents.stalest("notes", ["people"], 1)).toMatchObject([{ id: 4 }]);
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
  expect([...runs.successes()]).toMatchObject([{ startedAt: at }]);
  const finishedAt = "2026-03-01T00:30:00.000Z";
  runs.finish(run, finishedAt, "stopped", { ...listed, outcome: "stopped" });
  expect(runs.lastEnded()).toMatchObject({ outcome: "complete", finishedAt });
  expect([...runs.successes()]).toHaveLength(1);
  const next = runs.begin("incremental", at, null, {});
  runs.finish(next, finishedAt, "stopped", { outcome: "stopped", listed_at: null, troubles: [] });
  expect(runs.lastEnded()).toMatchObject({ id: next, outcome: "stopped" });
  expect([...runs.successes()]).toHaveLength(1);
});

const t0 = Date.UTC(2026, 10, 21);

const span = (fromHours: number, toHours: number) => ({
  startedMs: t0 + fromHours * hourMs,
  seenMs: t0 + toHours * hourMs,
});

/** `0 5 drained`: from, to and how it ended, ms since `t0`. */
const spansIn = (db: Db) =>
  texts({ db }, "SELECT started_ms - ? AS from_ms, seen_ms - ? AS to_ms, ended FROM _receiver", t0, t0);

test("a span grows with each heartbeat and is closed when the daemon drains", ({ mirror: { db } }) => {
  const log = new UptimeLog(db);
  expect([log.beat(t0), log.beat(t0 + heartbeatMs)]).toEqual([false, false]);
  log.end(t0 + heartbeatMs + 5);
  expect(spansIn(db)).toEqual([`0 ${heartbeatMs + 5} drained`]);
});

// Fault: process | a daemon that was killed | the uptime log | its time ends with its last heartbeat
test("a killed span ends with its last heartbeat; the next process has its own", ({ mirror: { db } }) => {
  new UptimeLog(db).beat(t0);
  const next = new UptimeLog(db);
  expect(next.beat(t0 + hourMs)).toBe(false);
  expect(next.spans()).toEqual([span(0, 0), span(1, 1)]);
});

// Fault: clock | the machine slept, or its clock was set back | the uptime log | a gap, so that a run follows
test("a machine that slept, or a clock that was set back, is a gap", ({ mirror: { db } }) => {
  const log = new UptimeLog(db);
  const beats = [t0, t0 + 5 * hourMs, t0 + 5 * hourMs + heartbeatMs, t0].map((atMs) => log.beat(atMs));
  expect(beats).toEqual([false, true, false, true]);
  expect(log.spans()).toHaveLength(3);
});

test("spans of long ago are removed", ({ mirror: { db } }) => {
  new UptimeLog(db).beat(t0 - 40 * dayMs);
  const log = new UptimeLog(db);
  log.beat(t0);
  expect(log.spans()).toEqual([span(0, 0)]);
});

// Fault: webhook | every delivery is refused from some moment on, over a restart | the uptime log | what was noted since then is taken back; the time counts as a gap
test("a time of refusals is taken back, over a restart too; the next is a new span", ({ mirror: { db } }) => {
  const before = new UptimeLog(db);
  before.beat(t0);
  const log = new UptimeLog(db);
  log.beat(t0 + heartbeatMs);
  log.beat(t0 + 2 * heartbeatMs);
  log.refuse(t0 + heartbeatMs + 5);
  expect(log.beat(t0 + 4 * heartbeatMs)).toBe(false);
  log.refuse(t0 + 3 * heartbeatMs);
  const [ms, later] = [heartbeatMs, 4 * heartbeatMs];
  expect(spansIn(db)).toEqual(["0 0 null", `${ms} ${ms + 5} refused`, `${later} ${later} refused`]);
});

describe("times in which other processes received", () => {
  test("are taken over once and only grow; a new one after the first call is a gap", ({ mirror: { db } }) => {
    const log = new UptimeLog(db);
    const first = [span(0, 1), span(2, 3)];
    expect(log.merge(first)).toBe(false);
    expect(log.spans()).toEqual(first);
    const longer = [span(0, 1), span(2, 4)];
    expect(log.merge(longer)).toBe(false);
    expect(log.spans()).toEqual(longer);
    const gap = [...longer, span(6, 7)];
    expect(log.merge(gap)).toBe(true);
    expect(log.merge(gap)).toBe(false);
    // What was read earlier makes none shorter, and what is listed no more stays.
    expect(log.merge([span(2, 3)])).toBe(false);
    expect(log.spans()).toEqual(gap);
    // The next owner of the mirror knows them, and its first call finds no gap.
    const next = new UptimeLog(db);
    expect([next.merge([...gap, span(9, 10)]), next.spans()]).toEqual([false, [...gap, span(9, 10)]]);
  });

  test("count from the moment on at which the company joined them", ({ mirror: { db } }) => {
    const log = new UptimeLog(db);
    log.merge([span(0, 1), span(2, 5)], t0 + 3 * hourMs);
    expect(log.spans()).toEqual([span(3, 5)]);
  });

  test("of long ago are removed with the next change, by the newest of them", ({ mirror: { db } }) => {
    const log = new UptimeLog(db);
    log.merge([span(0, 1)]);
    log.merge([span(24 * 40, 24 * 40 + 1)]);
    expect(log.spans()).toEqual([span(24 * 40, 24 * 40 + 1)]);
    expect(log.merge([])).toBe(false);
    expect(log.spans()).toHaveLength(1);
  });
});

const huge = 9_007_199_254_740_993n;
const earlier: EarlierReadings = { ...listing, startedSeq: 9, ids: [1, huge], withoutId: 1 };
const page = (number: number, ids: readonly RecordId[], more: Partial<ListedPage> = {}): ListedPage => ({
  page: number,
  ids,
  withoutId: [],
  perPage: 2,
  total: 5,
  ...more,
});

describe("listings", () => {
  // Fault: process | a crash between the pages of a list | the listing's state, reopened | it has everything to continue
  test("survive a crash with everything a sweep needs to go on", async ({ mirror }) => {
    const listings = new Listings(mirror.db);
    listings.open(listing, earlier);
    listings.putPage(listing, page(1, [1, 2]));
    listings.putPage(listing, page(3, [], { withoutId: ["sha:a", "sha:b"], total: 6 }));
    const moved = { ...listing, total: 6, idle: 1, tails: 2, steady: false, overstated: true, pages: 4 };
    listings.update(moved);
    const again = new Listings((await openAgain(mirror)).db);
    expect(again.find("people", "")).toEqual(moved);
    expect(again.find("people", "other")).toBeNull();
    const before = { startedSeq: 9, ids: [1, huge], withoutId: 1, total: 5 };
    expect(again.earlier(listing, 2)).toMatchObject(before);
    expect(again.progress(moved)).toEqual({ read: 2, leastTotal: 5, lastOlder: 1 });
    expect(again.putPage(moved, page(2, [1], { withoutId: ["sha:b"] }))).toBe(false);
  });

  test("show what pages showed, ids each time they came, also beyond 2^53, and empty pages", ({ mirror }) => {
    const listings = new Listings(mirror.db);
    listings.open(listing, null);
    for (const one of [page(1, [7, 8]), page(1, [1, 3]), page(3, [])]) listings.putPage(listing, one);
    // A page read twice counts once, with what it showed last.
    expect(listings.progress(listing).read).toBe(2);
    listings.putPage(listing, page(2, [3, huge]));
    expect(listings.shown(listing)).toEqual({ ids: [1, 3, 3, huge], withoutId: [] });
    expect(listings.pageShown(listing, 2)).toEqual({ ids: [3, huge], withoutId: [] });
    expect(listings.pageShown(listing, 4)).toBeNull();
  });

  test("know whether a page shows anything new, also after a transaction that rolled back", ({ mirror }) => {
    const listings = new Listings(mirror.db);
    listings.open(listing, null);
    const add = (one: ListedPage) => listings.putPage(listing, one);
    expect(add(page(1, [1, 2]))).toBe(true);
    rollBack(mirror, () => add(page(3, [5, 6])));
    expect(add(page(3, [5, 6]))).toBe(true);
    expect(add(page(2, [2, 6]))).toBe(false);
  });
});
