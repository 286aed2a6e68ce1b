import * as fc from "fast-check";
import { describe, expect } from "vitest";
import { test } from "../support/mirror/shop-test.ts";
import { listed, order } from "../support/mirror/shop-records.ts";
import {
  allChanges,
  liveRecords,
  put,
  putPreview,
  remove,
  replay,
  row,
  rows,
  send,
  stampOf,
  startMs,
  written,
} from "../support/mirror/store.ts";

const kinds = "SELECT id, kind FROM _raw WHERE resource = 'orders' ORDER BY id";

describe("a provisional row", () => {
  test("shows what the preview shows, has no children, and its JSON is the preview", ({ mirror }) => {
    const shown = listed(1, { label: "nobody knows" });
    expect(putPreview(mirror, "orders", shown)).toMatchObject({
      result: "inserted",
      read: { reason: "new" },
    });
    const own = { number: "A", total: 1, remark: null, _deleted_at: null, _detail_at: null };
    expect(row(mirror, "orders", 1)).toMatchObject(own);
    expect(rows(mirror, "SELECT id, kind, json FROM _raw")).toEqual([
      { id: 1, kind: "preview", json: JSON.stringify(shown) },
    ]);
    expect(row(mirror, "orders", 1)).not.toHaveProperty("label");
    expect(allChanges(mirror)).toMatchObject([{ op: "insert", cause: "sweep", before: null }]);
    expect(mirror.records.counts("orders")).toEqual({ live: 1, deleted: 0, provisional: 1 });
  });

  test("gets its detail as an update, also when every cell is equal", ({ mirror }) => {
    const first = putPreview(mirror, "orders", listed(1)).read?.listed;
    const stamp = stampOf(mirror, { cause: "hydrate", receivedAtMs: startMs + 1_000 });
    expect(put(mirror, "orders", order(1), { source: "detail", stamp, listed: first })).toBe("hydrated");
    expect(row(mirror, "orders", 1)?.["_detail_at"]).toBe("2026-03-01T00:00:01.000Z");
    expect(allChanges(mirror).map(({ op, cause }) => [op, cause])).toEqual([
      ["insert", "sweep"],
      ["update", "hydrate"],
    ]);
    expect(rows(mirror, kinds)).toEqual([{ id: 1, kind: "detail" }]);
    const before = written(mirror);
    expect(putPreview(mirror, "orders", listed(1))).toEqual({ result: "unchanged", read: null });
    expect(written(mirror)).toBe(before);
  });

  test("gets a detail of the very same bytes as an update, too", ({ mirror }) => {
    putPreview(mirror, "orders", listed(1));
    expect(put(mirror, "orders", listed(1), { source: "detail" })).toBe("hydrated");
    expect(row(mirror, "orders", 1)?.["_detail_at"]).not.toBeNull();
  });

  test("is asked for by each list that shows it, and written when it changed", ({ mirror }) => {
    putPreview(mirror, "orders", listed(1));
    const before = written(mirror);
    expect(putPreview(mirror, "orders", listed(1))).toMatchObject({
      result: "unchanged",
      read: { reason: "new" },
    });
    expect(written(mirror)).toBe(before);
    expect(putPreview(mirror, "orders", listed(1, { total: 2 }))).toMatchObject({
      result: "updated",
      read: { reason: "new" },
    });
    expect(row(mirror, "orders", 1)).toMatchObject({ total: 2, _detail_at: null });
    putPreview(mirror, "orders", { id: 1, number: "A" });
    expect(row(mirror, "orders", 1)?.["total"]).toBeNull();
  });

  test("I3: is not overwritten by a detail that was sent before its preview came", ({ mirror }) => {
    const detail = send(mirror);
    putPreview(mirror, "orders", listed(1, { total: 2 }));
    const stamp = detail.receive({ cause: "hydrate" });
    expect(put(mirror, "orders", order(1), { source: "detail", stamp })).toBe("stale");
    expect(row(mirror, "orders", 1)).toMatchObject({ total: 2, _detail_at: null });
  });

  test("is deleted like others, and a list that shows the record again inserts it again", ({ mirror }) => {
    putPreview(mirror, "orders", listed(1));
    expect(remove(mirror, "orders", 1)).toBe("removed");
    expect(row(mirror, "orders", 1)?.["_deleted_at"]).not.toBeNull();
    expect(mirror.records.counts("orders")).toEqual({ live: 0, deleted: 1, provisional: 0 });
    expect(putPreview(mirror, "orders", listed(1)).result).toBe("inserted");
    expect(row(mirror, "orders", 1)?.["_deleted_at"]).toBeNull();
    expect(allChanges(mirror).map(({ op }) => op)).toEqual(["insert", "delete", "insert"]);
  });

  test("a tombstone keeps when its detail was read, until a list shows the record", ({ mirror }) => {
    put(mirror, "orders", order(1, { lines: [{ id: 3, title: "x" }] }), { source: "detail" });
    remove(mirror, "orders", 1);
    expect(row(mirror, "orders", 1)?.["_detail_at"]).toBe("2026-03-01T00:00:00.000Z");
    putPreview(mirror, "orders", listed(1));
    expect(row(mirror, "orders", 1)).toMatchObject({ _detail_at: null, remark: null });
  });

  test("I12: an odd preview makes no row and leaves one as it is; the detail is read", ({ mirror }) => {
    const odd = listed(1, { number: { no: "text" } });
    expect(putPreview(mirror, "orders", odd)).toMatchObject({ result: "unchanged", read: { reason: "new" } });
    expect(row(mirror, "orders", 1)).toBeUndefined();
    putPreview(mirror, "orders", listed(1));
    expect(putPreview(mirror, "orders", odd)).toMatchObject({ result: "unchanged", read: { reason: "new" } });
    expect(row(mirror, "orders", 1)?.["number"]).toBe("A");
  });
});

type Step = readonly ["preview" | "detail" | "late" | "remove", id: number, total: number];

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.tuple(
    fc.constantFrom("preview", "preview", "detail", "late", "remove"),
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 1, max: 3 }),
  ),
  { maxLength: 25 },
);

test("I2, I3: in any order the log gives the live rows, and no preview replaces a detail", ({ mirror }) => {
  const property = fc.property(steps, (list) => {
    for (const [what, id, total] of list) {
      const early = send(mirror);
      if (what === "preview") putPreview(mirror, "orders", listed(id, { total }));
      if (what === "detail") put(mirror, "orders", order(id, { total }), { source: "detail" });
      if (what === "remove") remove(mirror, "orders", id);
      if (what === "late") {
        putPreview(mirror, "orders", listed(id, { total }));
        put(mirror, "orders", order(id), { source: "detail", stamp: early.receive() });
      }
      early.end();
      expect(replay(allChanges(mirror, null, 500))).toEqual(liveRecords(mirror, "orders"));
    }
    const lost = allChanges(mirror).filter(
      ({ op, before, after }) => op === "update" && before?.includes("lines") && !after?.includes("lines"),
    );
    expect(lost).toEqual([]);
    const mixed = `SELECT o.id FROM orders o JOIN _raw r ON r.resource = 'orders' AND r.id = o.id
      WHERE o._deleted_at IS NULL AND (o._detail_at IS NULL) <> (r.kind = 'preview')`;
    expect(rows(mirror, mixed)).toEqual([]);
  });
  fc.assert(property, { numRuns: 40 });
});

test("a provisional row has a new column, whether it came before or after", ({ mirror }) => {
  putPreview(mirror, "orders", listed(1, { mood: "kept by no preview" }));
  put(mirror, "orders", order(2, { mood: "good" }), { source: "detail" });
  expect(putPreview(mirror, "orders", listed(3)).result).toBe("inserted");
  for (const id of [1, 3]) expect(row(mirror, "orders", id)).toMatchObject({ mood: null, _detail_at: null });
  expect(row(mirror, "orders", 2)).toMatchObject({ mood: "good" });
});
