import { describe, expect } from "vitest";
import type { Mirror } from "../../src/state/mirror.ts";
import { mostSweeps } from "../../src/sync/lists/listing.ts";
import { addInitialWork } from "../../src/sync/plan/initial-work.ts";
import { recordsAtOnce, applyList } from "../../src/sync/lists/list-answer.ts";
import { outcomeOfWork } from "../../src/sync/run/sync-run.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { note, order, person } from "../support/mirror/shop-records.ts";
import { put, rows, stampOf, startMs, written } from "../support/mirror/store.ts";
import {
  answerTo,
  childPage,
  detail,
  detailWork,
  leaseNext,
  leased,
  page,
  removeProven,
  runContextOf,
  stillClock,
  waiting,
} from "../support/mirror/run.ts";

const odd = (id: number) => ({ ...person(id), score: "many" });
const at = (mirror: Mirror, ms: number) => stampOf(mirror, { receivedAtMs: startMs + ms });

describe("I12: a record in quarantine that never became a row", () => {
  test("is released when a complete list shows it no more, as it has no row to check", async ({ mirror }) => {
    const run = runContextOf(mirror, {}, ["people"]);
    await page(run, "people", [person(1), odd(2)], { at: at(mirror, 0) });
    await page(run, "people", [person(1), odd(2)], { at: at(mirror, 1_000) });
    expect(mirror.quarantine.all()).toHaveLength(1);
    await page(run, "people", [person(1)], { at: at(mirror, 2_000) });
    expect(mirror.quarantine.all()).toEqual([]);
  });

  test("stays while the list is not complete, or when it came after the list began", async ({ mirror }) => {
    const clock = { ...stillClock, nowMs: () => startMs + 4_000 };
    const run = runContextOf(mirror, { clock }, ["people"]);
    put(mirror, "people", odd(2), { stamp: at(mirror, 0) });
    put(mirror, "people", odd(3), { stamp: at(mirror, 3_000) });
    await page(run, "people", [person(1)], { at: at(mirror, 1_000), total: 2, attempt: 3 });
    expect(mirror.quarantine.all()).toHaveLength(2);
    await page(run, "people", [person(1)], { at: at(mirror, 2_000) });
    expect(mirror.quarantine.all().map(({ recordId }) => recordId)).toEqual([3]);
  });

  test("is named by each run that leaves it there, as is every other one", async ({ mirror }) => {
    const run = runContextOf(mirror, {}, ["people"]);
    await page(run, "people", [person(1), odd(2), odd(3)]);
    expect(outcomeOfWork(run, false)).toBe("partial");
    expect(run.tally.allTroubles()).toMatchObject([
      { id: "2", message: expect.stringContaining("record 2 is in quarantine") },
      { id: "3", message: expect.stringContaining("record 3 is in quarantine") },
    ]);
  });
});

// Fault: process | a crash between the parts of a long answer | the answer's transactions | the read is repeated without other effect (I1, I7)
test("I1, I7: a long answer is applied in parts, and repeated after a crash between", async ({ mirror }) => {
  const run = runContextOf(mirror, {}, ["colours"]);
  const many = Array.from({ length: recordsAtOnce + 3 }, (_, i) => ({ id: i + 1, label: "x" }));
  const records = many.slice(0, -1).map((one) => JSON.stringify(one));
  const broken = `{"data":[${records.join(",")},{"id":9999,"label":tru}]}`;
  const place = { kind: "list", resource: "colours", target: "page::1", lane: "list" } as const;
  const item = leased(run, { ...place, reason: "sweep", payload: { variant: "", page: 1 } });
  await expect(applyList(answerTo(run, item), Buffer.from(broken))).rejects.toThrow();
  run.queue.release(item);
  expect(mirror.records.counts("colours").live).toBe(recordsAtOnce);
  expect(waiting(run)).toEqual(["colours page::1 list sweep"]);
  expect(run.tally.of("colours").inserted).toBe(recordsAtOnce);
  await page(run, "colours", many);
  expect(run.tally.of("colours")).toMatchObject({ inserted: many.length, unchanged: recordsAtOnce });
  expect(waiting(run)).toEqual([]);
});

// Fault: pagination | a parent's list that changes while it is read | a list's answers | read again, named at last, and nothing is deleted
test("a parent's list that changed is read again, at last unsettled, and nothing is deleted", async () => {
  const run = runContextOf(await openHasty(), {}, ["people", "notes"]);
  for (let attempt = 1; attempt <= mostSweeps; attempt++) {
    await childPage(run, 1, [note(1, 1), note(2, 1)], { total: 3, attempt });
    await childPage(run, 1, [note(2, 1)], { page: 2, total: 3, attempt });
    const next = attempt < mostSweeps ? ["notes child:people:1:1 child parent"] : [];
    expect(waiting(run)).toEqual(next);
  }
  expect(run.tally.allTroubles()).toMatchObject([{ resource: "notes", kind: "unsettled" }]);
});

describe("a proven deletion", () => {
  test("removes what the record owned and checks what pointed to it", ({ mirror, run }) => {
    const receipt = { id: 5, documentType: null, documentId: null, amount: 1 };
    detail(run, "orders", order(1, { receipts: [receipt] }), detailWork(run, "orders", 1));
    expect(mirror.records.liveIds("receipts")).toEqual([5]);
    removeProven(run, "orders", 1);
    expect(mirror.records.liveIds("receipts")).toEqual([]);
    expect(run.tally.of("receipts").deleted).toBe(1);
  });

  test("of a lookup queues the records that hold its id", ({ mirror, run }) => {
    put(mirror, "colours", { id: 3, label: "red" });
    put(mirror, "orders", order(1, { colour: { id: 3, label: "red" } }), { source: "detail" });
    put(mirror, "orders", order(2), { source: "detail" });
    removeProven(run, "colours", 3);
    expect(waiting(run)).toEqual(["orders id:1 detail cascade"]);
  });

  test("of a parent drops its open list and checks its children one by one", async ({ mirror, run }) => {
    put(mirror, "people", person(1));
    put(mirror, "notes", note(7, 1));
    await childPage(run, 1, [note(7, 1)], { total: 2 });
    // The next run that reads notes takes it from the queue.
    removeProven(runContextOf(mirror, { mirrored: run.mirrored }, ["people"]), "people", 1);
    expect(waiting(run)).toEqual(["notes id:7 confirm parent gone"]);
    expect(rows(mirror, "SELECT * FROM _listings")).toEqual([]);
  });

  test("a payment no longer in its document's detail is deleted: the set is complete", ({ mirror, run }) => {
    const receipts = [1, 2].map((id) => ({ id, documentType: null, documentId: null, amount: 1 }));
    detail(run, "orders", order(1, { receipts }), detailWork(run, "orders", 1));
    detail(run, "orders", order(2, { receipts: [{ ...receipts[0], id: 8 }] }), detailWork(run, "orders", 2));
    const { id: _, ...unnamed } = { id: 1, ...receipts[0] };
    // It may be any of them (I5).
    detail(run, "orders", order(1, { receipts: [unnamed] }), detailWork(run, "orders", 1));
    expect(mirror.records.liveIds("receipts")).toEqual([1, 2, 8]);
    detail(run, "orders", order(2, { receipts: [unnamed, { id: 8 }] }), detailWork(run, "orders", 2));
    expect(mirror.quarantine.count()).toBe(2);
    detail(run, "orders", order(1, { receipts: [receipts[1]] }), detailWork(run, "orders", 1));
    expect(mirror.quarantine.count()).toBe(1);
    expect(mirror.records.liveIds("receipts")).toEqual([2, 8]);
    const before = written(mirror);
    detail(run, "orders", { id: 1, number: "A", total: 1, lines: [] }, detailWork(run, "orders", 1));
    expect(mirror.records.liveIds("receipts")).toEqual([2, 8]);
    expect(written(mirror)).toBeGreaterThan(before);
    removeProven(run, "orders", 2);
    expect(mirror.quarantine.count()).toBe(0);
  });

  test("payments that a run left out are read with their documents once they are mirrored", ({ mirror }) => {
    const receipts = [{ id: 1, documentType: null, documentId: null, amount: 1 }];
    const without = runContextOf(mirror, {}, ["orders"]);
    detail(without, "orders", order(1, { receipts }), detailWork(without, "orders", 1));
    expect(mirror.meta.get("left_out:receipts")).toBe(1);
    const run = runContextOf(mirror, {}, ["orders", "receipts"]);
    const begin = () => {
      mirror.apply(() => addInitialWork(run, null));
      return waiting(run).filter((row) => row.includes("id:"));
    };
    expect(begin()).toEqual(["orders id:1 detail full"]);
    run.queue.drop("orders", "page:");
    detail(run, "orders", order(1, { receipts }), leaseNext(run.queue, ["orders"]));
    expect(mirror.records.liveIds("receipts")).toEqual([1]);
    expect(begin()).toEqual([]);
  });
});
