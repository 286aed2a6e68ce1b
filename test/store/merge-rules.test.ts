import { describe, expect } from "vitest";
import { manifest as fintoro } from "../../connectors/fintoro/manifest.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import {
  assertOnlyIdMissing,
  dataCells,
  judgeBytes,
  saysTheSame,
  textOf,
  type Fence,
} from "../../src/store/apply/merge-rules.ts";
import type { JsonObject } from "../../src/json/literal.ts";
import { toRow } from "../../src/store/tables/row-decoder.ts";
import { planTable } from "../../src/store/tables/table-plan.ts";
import { openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { order, person } from "../support/mirror/shop-records.ts";
import { put, putPreview, rows, send, stampOf } from "../support/mirror/store.ts";

const plan = planTable(resourceOf("orders"));
const decoded = (record: JsonObject) => ({ record, row: toRow(plan, record) });
const sha = Buffer.alloc(20, 1);
const fence: Fence = {
  sha,
  listed_sha: null,
  source: "detail",
  received_seq: 1,
  read_at: 0,
  last_change: 1,
  gone: 0,
};

test.each([
  ["the same bytes of the same source", fence, "detail", false, "same"],
  ["the same bytes of the other source, overlapping", fence, "list", true, "same"],
  ["other bytes that overlap", { ...fence, sha: Buffer.alloc(20, 2) }, "detail", true, "stale"],
  ["other bytes of the other source", { ...fence, sha: Buffer.alloc(20, 2) }, "list", false, "compare"],
  ["other bytes of the same source", { ...fence, sha: Buffer.alloc(20, 2) }, "detail", false, "write"],
  [
    "a list's bytes that are known to be covered",
    { ...fence, sha: null, listed_sha: sha },
    "list",
    false,
    "same",
  ],
  [
    "a detail's bytes that only a list had",
    { ...fence, sha: null, listed_sha: sha },
    "detail",
    false,
    "write",
  ],
  ["bytes after JSON that cannot be used", { ...fence, sha: null }, "list", false, "write"],
  ["the same bytes for a provisional row", { ...fence, source: "preview" }, "detail", false, "write"],
  ["the same bytes for a deleted record", { ...fence, gone: 1 }, "detail", false, "write"],
  ["a record that is unknown", undefined, "list", false, "write"],
  ["a record that is unknown, overlapping", undefined, "list", true, "stale"],
] as const)("what bytes alone decide: %s", (_, held, source, isStale, expected) => {
  expect(judgeBytes(held, { sha, source, isStale })).toBe(expected);
});

describe("two records say the same", () => {
  const one = order(1, { lines: [{ id: 1, title: "a" }] });

  test("when all their values are equal, of the record and of its children", () => {
    expect(saysTheSame(plan, decoded(one), decoded({ ...one }), undefined)).toBe(true);
    for (const more of [{ number: "B" }, { lines: [] }, { lines: [{ id: 1, title: "b" }] }])
      expect(saysTheSame(plan, decoded(one), decoded({ ...one, ...more }), undefined)).toBe(false);
  });

  test("and not when their cells differ, whatever the JSON says", () => {
    const other = { ...decoded(one), row: decoded(order(1)).row };
    expect(saysTheSame(plan, decoded(one), other, undefined)).toBe(false);
  });

  test("where what one does not name is known from the answer", () => {
    const named = { ...one, remark: "x" };
    const overrides = { remark: "x" };
    expect(saysTheSame(plan, decoded(named), { ...decoded(named), row: decoded(one).row }, overrides)).toBe(
      true,
    );
  });
});

test("values as text tell integers of any size from numbers and texts", () => {
  expect(textOf([5n, 5, "5", null])).toBe('["5n",5,"5",null]');
  expect(textOf([9_007_199_254_740_993n])).not.toBe(textOf([9_007_199_254_740_992n]));
});

test("an override fills what a record does not name, and only if it is the answer's own", () => {
  const { row: cells } = decoded(order(1));
  expect(dataCells(plan, cells, { remark: "x", number: "y" })).toContain("x");
  expect(dataCells(plan, cells, { number: "y" })).not.toContain("y");
  const inherited = Object.create({ remark: "x" }) as Record<string, string>;
  expect(dataCells(plan, cells, inherited)).not.toContain("x");
  const withoutId = { ...plan, columns: plan.columns.filter(({ name }) => name !== "id") };
  expect(dataCells(withoutId, { ...cells, cells: cells.cells.slice(1) }, undefined)).toHaveLength(
    withoutId.columns.length,
  );
});

const lacking = (...missing: string[]) => assertOnlyIdMissing({ ...decoded(order(1)).row, missing });

test("an answer without an id is the record that was asked for when it lacks nothing else", () => {
  expect(() => lacking()).not.toThrow();
  expect(() => lacking("id")).not.toThrow();
  expect(() => lacking("number")).toThrow("lacks number");
  expect(() => lacking("id", "a", "b", "c", "d", "e")).toThrow(/lacks a, b, c(?!, d)/);
});

const reordered = { name: "n1", id: 1, email: null, score: null };

/** Applies bytes as the record that was asked for by its id. */
function putAsked(mirror: Mirror, text: string) {
  const incoming = { stamp: stampOf(mirror), id: 1, slice: Buffer.from(text), source: "detail" } as const;
  return mirror.apply(() => mirror.table("orders").put({ ...incoming, withoutId: true }));
}

describe("a record that comes", () => {
  test("from its own route in other bytes than the list's leaves what is known of the list", ({ mirror }) => {
    put(mirror, "people", person(1));
    expect(put(mirror, "people", reordered, { source: "detail" })).toBe("unchanged");
    expect(rows(mirror, "SELECT listed_sha FROM _fence_people")).toEqual([{ listed_sha: null }]);
  });

  test("without an id is taken where it lacks nothing else, else quarantined", ({ mirror }) => {
    const { id: _id, ...whole } = order(1, { lines: [], receipts: [] });
    expect(putAsked(mirror, '{"message":"odd"}')).toBe("quarantined");
    expect(putAsked(mirror, "[1]")).toBe("quarantined");
    expect(mirror.quarantine.all().map(({ reason }) => reason)).toEqual(["the record is not an object"]);
    expect(putAsked(mirror, JSON.stringify(whole))).toBe("inserted");
  });

  test("without an id and is no record holds no other answer back", ({ mirror }) => {
    const early = send(mirror);
    expect(putAsked(mirror, "[1]")).toBe("quarantined");
    expect(put(mirror, "orders", order(1), { source: "detail", stamp: early.receive() })).toBe("inserted");
    expect(mirror.quarantine.all()).toEqual([]);
  });

  test("stays in quarantine when only an older answer says what the mirror holds", ({ mirror }) => {
    put(mirror, "people", person(1));
    const early = send(mirror);
    put(mirror, "people", person(1, { name: "later" }));
    put(mirror, "people", person(1, { name: { odd: true } }));
    const stamp = early.receive();
    expect(put(mirror, "people", person(1, { name: "later" }), { stamp })).toBe("unchanged");
    expect(put(mirror, "people", person(1, { name: "older" }), { stamp })).toBe("stale");
    expect(mirror.quarantine.all()).toHaveLength(1);
    put(mirror, "people", person(1, { name: "later" }));
    expect(mirror.quarantine.all()).toEqual([]);
  });

  test("confirms two records while another read is under way: both hold it back", ({ mirror }) => {
    for (const id of [1, 2]) put(mirror, "people", person(id));
    const early = send(mirror);
    for (const id of [1, 2]) put(mirror, "people", person(id));
    const stamp = early.receive();
    for (const id of [1, 2]) expect(put(mirror, "people", person(id, "old"), { stamp })).toBe("stale");
  });

  test("tells nothing of fields where none is missing; of a preview those that have no column (I12)", async () => {
    const mirror = await openHasty({ manifest: fintoro });
    const noticed = () => Object.values(mirror.notices.current).map((names) => [...names]);
    put(mirror, "currencies", { id: 1, symbol: "EUR", name: "Euro", mark: "€" });
    putPreview(mirror, "invoices", {
      id: 7,
      number: "1",
      note: "Ďakujeme",
      currency: { id: 1, shade: "blue" },
    });
    expect(noticed()).toEqual([[], [], []]);
    putPreview(mirror, "invoices", { id: 7, number: "1", reminders: 3, client: { name: "A", mood: "good" } });
    expect(noticed()).toEqual([[], [], ["invoices.reminders", "invoices.client.mood"]]);
  });
});
