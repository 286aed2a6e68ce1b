import { expect } from "vitest";
import { dayMs, isoTime } from "../../src/base/clock.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { ScrubCandidates, type ScrubSource } from "../../src/state/scrub-candidates.ts";
import { test } from "../support/mirror/shop-test.ts";
import { note, order, person } from "../support/mirror/shop-records.ts";
import { put, putPreview, remove, stampOf, startMs } from "../support/mirror/store.ts";
import { runContextOf } from "../support/mirror/run.ts";

const orders: ScrubSource = { table: "orders", listOf: null, date: "issued_on", referrers: [] };
const referrers = [{ table: "notes", column: "person_id", date: null }];
const notesOfPeople: ScrubSource = { table: "people", listOf: "notes", date: null, referrers };

function readOrder(mirror: Mirror, id: number, agoMs: number, more: object = {}): void {
  const stamp = stampOf(mirror, { receivedAtMs: startMs - agoMs });
  put(mirror, "orders", order(id, more), { source: "detail", stamp });
}

const idsOf = (found: readonly { readonly id: number | bigint }[]) => found.map(({ id }) => id);

test("details read longest ago come first, without deleted, provisional and recent ones", ({ mirror }) => {
  for (const [i, agoMs] of [100, 300, 200, 400].entries()) readOrder(mirror, i + 1, agoMs);
  remove(mirror, "orders", 4, stampOf(mirror, { receivedAtMs: startMs - 350 }));
  putPreview(mirror, "orders", { id: 5, number: "A", total: 1 });
  const candidates = new ScrubCandidates(mirror.db);
  const stalest = candidates.stalest([orders], { untilMs: startMs - 150, nowMs: startMs }, 9);
  expect(stalest.map(({ id, readAtMs }) => `${id} ${readAtMs - startMs}`)).toEqual(["2 -300", "3 -200"]);
  expect(idsOf(candidates.stalest([orders], { untilMs: startMs, nowMs: startMs }, 1))).toEqual([2]);
  expect(candidates.readBefore([orders, notesOfPeople])).toEqual({ count: 3, oldestMs: startMs - 300 });
  expect(candidates.readBefore([notesOfPeople])).toEqual({ count: 0, oldestMs: null });
  expect([orders, notesOfPeople].map((one) => candidates.oldestMs([one]))).toEqual([startMs - 300, null]);
});

test("recent activity is a change, date, event or referring record; not the first run", ({ mirror }) => {
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
