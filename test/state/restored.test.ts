import { expect } from "vitest";
import { Listings } from "../../src/state/listings.ts";
import { beginLog, readLog } from "../../src/state/log-identity.ts";
import { markRestored } from "../../src/state/meta.ts";
import { inTransaction } from "../../src/store/database.ts";
import { test } from "../support/mirror/shop-test.ts";
import { listing } from "../support/mirror/state-rows.ts";
import { rows, texts } from "../support/mirror/store.ts";

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
  markRestored(db, { nowMs: 0, takenAt: "2026-03-01T00:00:00.000Z" });
  expect(listings.find(listing.resource, listing.variant)).toBeNull();
  expect(rows(mirror, "SELECT * FROM _listing_pages")).toEqual([]);
  expect(texts(mirror, "SELECT target, payload ->> 'page' AS page FROM _work ORDER BY target")).toEqual([
    "child:people:7:1 1",
    "id:9 null",
  ]);
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
