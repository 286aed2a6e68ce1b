import { describe, expect, test } from "vitest";
import { removeRecord } from "../../src/sync/deletion/removal.ts";
import { openShop, resourceOf } from "../support/mirror.ts";
import { preview, put, row, send } from "../support/store.ts";
import { detail, detailWork, leased, page, sessionOf, waiting } from "../support/sync.ts";

const person = (id: number, name: string) => ({ id, name, email: null, score: null });
const order = (id: number, number: string) => ({
  id,
  number,
  total: 1,
  lines: [],
  receipts: [],
  remark: null,
});

describe("I3, I4: reads that overlap", () => {
  test("a detail that a list overtook is thrown away, and its row stays to be read again", async () => {
    const mirror = await openShop();
    const session = sessionOf(mirror, {}, ["people"]);
    put(mirror, "people", person(1, "old"));
    const list = send(mirror);
    const work = detailWork(session, "people", 1);
    const answer = send(mirror);
    await page(session, "people", [person(1, "between")], { at: list.receive() });
    detail(session, "people", person(1, "newest"), work, answer.receive());
    expect(row(mirror, "people", 1)?.["name"]).toBe("between");
    expect(waiting(session)).toEqual(["people id:1 detail new"]);
    detail(session, "people", person(1, "newest"), detailWork(session, "people", 1));
    expect(row(mirror, "people", 1)?.["name"]).toBe("newest");
    expect(waiting(session)).toEqual([]);
  });

  test("a listed record that a detail overtook is asked for on its own route", async () => {
    const mirror = await openShop();
    const session = sessionOf(mirror, {}, ["people"]);
    const work = detailWork(session, "people", 1);
    const answer = send(mirror);
    const list = send(mirror);
    detail(session, "people", person(1, "detail"), work, answer.receive());
    await page(session, "people", [person(1, "list")], { at: list.receive() });
    expect(waiting(session)).toEqual(["people id:1 detail overlapped"]);
  });

  test("a detail sent before a differing preview came is no answer to it", async () => {
    const mirror = await openShop();
    const session = sessionOf(mirror);
    put(mirror, "orders", order(1, "A"), { source: "detail" });
    const list = send(mirror);
    const work = detailWork(session, "orders", 1);
    const answer = send(mirror);
    await page(session, "orders", [{ id: 1, number: "B", total: 1 }], { at: list.receive() });
    detail(session, "orders", order(1, "A"), work, answer.receive());
    expect(waiting(session)).toEqual(["orders id:1 detail changed"]);
  });

  test("a 404 that overlapped with a list showing the record removes nothing and is asked again", async () => {
    const mirror = await openShop();
    const session = sessionOf(mirror);
    put(mirror, "people", person(1, "old"));
    const [list, gone] = [send(mirror), send(mirror)];
    await page(session, "people", [person(1, "still here")], { at: list.receive() });
    const settled = mirror.apply(() => removeRecord(session, resourceOf("people"), 1, gone.receive()));
    expect(settled).toBe(false);
    expect(row(mirror, "people", 1)?.["_deleted_at"]).toBeNull();
  });

  test("a payment that its own read overtook is asked for again, the document's set notwithstanding", async () => {
    const mirror = await openShop();
    const session = sessionOf(mirror);
    const receipt = { id: 5, documentType: "order", documentId: 1, amount: 1 };
    const work = detailWork(session, "orders", 1);
    const document = send(mirror);
    put(mirror, "receipts", { ...receipt, amount: 2 }, { source: "detail" });
    detail(session, "orders", { ...order(1, "A"), receipts: [receipt] }, work, document.receive());
    expect(row(mirror, "receipts", 5)?.["amount"]).toBe(2);
    expect(waiting(session)).toEqual(["receipts id:5 detail overlapped"]);
  });

  test("an event that arrives while its record is being read causes another read", async () => {
    const mirror = await openShop();
    const session = sessionOf(mirror);
    const work = detailWork(session, "people", 1);
    const answer = send(mirror);
    leased(session, { kind: "detail", resource: "people", target: "id:2", lane: "webhook", reason: "other" });
    session.queue.add({
      ...work,
      lane: "webhook",
      reason: "people.updated",
      dirtySeq: mirror.sequence.next(),
    });
    detail(session, "people", person(1, "before the event"), work, answer.receive());
    expect(waiting(session)).toContain("people id:1 detail people.updated");
  });
});

test("an odd preview is a reason to read the record, never the end of the run (I12)", async () => {
  const mirror = await openShop();
  const session = sessionOf(mirror);
  put(mirror, "orders", order(1, "A"), { source: "detail" });
  await page(session, "orders", [{ id: 1, number: { no: "text" }, total: 1 }]);
  expect(waiting(session)).toEqual(["orders id:1 detail changed"]);
  expect(preview(mirror, "orders", { id: 1, number: ["A"], total: 1 })?.reason).toBe("changed");
});
