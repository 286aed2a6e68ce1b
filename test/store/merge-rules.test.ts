import { describe, expect } from "vitest";
import { declaration as fintoro } from "../../connectors/fintoro/declaration.ts";
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
import { put, putPreview, rows, send, stampOf, startMs } from "../support/mirror/store.ts";
import { isoTime } from "../../src/base/clock.ts";
import {
  differencesOf,
  idsHeld,
  isAsReceived,
  readEachHeld,
  readHeld,
  rowsOf,
  type HeldRecord,
} from "../../src/store/apply/held-record.ts";

const plan = planTable(resourceOf("orders"));
const decoded = (record: JsonObject) => ({ record, row: toRow(plan, record) });
const sha = "01".repeat(20);
const stamps = { received_seq: 1, read_at: 0, last_change: 1 };
const fence: Fence = { ...stamps, sha, listed_sha: null, source: "detail", gone: 0 };
const other = { ...fence, sha: "02".repeat(20) };

test.each([
  ["the same bytes of the same source", fence, "detail", false, "same"],
  ["the same bytes of the other source, overlapping", fence, "list", true, "same"],
  ["other bytes that overlap", other, "detail", true, "stale"],
  ["other bytes of the other source", other, "list", false, "compare"],
  ["other bytes of the same source", other, "detail", false, "write"],
  ["a list's bytes that are covered", { ...fence, sha: null, listed_sha: sha }, "list", false, "same"],
  ["a detail's bytes that a list had", { ...fence, sha: null, listed_sha: sha }, "detail", false, "write"],
  ["bytes after JSON that cannot be used", { ...fence, sha: null }, "list", false, "write"],
  ["the same bytes for a provisional row", { ...fence, source: "preview" }, "detail", false, "write"],
  ["the same bytes for a deleted record", { ...fence, gone: 1 }, "detail", false, "write"],
  ["a record that is unknown", undefined, "list", false, "write"],
  ["a record that is unknown, overlapping", undefined, "list", true, "stale"],
] as const)("what bytes alone decide: %s", (_, held, source, isStale, expected) => {
  expect(judgeBytes(held, { sha, source, isStale })).toBe(expected);
});

const lined = order(1, { lines: [{ id: 1, title: "a" }] });
const named = { ...lined, remark: "x" };

test.each<[string, boolean, JsonObject, JsonObject?, Record<string, string>?]>([
  ["when all their values are equal", true, { ...lined }],
  ["and not when a value differs", false, { ...lined, number: "B" }],
  ["and not without its children", false, { ...lined, lines: [] }],
  ["and not when a child differs", false, { ...lined, lines: [{ id: 1, title: "b" }] }],
  ["and not when their cells differ, whatever the JSON says", false, lined, order(1)],
  ["where what one does not name is known from the answer", true, named, lined, { remark: "x" }],
])("two records say the same %s", (_case, isSame, record, cellsOf = record, overrides) => {
  const one = decoded(overrides ? named : lined);
  expect(saysTheSame(plan, one, { record, row: decoded(cellsOf).row }, overrides)).toBe(isSame);
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

  test.each(["DELETE FROM _raw_people", "UPDATE _raw_people SET json = '{'"])(
    "is known by its bytes also where the JSON cannot be used, and written in others: %s",
    async (wound) => {
      const mirror = await openHasty();
      put(mirror, "people", person(1), { source: "detail" });
      mirror.db.exec(wound);
      const listed = { sha: "00".repeat(20), key: "" };
      expect(put(mirror, "people", person(1), { source: "detail", listed })).toBe("unchanged");
      expect(put(mirror, "people", reordered)).toBe("updated");
    },
  );

  test("without an id and is no record holds no other answer back", ({ mirror }) => {
    const early = send(mirror);
    expect(putAsked(mirror, "[1]")).toBe("quarantined");
    expect(mirror.quarantine.all()).toMatchObject([{ reason: "the record is not an object" }]);
    expect(put(mirror, "orders", order(1), { source: "detail", stamp: early.receive() })).toBe("inserted");
    expect(mirror.quarantine.all()).toEqual([]);
  });

  test("into quarantine holds an older answer back", ({ mirror }) => {
    put(mirror, "people", person(1));
    const early = send(mirror);
    expect(put(mirror, "people", person(1, { name: { odd: true } }))).toBe("quarantined");
    const stamp = early.receive();
    expect(put(mirror, "people", person(1, { name: "older" }), { stamp })).toBe("stale");
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
    const mirror = await openHasty({ declaration: fintoro });
    const noticed = () => Object.values(mirror.notices.current).map((names) => [...names]);
    put(mirror, "currencies", { id: 1, symbol: "EUR", name: "Euro", mark: "€" });
    putPreview(mirror, "invoices", { id: 7, number: "1", note: "Vďaka", currency: { id: 1, shade: "blue" } });
    expect(noticed()).toEqual([[], [], []]);
    putPreview(mirror, "invoices", { id: 7, number: "1", reminders: 3, client: { name: "A", mood: "good" } });
    expect(noticed()).toEqual([[], [], ["invoices.reminders", "invoices.client.mood"]]);
  });
});

const lines = [
  { id: 1, title: "a", quantity: 1 },
  { id: 2, title: "b", quantity: 2.5 },
];
const paidOrder: JsonObject = order(1, { colourId: 7, paid: true, lines });
const times = { overrides: {}, nowMs: startMs + 1_000 };

async function heldOrder(wound?: string): Promise<HeldRecord> {
  const mirror = await openHasty();
  put(mirror, "orders", paidOrder, { source: "detail" });
  if (wound) mirror.db.exec(wound);
  return readHeld(mirror.table("orders").statements, 1);
}

const childless: JsonObject = { ...paidOrder, lines: [] };

describe("what differs between a record's rows and its JSON", () => {
  test.each<[string, string, string[], JsonObject?]>([
    ["no time of a detail", "UPDATE orders SET _detail_at = NULL", [`_detail_at null ${isoTime(startMs)}`]],
    ["a child that is gone", "DELETE FROM order_lines WHERE position = 0", ["order_lines[0] null {}"]],
    ["all children", "DELETE FROM order_lines", ["order_lines[0] null {}", "order_lines[1] null {}"]],
    ["nothing of a row that is not there", "DELETE FROM orders", []],
    ["children of none", "SELECT 1", ["order_lines[0] {} null", "order_lines[1] {} null"], childless],
    ["an integer of none", "SELECT 1", ["colour_id 7 null"], { ...paidOrder, colourId: null }],
  ])("is named with both values: %s", async (_case, wound, expected, record = paidOrder) => {
    const one = await heldOrder(wound);
    const found = differencesOf(plan, one, rowsOf(plan, one, toRow(plan, record), times));
    expect(found.map(({ field, mirror, raw }) => `${field} ${mirror} ${raw}`)).toEqual(expected);
  });

  test("is a whole number in a column of decimals that is stored as an integer", async () => {
    const one = await heldOrder();
    const derived = rowsOf(plan, one, toRow(plan, paidOrder), times);
    const totalAt = dataCells(plan, toRow(plan, paidOrder), undefined).indexOf(1);
    const cells = (one.cells ?? []).with(totalAt, 1n);
    expect(differencesOf(plan, { ...one, cells }, derived)).toMatchObject([{ field: "total", mirror: 1n }]);
  });
});

test("the rows of a record have their times from what is held, else from the last read, else from now", async () => {
  const row = toRow(plan, paidOrder);
  const absent = { fence: undefined, bytes: undefined, json: undefined, cells: undefined };
  const nothing: HeldRecord = { ...absent, deletedAt: null, detailAt: null, children: [] };
  const one = await heldOrder();
  const timesOf = (held: HeldRecord) => {
    const { deletedAt, detailAt, children } = rowsOf(plan, held, row, times);
    return `${deletedAt} ${detailAt} ${children[0]?.length}`;
  };
  const [read, then] = [startMs, startMs + 1_000].map(isoTime);
  expect([timesOf(one), timesOf({ ...one, detailAt: null })]).toEqual(Array(2).fill(`null ${read} 2`));
  expect(timesOf({ ...one, detailAt: "x" })).toBe("null x 2");
  expect(timesOf(nothing)).toBe(`null ${then} 2`);
  expect(timesOf({ ...nothing, deletedAt: "x" })).toBe(`x ${then} 0`);
});

test("the JSON is as it was received while its hash is; unknown where one of them is not there", async () => {
  const one = await heldOrder();
  expect(isAsReceived(one)).toBe(true);
  expect(isAsReceived({ ...one, bytes: Buffer.from(`${one.json} `) })).toBe(false);
  expect(isAsReceived({ ...one, bytes: undefined })).toBeNull();
  expect(isAsReceived({ ...one, fence: undefined })).toBeNull();
  const withHash = async (digits: string) =>
    isAsReceived(await heldOrder(`UPDATE _fence_orders SET sha = ${digits}`));
  expect([await withHash("x''"), await withHash("NULL")]).toEqual([false, null]);
});

test("all that is held of a resource is found in its order, also where a part is left", ({ mirror }) => {
  for (const id of [1, 2, 3, 4, 5]) put(mirror, "orders", { ...paidOrder, id }, { source: "detail" });
  mirror.db.exec(`DELETE FROM orders WHERE id IN (1, 2, 4); DELETE FROM _raw_orders WHERE id IN (2, 3);
    DELETE FROM _fence_orders WHERE id IN (1, 3, 4); DELETE FROM order_lines WHERE order_id IN (1, 2, 3)`);
  const some = idsHeld(mirror.db, plan, 0n, 3);
  expect(some).toEqual({ ids: [1, 2, 3], next: 4n });
  expect(idsHeld(mirror.db, plan, 4n, 2)).toEqual({ ids: [4, 5], next: null });
  expect(idsHeld(mirror.db, plan, 6n, 2)).toEqual({ ids: [], next: null });
  const many = Array.from({ length: 250 }, (_, id) => id);
  expect([...readEachHeld(mirror.table("orders"), many)].map(([id]) => id)).toEqual(many);
});
