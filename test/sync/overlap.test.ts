import { describe, expect } from "vitest";
import { test } from "../support/mirror/shop-test.ts";
import { order as anOrder, person } from "../support/mirror/shop-records.ts";
import { put, row, send } from "../support/mirror/store.ts";
import { detail, detailWork, page, runContextOf, waiting } from "../support/mirror/run.ts";

const order = (id: number, number: string) => anOrder(id, { number, remark: null });

describe("I3, I4: reads that overlap", () => {
  // Fault: data | a list overtakes a detail of the same record | read stamps | the detail is not used, and read again (I3)
  test("a detail that a list overtook is not used, and its item stays queued", async ({ mirror }) => {
    const run = runContextOf(mirror, {}, ["people"]);
    put(mirror, "people", person(1, "old"));
    const list = send(mirror);
    const work = detailWork(run, "people", 1);
    const answer = send(mirror);
    await page(run, "people", [person(1, "between")], { at: list.receive() });
    detail(run, "people", person(1, "newest"), work, answer.receive());
    expect(row(mirror, "people", 1)?.["name"]).toBe("between");
    expect(waiting(run)).toEqual(["people id:1 detail new"]);
    detail(run, "people", person(1, "newest"), detailWork(run, "people", 1));
    expect(row(mirror, "people", 1)?.["name"]).toBe("newest");
    expect(waiting(run)).toEqual([]);
  });

  test("a listed record that a detail overtook is read on its own route", async ({ mirror }) => {
    const run = runContextOf(mirror, {}, ["people"]);
    const work = detailWork(run, "people", 1);
    const answer = send(mirror);
    const list = send(mirror);
    detail(run, "people", person(1, "detail"), work, answer.receive());
    await page(run, "people", [person(1, "list")], { at: list.receive() });
    expect(waiting(run)).toEqual(["people id:1 detail overlapped"]);
  });

  test("a detail sent before a differing preview came does not answer it", async ({ mirror, run }) => {
    put(mirror, "orders", order(1, "A"), { source: "detail" });
    const list = send(mirror);
    const work = detailWork(run, "orders", 1);
    const answer = send(mirror);
    await page(run, "orders", [{ id: 1, number: "B", total: 1 }], { at: list.receive() });
    detail(run, "orders", order(1, "A"), work, answer.receive());
    expect(waiting(run)).toEqual(["orders id:1 detail changed"]);
  });

  test("a payment that its own read overtook is read again, whatever a document says", ({ mirror, run }) => {
    const receipt = { id: 5, documentType: "order", documentId: 1, amount: 1 };
    const work = detailWork(run, "orders", 1);
    const document = send(mirror);
    put(mirror, "receipts", { ...receipt, amount: 2 }, { source: "detail" });
    detail(run, "orders", { ...order(1, "A"), receipts: [receipt] }, work, document.receive());
    expect(row(mirror, "receipts", 5)?.["amount"]).toBe(2);
    expect(waiting(run)).toEqual(["receipts id:5 detail overlapped"]);
  });

  test("a payment on which reads overlapped may be gone when its document lacks it", ({ mirror, run }) => {
    const receipt = { id: 5, documentType: "order", documentId: 1, amount: 1 };
    const work = detailWork(run, "orders", 1);
    const document = send(mirror);
    put(mirror, "receipts", receipt, { source: "detail" });
    detail(run, "orders", order(1, "A"), work, document.receive());
    expect(waiting(run)).toEqual(["receipts id:5 detail overlapped"]);
    detail(run, "orders", order(1, "A"), detailWork(run, "orders", 1));
    expect(row(mirror, "receipts", 5)?.["_deleted_at"]).not.toBeNull();
    expect(waiting(run)).toEqual(["receipts id:5 confirm overlapped"]);
  });
});
