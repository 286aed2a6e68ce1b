import { describe, expect, vi } from "vitest";
import { isoTime } from "../../src/base/clock.ts";
import type { RecordId } from "../../src/base/ids.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { openShop, openAgain } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { listed, order, person } from "../support/mirror/shop-records.ts";
import {
  allChanges,
  put,
  putAs,
  putPreview,
  remove,
  row,
  rows,
  stampOf,
  startMs,
  texts,
  written,
} from "../support/mirror/store.ts";

/** `0 3 x`: place, id and title. */
const lines = (mirror: Mirror, id: number) =>
  texts(mirror, "SELECT position, id, title FROM order_lines WHERE order_id = ? ORDER BY position", id);

const putColour = (mirror: Mirror, id: RecordId) => putAs(mirror, "colours", id, `{"id":${id},"label":"x"}`);

const coloured = (label: string) => order(1, { colour: { id: 3, label } });

describe("a record's row", () => {
  test("carries when it was last written, and a tombstone keeps the row", ({ mirror }) => {
    put(mirror, "people", person(1, "A"));
    const syncedAt = "2026-03-01T00:00:00.000Z";
    expect(row(mirror, "people", 1)).toMatchObject({ _synced_at: syncedAt, _deleted_at: null });
    remove(mirror, "people", 1, stampOf(mirror, { cause: "confirm", receivedAtMs: startMs + 1_000 }));
    expect(row(mirror, "people", 1)).toMatchObject({ name: "A", _deleted_at: "2026-03-01T00:00:01.000Z" });
    expect(put(mirror, "people", person(1, "A"))).toBe("inserted");
    expect(row(mirror, "people", 1)?.["_deleted_at"]).toBeNull();
  });

  test("ids from 0 to 2^63-1 find their row again", ({ mirror }) => {
    const ids = [0, 9_007_199_254_740_993n, 9_007_199_254_740_994n, 9_223_372_036_854_775_807n];
    for (const id of ids) {
      expect([putColour(mirror, id), putColour(mirror, id)]).toEqual(["inserted", "unchanged"]);
      expect(mirror.records.isLive("colours", id)).toBe(true);
    }
    expect(mirror.records.liveIds("colours")).toEqual(ids);
  });

  test("is found as the one before left it where an answer shows it twice", ({ mirror }) => {
    const ids = [0, 9_007_199_254_740_994n, 0, 9_007_199_254_740_994n, 9_007_199_254_740_993n];
    let results: string[] = [];
    const putEach = () => void (results = ids.map((id) => putColour(mirror, id)));
    const putAll = () => mirror.apply(() => mirror.table("colours").withFencesOf(ids, putEach));
    putAll();
    expect(results).toEqual(["inserted", "inserted", "unchanged", "unchanged", "inserted"]);
    putAll();
    expect(results).toEqual(ids.map(() => "unchanged"));
  });

  test("is known to an answer also where the one before failed while it looked for rows", ({ mirror }) => {
    const table = mirror.table("colours");
    putColour(mirror, 1);
    const fails = vi.spyOn(table.statements, "of").mockImplementation(() => {
      throw new Error("the disk failed");
    });
    expect(() => mirror.apply(() => table.withFencesOf([1], () => undefined))).toThrow("the disk failed");
    fails.mockRestore();
    expect(putColour(mirror, 1)).toBe("unchanged");
  });

  test("text comes back as it was; broken halves of characters are made whole", ({ mirror }) => {
    const name = 'a\u0000b "ž" \u{1f642} \ufffe';
    put(mirror, "people", person(1, name));
    expect(row(mirror, "people", 1)?.["name"]).toBe(name);
    put(mirror, "orders", order(1, { number: "\ud83d" }), { source: "detail" });
    expect(putPreview(mirror, "orders", listed(1, { number: "\ud83d" })).read).toBeNull();
  });
});

describe("child rows", () => {
  test("are replaced as a set, in the record's order", ({ mirror }) => {
    const many = Array.from({ length: 19 }, (_, i) => ({ id: 100 - i, title: `line ${i}` }));
    put(mirror, "orders", order(1, { lines: many }), { source: "detail" });
    put(mirror, "orders", order(2, { lines: [{ id: 7, title: "other" }] }), { source: "detail" });
    expect(lines(mirror, 1)).toEqual(many.map(({ id, title }, i) => `${i} ${id} ${title}`));
    put(mirror, "orders", order(1, { lines: [{ id: 3, title: "only" }] }), { source: "detail" });
    expect([lines(mirror, 1), lines(mirror, 2)]).toEqual([["0 3 only"], ["0 7 other"]]);
  });

  test("I11 go when the record's list becomes empty, null or absent", ({ mirror }) => {
    const full = order(1, { lines: [{ id: 3, title: "x" }] });
    for (const emptied of [order(1), order(1, { lines: null }), listed(1, { receipts: [] })]) {
      put(mirror, "orders", full, { source: "detail" });
      expect(lines(mirror, 1)).toHaveLength(1);
      put(mirror, "orders", emptied, { source: "detail" });
      expect(lines(mirror, 1)).toEqual([]);
    }
  });

  test("may lack an id or share one: their place in the list is their key", ({ mirror }) => {
    put(mirror, "orders", order(1, { lines: [{}, { id: 5 }, { id: 5 }] }), { source: "detail" });
    expect(lines(mirror, 1)).toEqual(["0 null null", "1 5 null", "2 5 null"]);
  });
});

describe("a preview against the detail last applied", () => {
  test("list A, detail B, back to A is a change, although both previews are equal", ({ mirror }) => {
    const a = putPreview(mirror, "orders", listed(1)).read?.listed;
    put(mirror, "orders", order(1, { number: "B" }), { source: "detail", listed: a });
    expect(putPreview(mirror, "orders", listed(1)).read?.reason).toBe("changed");
  });

  test("only what both show matters: not a detail's fields, not a preview's own", ({ mirror }) => {
    put(mirror, "orders", order(1, { remark: "mine" }), { source: "detail" });
    const before = written(mirror);
    const other = listed(1, { label: "shown in lists only" });
    for (const shown of [other, other]) expect(putPreview(mirror, "orders", shown).read).toBeNull();
    // An equal preview is remembered once by its bytes.
    expect(written(mirror)).toBe(before + 1);
    expect(putPreview(mirror, "orders", '{"total":1.0,"number":"A","id":1}').read).toBeNull();
    expect(putPreview(mirror, "orders", { id: 1, number: "A" }).read).toBeNull();
    expect(putPreview(mirror, "orders", listed(1, { total: 1.01 })).read?.reason).toBe("changed");
  });
});

describe("lists of full records beside details", () => {
  test("the same record in other bytes is unchanged, and known by them from then on", ({ mirror }) => {
    put(mirror, "people", person(1, { name: "A", score: 1.5 }), { source: "detail" });
    const text = '{"id":1,"name":"A","score":1.50,"email":null}';
    const before = written(mirror);
    for (let times = 0; times < 2; times++) expect(putAs(mirror, "people", 1, text)).toBe("unchanged");
    expect(written(mirror)).toBe(before + 1);
    expect(allChanges(mirror)).toHaveLength(1);
  });

  test("a nested label that no column shows is an update: the JSON is the service's, too", ({ mirror }) => {
    put(mirror, "orders", coloured("red"), { source: "detail" });
    expect(put(mirror, "orders", coloured("rot"))).toBe("updated");
    expect(put(mirror, "orders", coloured("rot"))).toBe("unchanged");
    expect(texts(mirror, "SELECT json FROM _raw")).toEqual([JSON.stringify(coloured("rot"))]);
  });

  test("a list that lacks what the detail had is an update: it is the truth too", ({ mirror }) => {
    put(mirror, "people", person(1, { name: "A", score: 1 }), { source: "detail" });
    expect(put(mirror, "people", person(1, "A"))).toBe("updated");
    expect(row(mirror, "people", 1)?.["score"]).toBeNull();
  });
});

test("I12: a record that lacks a required field is kept, and the field is reported", ({ mirror }) => {
  expect(put(mirror, "people", { id: 1 })).toBe("inserted");
  putPreview(mirror, "orders", { id: 1 });
  expect([...mirror.notices.current.missingFields]).toEqual(["people.name"]);
});

describe("I12: quarantine", () => {
  const odd = person(1, { name: "A", score: "many" });

  // Fault: data | a record that cannot become a row | a value of the wrong kind | kept in quarantine with reason and bytes; the row stays as it was (I12)
  test("keeps a record that cannot be a row as it came last, and the row as it was", ({ mirror }) => {
    put(mirror, "people", person(1, "good"));
    for (const one of [person(1, { score: [] }), odd, odd])
      expect(put(mirror, "people", one)).toBe("quarantined");
    const before = written(mirror);
    put(mirror, "people", odd, { stamp: stampOf(mirror, { receivedAtMs: startMs + 9_999 }) });
    expect(written(mirror)).toBe(before);
    const reason = 'score is text ("many"), not decimal';
    const kept = { resource: "people", recordId: 1, reason, at: isoTime(startMs) };
    expect(mirror.quarantine.all()).toEqual([kept]);
    expect(texts(mirror, "SELECT json FROM _quarantine")).toEqual([JSON.stringify(odd)]);
    expect(row(mirror, "people", 1)?.["name"]).toBe("good");
    expect(allChanges(mirror)).toHaveLength(1);
  });

  test("keeps the last bytes of the same reason, and no answer that is no JSON", ({ mirror }) => {
    for (const name of ["first", "second"]) put(mirror, "people", { ...odd, name });
    expect(() => putAs(mirror, "people", 1, '{"id":1,')).toThrow("not the JSON it should be");
    expect(rows(mirror, "SELECT json ->> 'name' AS name FROM _quarantine")).toEqual([{ name: "second" }]);
  });

  test("counts what is kept since a time to come, by a wrong clock, as old", ({ mirror }) => {
    put(mirror, "people", odd);
    const at = [-2, -1, 1, 2].map((hours) => isoTime(startMs + hours * 3_600_000));
    const found = [0, 1, 2].map((i) => mirror.quarantine.idsBefore("people", at[i], at[i + 1]));
    expect(found).toEqual([[1], [], [1]]);
  });

  test.each(["better", "good"])("releases a record that came back whole: %s", async (name) => {
    const first = await openShop();
    put(first, "people", person(1, "good"));
    put(first, "people", odd);
    const mirror = await openAgain(first);
    put(mirror, "people", person(1, name));
    expect(mirror.quarantine.all()).toEqual([]);
  });

  test("releases a record that the service no longer has", ({ mirror }) => {
    put(mirror, "people", odd);
    remove(mirror, "people", 1);
    expect(mirror.quarantine.all()).toEqual([]);
  });

  test("keeps records without an id by their bytes, and ids beyond 2^53 exactly", ({ mirror }) => {
    const huge = 9_007_199_254_740_993n;
    const add = (id: bigint | null, json: string) =>
      mirror.quarantine.add(stampOf(mirror), { resource: "people", id, reason: "odd", json });
    mirror.apply(() => {
      for (const json of ['{"a":1}', '{"a":2}', '{"a":1}']) add(null, json);
      add(huge, "{}");
    });
    expect(mirror.quarantine.all().map(({ recordId }) => recordId)).toEqual([huge, null, null]);
  });
});
