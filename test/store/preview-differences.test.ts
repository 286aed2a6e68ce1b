import { describe, expect } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { declarationOf, openHasty, resourceOf, resources, rollBack } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { listed, order } from "../support/mirror/shop-records.ts";
import { put, putPreview, remove, row, stampOf, texts, written } from "../support/mirror/store.ts";

const noted = (mirror: Mirror) => texts(mirror, "SELECT * FROM _preview_differences");

/** A detail, a list that contradicts its total, and the detail that follows from it. */
function contradict(mirror: Mirror, id: number, then: object = order(id), shown = 2) {
  put(mirror, "orders", order(id), { source: "detail" });
  const { read } = putPreview(mirror, "orders", listed(id, { total: shown }));
  put(mirror, "orders", then, { source: "detail", listed: read?.listed });
  return read;
}

/** What a list showed that is not known any more. */
const late = { sha: "00".repeat(20), key: "", differing: ["total"] };

describe("a column that previews show otherwise than details", () => {
  test("is compared no longer after four records, which is noticed once, and others are compared on", async () => {
    const noticed: string[] = [];
    const warn = (message: string) => void noticed.push(message.split(" ").at(-1) ?? "");
    const mirror = await openHasty({ log: { ...silentLog, warn } });
    for (const id of [1, 2, 3]) {
      expect(contradict(mirror, id)).toMatchObject({ reason: "changed", listed: { differing: ["total"] } });
      contradict(mirror, id);
    }
    expect([noticed, mirror.differences.all(), noted(mirror).length]).toEqual([[], [], 3]);
    contradict(mirror, 4);
    expect([noticed, mirror.differences.all()]).toEqual([["orders.total"], ["orders.total"]]);
    put(mirror, "orders", order(5), { source: "detail" });
    expect(putPreview(mirror, "orders", listed(5, { total: 2 })).read).toBeNull();
    const { read } = putPreview(mirror, "orders", listed(5, { total: 3, number: "B" }));
    expect(read?.listed.differing).toEqual(["number"]);
    put(mirror, "orders", order(5, { number: "B" }), { source: "detail", listed: read?.listed });
    const before = written(mirror);
    expect(putPreview(mirror, "orders", listed(5, { total: 3, number: "B" })).read).toBeNull();
    expect(written(mirror)).toBe(before);
    // A detail that was under way when the column was given up.
    put(mirror, "orders", order(5), { source: "detail", listed: late });
    expect([noticed.length, noted(mirror).length]).toEqual([1, 4]);
  });

  test("is given up for a resource in the transaction that finds it, and in no later one", ({ mirror }) => {
    const stopped: boolean[] = [];
    mirror.apply(() => {
      for (const id of [1, 2, 3, 4]) {
        mirror.differences.note("orders", "total", id);
        stopped.push(mirror.differences.hasStopped("orders"));
      }
      stopped.push(mirror.differences.hasStopped("people"));
    });
    mirror.apply(() => stopped.push(mirror.differences.hasStopped("orders")));
    expect(stopped).toEqual([false, false, false, true, false, false]);
    // Those of another column and of another resource do not count.
    mirror.apply(() => {
      for (const id of [1, 2]) mirror.differences.note("orders", "number", id);
      for (const id of [5, 6]) mirror.differences.note("people", "total", id);
    });
    expect(mirror.differences.all()).toEqual(["orders.total"]);
  });

  test("of a transaction that is rolled back is forgotten", ({ mirror }) => {
    rollBack(mirror, () => {
      for (const id of [1, 2, 3, 4]) mirror.differences.note("orders", "total", id);
      expect(mirror.differences.uncompared("orders").size).toBe(1);
    });
    mirror.apply(() => {
      expect(mirror.differences.uncompared("orders").size).toBe(0);
      expect(mirror.differences.note("orders", "total", 1)).toBe(false);
    });
  });

  test("is noted where the detail changes others, not where it says what was shown", ({ mirror }) => {
    contradict(mirror, 1, order(1, { remark: "new" }));
    contradict(mirror, 2, order(2, { total: 2 }));
    contradict(mirror, 3, order(3, { total: 3 }));
    expect(noted(mirror)).toEqual(["orders total 1"]);
  });

  test("is not noted for a record that is provisional or deleted, or by a list", ({ mirror }) => {
    const detail = { source: "detail", listed: late } as const;
    putPreview(mirror, "orders", listed(1));
    put(mirror, "orders", order(1), detail);
    put(mirror, "orders", order(2), { source: "detail" });
    remove(mirror, "orders", 2);
    put(mirror, "orders", order(2), detail);
    put(mirror, "orders", order(3), { source: "detail" });
    put(mirror, "orders", order(3), { source: "list", listed: late });
    put(mirror, "orders", order(3), { source: "detail", listed: { ...late, differing: [] } });
    expect(noted(mirror)).toEqual([]);
  });

  test("is forgotten for a record and a column when preview and row agree again", ({ mirror }) => {
    mirror.apply(() => {
      for (const id of [1, 2]) mirror.differences.note("orders", "total", id);
      mirror.differences.note("orders", "number", 1);
    });
    put(mirror, "orders", order(1), { source: "detail" });
    putPreview(mirror, "orders", listed(1, { number: "B" }));
    expect(noted(mirror)).toEqual(["orders number 1", "orders total 2"]);
  });

  test("is forgotten in memory, too: the same transaction may note it again", ({ mirror }) => {
    mirror.apply(() => {
      const { differences } = mirror;
      for (const id of [1, 2, 3]) differences.note("orders", "total", id);
      expect(differences.uncompared("orders").size).toBe(0);
      differences.forget("orders", 1, []);
      expect(differences.note("orders", "total", 4)).toBe(false);
      expect(differences.note("orders", "total", 1)).toBe(true);
      expect([...differences.uncompared("orders")]).toEqual(["total"]);
    });
  });
});

describe("a preview that a detail has answered", () => {
  test("is known by its bytes, also after two details: nothing is written for it", ({ mirror }) => {
    put(mirror, "orders", order(1), { source: "detail" });
    const changed = listed(1, { total: 2 });
    const answered = putPreview(mirror, "orders", changed).read?.listed;
    const detail = order(1, { total: 2 });
    put(mirror, "orders", detail, { source: "detail" });
    put(mirror, "orders", detail, { source: "detail", listed: answered });
    const before = written(mirror);
    expect(putPreview(mirror, "orders", changed).read).toBeNull();
    expect(written(mirror)).toBe(before);
  });

  test("is not known where the detail says something else", ({ mirror }) => {
    put(mirror, "orders", order(1), { source: "detail" });
    const changed = listed(1, { total: 2 });
    const answered = putPreview(mirror, "orders", changed).read?.listed;
    for (let i = 0; i < 2; i++) put(mirror, "orders", order(1), { source: "detail", listed: answered });
    expect(putPreview(mirror, "orders", changed).read).not.toBeNull();
  });

  test("with odd values leads to a read each time, for the record's detail says it better", ({ mirror }) => {
    put(mirror, "orders", order(1), { source: "detail" });
    for (let i = 0; i < 2; i++) {
      const { read } = putPreview(mirror, "orders", listed(1, { number: { odd: true } }));
      expect(read?.reason).toBe("changed");
      put(mirror, "orders", order(1), { source: "detail", listed: read?.listed });
    }
    expect(row(mirror, "orders", 1)).toMatchObject({ number: "A" });
  });

  test.each([
    ["a text and none", { number: "A" }, { number: null }],
    ["none and a text", { number: null }, { number: "A" }],
    ["none and a text that says so", { number: "null" }, { number: null }],
    ["a text that says none, and none", { number: null }, { number: "null" }],
    ["zero and none", { total: 0 }, { total: null }],
    ["a number and a text", { number: "1" }, { number: "1.0" }],
  ])("is no answer where values differ: %s", async (_, held, shown) => {
    const mirror = await openHasty();
    put(mirror, "orders", order(1, held), { source: "detail" });
    expect(putPreview(mirror, "orders", listed(1, { ...held, ...shown })).read?.reason).toBe("changed");
  });
});

test.each(["5", "9007199254740993", "true"])(
  "a preview that shows an integer as it is held, and what no detail has: %s",
  async (shown) => {
    const orders = resourceOf("orders");
    const field = { true: "paid" }[shown] ?? "colourId";
    const { [field]: own, remark: tag } = orders.fields;
    const previewFields = { ...orders.previewFields, [field]: own, tag } as typeof orders.fields;
    const declared = Object.values({ ...resources, orders: { ...orders, previewFields } });
    const mirror = await openHasty({ declaration: declarationOf(declared) });
    const text = (value: string, more = "") =>
      `{"id":1,"number":"A","total":1,"lines":[],"receipts":[],"${field}":${value}${more}}`;
    put(mirror, "orders", text(shown), { source: "detail" });
    expect(putPreview(mirror, "orders", text(shown, ',"tag":"x"')).read).toBeNull();
    expect(putPreview(mirror, "orders", text("0")).read?.listed.differing).toHaveLength(1);
  },
);

test("a preview that is no object makes no row", ({ mirror }) => {
  const shown = { stamp: stampOf(mirror), id: 1, slice: Buffer.from("[1]") };
  const result = mirror.apply(() => mirror.table("orders").putPreview(shown));
  expect(result).toMatchObject({ result: "unchanged", read: { reason: "new" } });
  expect(row(mirror, "orders", 1)).toBeUndefined();
});
