import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Mirror } from "../../src/state/mirror.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { listed, order, person } from "../support/mirror/shop-records.ts";
import {
  allChanges,
  preview,
  put,
  putAs,
  stampOf,
  remove,
  row,
  rows,
  startMs,
  written,
} from "../support/mirror/store.ts";

const lines = (mirror: Mirror, id: number) =>
  rows(mirror, "SELECT position, id, title FROM order_lines WHERE order_id = ? ORDER BY position", id);

function coloured(label: string) {
  return { ...order(1), colour: { id: 3, label } };
}

describe("a record's row", () => {
  test("carries when it was last written, and a tombstone keeps the row", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, "A"));
    expect(row(mirror, "people", 1)).toMatchObject({
      _synced_at: "2026-03-01T00:00:00.000Z",
      _deleted_at: null,
    });
    remove(mirror, "people", 1, stampOf(mirror, { cause: "confirm", receivedAtMs: startMs + 1_000 }));
    expect(row(mirror, "people", 1)).toMatchObject({ name: "A", _deleted_at: "2026-03-01T00:00:01.000Z" });
    expect(put(mirror, "people", person(1, "A"))).toBe("inserted");
    expect(row(mirror, "people", 1)?.["_deleted_at"]).toBeNull();
  });

  test("ids from 0 to 2^63-1 find their row again", async () => {
    const mirror = await openShop();
    const ids = [0, 9_007_199_254_740_993n, 9_007_199_254_740_994n, 9_223_372_036_854_775_807n];
    for (const id of ids) {
      const text = `{"id":${id},"label":"x"}`;
      expect(putAs(mirror, "colours", id, text)).toBe("inserted");
      expect(putAs(mirror, "colours", id, text)).toBe("unchanged");
      expect(mirror.records.isLive("colours", id)).toBe(true);
    }
    expect(mirror.records.liveIds("colours")).toEqual(ids);
  });

  test("text comes back as it was, with zero bytes and broken halves of characters made whole", async () => {
    const mirror = await openShop();
    const name = 'a\u0000b "ž" \u{1f642} \ufffe';
    put(mirror, "people", person(1, name));
    expect(row(mirror, "people", 1)?.["name"]).toBe(name);
    put(mirror, "orders", order(1, { number: "\ud83d" }), { source: "detail" });
    expect(preview(mirror, "orders", listed(1, { number: "\ud83d" }))).toBeNull();
  });
});

describe("child rows", () => {
  test("are replaced as a set, in the record's order", async () => {
    const mirror = await openShop();
    const many = Array.from({ length: 19 }, (_, i) => ({ id: 100 - i, title: `line ${i}` }));
    put(mirror, "orders", order(1, { lines: many }), { source: "detail" });
    put(mirror, "orders", order(2, { lines: [{ id: 7, title: "other" }] }), { source: "detail" });
    expect(lines(mirror, 1).map(({ id, position }) => [position, id])).toEqual(
      many.map(({ id }, i) => [i, id]),
    );
    put(mirror, "orders", order(1, { lines: [{ id: 3, title: "only" }] }), { source: "detail" });
    expect(lines(mirror, 1)).toEqual([{ position: 0, id: 3, title: "only" }]);
    expect(lines(mirror, 2)).toHaveLength(1);
  });

  test("I11 go when the record's list becomes empty, null or absent", async () => {
    const mirror = await openShop();
    const full = order(1, { lines: [{ id: 3, title: "x" }] });
    for (const emptied of [
      order(1),
      order(1, { lines: null }),
      { id: 1, number: "A", total: 1, receipts: [] },
    ]) {
      put(mirror, "orders", full, { source: "detail" });
      expect(lines(mirror, 1)).toHaveLength(1);
      put(mirror, "orders", emptied, { source: "detail" });
      expect(lines(mirror, 1)).toEqual([]);
    }
  });

  test("may lack an id or share one: their place in the list is their key", async () => {
    const mirror = await openShop();
    const three = [{ title: "a" }, { id: 5, title: "b" }, { id: 5, title: "c" }];
    put(mirror, "orders", order(1, { lines: three }), { source: "detail" });
    expect(lines(mirror, 1).map(({ position, id }) => [position, id])).toEqual([
      [0, null],
      [1, 5],
      [2, 5],
    ]);
  });

  test("go with their record and come back with it", async () => {
    const mirror = await openShop();
    const record = order(1, { lines: [{ id: 3, title: "x" }] });
    put(mirror, "orders", record, { source: "detail" });
    remove(mirror, "orders", 1);
    expect(lines(mirror, 1)).toEqual([]);
    put(mirror, "orders", record, { source: "detail" });
    expect(lines(mirror, 1)).toHaveLength(1);
  });
});

describe("a preview against the detail last applied", () => {
  test("of an unknown or deleted record is news", async () => {
    const mirror = await openShop();
    expect(preview(mirror, "orders", listed(1))?.reason).toBe("new");
    put(mirror, "orders", order(1), { source: "detail" });
    remove(mirror, "orders", 1);
    expect(preview(mirror, "orders", listed(1))?.reason).toBe("new");
  });

  test("list A, detail B, back to A is a change, although both previews are equal", async () => {
    const mirror = await openShop();
    const a = preview(mirror, "orders", listed(1))?.listed;
    put(mirror, "orders", order(1, { number: "B" }), { source: "detail", listed: a });
    expect(preview(mirror, "orders", listed(1))?.reason).toBe("changed");
  });

  test("a first run primes it: the same list again reads nothing and writes nothing", async () => {
    const mirror = await openShop();
    const first = preview(mirror, "orders", listed(1))?.listed;
    put(mirror, "orders", order(1), { source: "detail", listed: first });
    const before = written(mirror);
    expect(preview(mirror, "orders", listed(1))).toBeNull();
    expect(written(mirror)).toBe(before);
  });

  test("without priming, an equal preview is remembered once by its bytes", async () => {
    const mirror = await openShop();
    put(mirror, "orders", order(1), { source: "detail" });
    const before = written(mirror);
    expect(preview(mirror, "orders", listed(1))).toBeNull();
    expect(written(mirror)).toBe(before + 1);
    expect(preview(mirror, "orders", listed(1))).toBeNull();
    expect(preview(mirror, "orders", '{"total":1.0,"number":"A","id":1}')).toBeNull();
    expect(written(mirror)).toBe(before + 2);
  });

  test("what only details show does not matter, what both show does, unknown fields of a preview do not", async () => {
    const mirror = await openShop();
    put(mirror, "orders", order(1, { remark: "mine" }), { source: "detail" });
    expect(preview(mirror, "orders", listed(1, { label: "shown in lists only" }))).toBeNull();
    expect(preview(mirror, "orders", listed(1, { total: 1.01 }))?.reason).toBe("changed");
    expect(preview(mirror, "orders", { id: 1, number: "A" })).toBeNull();
  });

  test("a detail that changed nothing covers the preview that asked for it", async () => {
    const mirror = await openShop();
    put(mirror, "orders", order(1), { source: "detail" });
    const again = preview(mirror, "orders", listed(1, { total: 2 }))?.listed;
    put(mirror, "orders", order(1), { source: "detail", listed: again });
    expect(preview(mirror, "orders", listed(1, { total: 2 }))?.reason).toBe("changed");
  });
});

describe("lists of full records beside details", () => {
  test("the same record written otherwise by another route is unchanged, and known by its bytes from then on", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, { name: "A", score: 1.5 }), { source: "detail" });
    const text = '{"id":1,"name":"A","score":1.50,"email":null}';
    expect(putAs(mirror, "people", 1, text)).toBe("unchanged");
    const before = written(mirror);
    expect(putAs(mirror, "people", 1, text)).toBe("unchanged");
    expect(written(mirror)).toBe(before);
    expect(allChanges(mirror)).toHaveLength(1);
  });

  test("a nested label that no column shows is an update: the JSON is the service's, too", async () => {
    const mirror = await openShop();
    put(mirror, "orders", coloured("red"), { source: "detail" });
    expect(put(mirror, "orders", coloured("rot"))).toBe("updated");
    expect(put(mirror, "orders", coloured("rot"))).toBe("unchanged");
    expect(rows(mirror, "SELECT json FROM _raw WHERE resource = 'orders'")).toEqual([
      { json: JSON.stringify(coloured("rot")) },
    ]);
  });

  test("a list that lacks what the detail had is an update: lists of full records are the truth too", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, { name: "A", score: 1 }), { source: "detail" });
    expect(put(mirror, "people", person(1, "A"))).toBe("updated");
    expect(row(mirror, "people", 1)?.["score"]).toBeNull();
  });
});

describe("I12: quarantine", () => {
  const odd = person(1, { name: "A", score: "many" });

  // Fault: data | a record that cannot become a row | a value of the wrong kind | kept in quarantine with reason and bytes; the row stays as it was (I12)
  test("keeps a record that cannot be a row, with its reason and bytes, and the row as it was", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, "good"));
    expect(put(mirror, "people", odd)).toBe("quarantined");
    expect(mirror.quarantine.all()).toEqual([
      {
        resource: "people",
        recordId: 1,
        reason: 'score is text ("many"), not decimal',
        at: "2026-03-01T00:00:00.000Z",
      },
    ]);
    expect(rows(mirror, "SELECT json FROM _quarantine")).toEqual([{ json: JSON.stringify(odd) }]);
    expect(row(mirror, "people", 1)?.["name"]).toBe("good");
    expect(allChanges(mirror)).toHaveLength(1);
  });

  test("the same again writes nothing", async () => {
    const mirror = await openShop();
    put(mirror, "people", odd);
    const before = written(mirror);
    put(mirror, "people", odd, { stamp: stampOf(mirror, { receivedAtMs: startMs + 9_999 }) });
    expect(written(mirror)).toBe(before);
  });

  test.each(["changed", "as it was before"])("releases a record that came back whole, %s", async (how) => {
    const path = join(tempFolder(), "shop.db");
    const first = await openShop({ path });
    put(first, "people", person(1, "good"));
    put(first, "people", odd);
    first.close();
    const mirror = await openShop({ path });
    put(mirror, "people", person(1, how === "changed" ? "better" : "good"));
    expect(mirror.quarantine.all()).toEqual([]);
  });

  test("releases a record that the service no longer has", async () => {
    const mirror = await openShop();
    put(mirror, "people", odd);
    remove(mirror, "people", 1);
    expect(mirror.quarantine.all()).toEqual([]);
  });

  test("keeps records without an id by their bytes, and ids beyond 2^53 exactly", async () => {
    const mirror = await openShop();
    const at = stampOf(mirror);
    mirror.apply(() => {
      for (const json of ['{"a":1}', '{"a":2}', '{"a":1}'])
        mirror.quarantine.add(at, { resource: "people", id: null, reason: "no id", json });
      mirror.quarantine.add(at, {
        resource: "people",
        id: 9_007_199_254_740_993n,
        reason: "odd",
        json: "{}",
      });
    });
    expect(mirror.quarantine.all().map(({ recordId }) => recordId)).toEqual([
      9_007_199_254_740_993n,
      null,
      null,
    ]);
  });
});

test("required fields that a record lacks are reported, and the record is kept", async () => {
  const missing: string[] = [];
  const mirror = await openShop({
    notices: { onMissing: (resource, paths) => missing.push(`${resource} ${paths.join()}`) },
  });
  expect(put(mirror, "people", { id: 1 })).toBe("inserted");
  expect(missing).toEqual(["people name"]);
});

test("I7: any answer applied twice is applied once", async () => {
  const mirror = await openShop();
  const at = stampOf(mirror);
  expect(put(mirror, "people", person(1, "A"), { stamp: at })).toBe("inserted");
  const before = written(mirror);
  expect(put(mirror, "people", person(1, "A"), { stamp: at })).toBe("unchanged");
  expect(written(mirror)).toBe(before);
});
