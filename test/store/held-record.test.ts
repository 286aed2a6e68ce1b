import { describe, expect } from "vitest";
import { isoTime } from "../../src/base/clock.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { differencesOf, idsHeld, isAsReceived, readHeld, rowsOf } from "../../src/store/apply/held-record.ts";
import type { HeldRecord } from "../../src/store/apply/held-record.ts";
import { dataCells } from "../../src/store/apply/merge-rules.ts";
import { toRow, type Cell } from "../../src/store/tables/row-decoder.ts";
import { planTable } from "../../src/store/tables/table-plan.ts";
import { openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { order } from "../support/mirror/shop-records.ts";
import { put, putPreview, remove, startMs } from "../support/mirror/store.ts";

const plan = planTable(resourceOf("orders"));
const lines = [
  { id: 1, title: "a", quantity: 1 },
  { id: 2, title: "b", quantity: 2.5 },
];
const record = order(1, { colourId: 7, paid: true, lines });
const times = { overrides: {}, nowMs: startMs + 1_000 };

function held(mirror: Mirror, id = 1): HeldRecord {
  return readHeld(mirror.table("orders").statements, id);
}

async function heldOrder(wound?: string): Promise<HeldRecord> {
  const mirror = await openHasty();
  put(mirror, "orders", record, { source: "detail" });
  if (wound) mirror.db.exec(wound);
  return held(mirror);
}

const shown = (cell: Cell) => (typeof cell === "bigint" ? `${cell}n` : String(cell));

/** What differs from the rows of `record`: field, mirror's value, JSON's value. */
async function found(wound: string, more: object = record) {
  const one = await heldOrder(wound);
  const derived = rowsOf(plan, one, toRow(plan, more as never), times);
  return differencesOf(plan, one, derived).map(
    ({ field, mirror, raw }) => `${field} ${shown(mirror)} ${shown(raw)}`,
  );
}

describe("what differs between a record's rows and its JSON", () => {
  test.each([
    ["nothing", "SELECT 1"],
    ["an integer", "UPDATE orders SET colour_id = 8", "colour_id 8n 7"],
    ["no time of a detail", "UPDATE orders SET _detail_at = NULL", `_detail_at null ${isoTime(startMs)}`],
    ["a child's cell", "UPDATE order_lines SET title = 'x' WHERE position = 1", "order_lines[1].title x b"],
    ["a child that is gone", "DELETE FROM order_lines WHERE position = 0", "order_lines[0] null {}"],
    ["all children", "DELETE FROM order_lines", "order_lines[0] null {}", "order_lines[1] null {}"],
    ["nothing of a row that is not there", "DELETE FROM orders"],
  ])("is named with both values: %s", async (_, wound, ...expected) => {
    expect(await found(wound)).toEqual(expected);
  });

  test("are child rows of a record that has none", async () => {
    const none = { ...record, lines: [] };
    expect(await found("SELECT 1", none)).toEqual(["order_lines[0] {} null", "order_lines[1] {} null"]);
  });

  test("is a whole number in a column of decimals that is stored as an integer", async () => {
    const one = await heldOrder();
    const derived = rowsOf(plan, one, toRow(plan, record), times);
    const totalAt = dataCells(plan, toRow(plan, record), undefined).indexOf(1);
    const cells = (one.cells ?? []).with(totalAt, 1n);
    expect(differencesOf(plan, { ...one, cells }, derived)).toMatchObject([{ field: "total", mirror: 1n }]);
  });
});

describe("the rows that follow from a record's JSON", () => {
  const row = toRow(plan, record);
  const absent = { fence: undefined, bytes: undefined, json: undefined, cells: undefined };
  const nothing: HeldRecord = { ...absent, deletedAt: null, detailAt: null, children: [] };

  test("have their times from what is held, else from the last read, else from now", ({ mirror }) => {
    put(mirror, "orders", record, { source: "detail" });
    const one = held(mirror);
    const then = isoTime(startMs + 1_000);
    expect(rowsOf(plan, one, row, times)).toMatchObject({ deletedAt: null, detailAt: isoTime(startMs) });
    expect(rowsOf(plan, { ...one, detailAt: "x" }, row, times).detailAt).toBe("x");
    expect(rowsOf(plan, { ...one, detailAt: null }, row, times).detailAt).toBe(isoTime(startMs));
    expect(rowsOf(plan, nothing, row, times)).toMatchObject({ deletedAt: null, detailAt: then });
    const deleted = rowsOf(plan, { ...nothing, deletedAt: "x" }, row, times);
    expect([deleted.deletedAt, deleted.children]).toEqual(["x", [[]]]);
  });

  test("of a deleted record have the time of its deletion, or now, and no children", ({ mirror }) => {
    put(mirror, "orders", record, { source: "detail" });
    const live = held(mirror);
    expect(rowsOf(plan, { ...live, deletedAt: "x" }, row, times).deletedAt).toBeNull();
    remove(mirror, "orders", 1);
    const gone = held(mirror);
    expect(rowsOf(plan, gone, row, times)).toMatchObject({ deletedAt: isoTime(startMs), children: [[]] });
    const undated = rowsOf(plan, { ...gone, deletedAt: null }, row, times);
    expect(undated.deletedAt).toBe(isoTime(startMs + 1_000));
  });

  test("of a preview have no time of a detail", ({ mirror }) => {
    putPreview(mirror, "orders", { id: 1, number: "A", total: 1 });
    expect(rowsOf(plan, { ...held(mirror), detailAt: "x" }, row, times).detailAt).toBeNull();
  });

  test("show what the answer knew besides, where the record names nothing", () => {
    const { cells } = rowsOf(plan, nothing, row, { ...times, overrides: { remark: "x", number: "y" } });
    expect([cells.includes("x"), cells.includes("y"), cells.includes("A")]).toEqual([true, false, true]);
  });
});

test("the JSON is as it was received while its hash is; unknown where one of them is not there", async () => {
  const one = await heldOrder();
  expect(isAsReceived(one)).toBe(true);
  expect(isAsReceived({ ...one, bytes: Buffer.from(`${one.json} `) })).toBe(false);
  expect(isAsReceived({ ...one, bytes: undefined })).toBeNull();
  expect(isAsReceived({ ...one, fence: undefined })).toBeNull();
  const forgotten = one.fence && { ...one.fence, sha: null };
  expect(isAsReceived({ ...one, fence: forgotten })).toBeNull();
});

test("all that is held of a resource is found in its order, also where a part is left", ({ mirror }) => {
  for (const id of [1, 2, 3, 4, 5]) put(mirror, "orders", { ...record, id }, { source: "detail" });
  mirror.db.exec(`DELETE FROM orders WHERE id IN (1, 2, 4); DELETE FROM _raw_orders WHERE id IN (2, 3);
    DELETE FROM _fence_orders WHERE id IN (1, 3, 4); DELETE FROM order_lines WHERE order_id IN (1, 2, 3)`);
  const some = idsHeld(mirror.db, plan, 0n, 3);
  expect(some).toEqual({ ids: [1, 2, 3], next: 4n });
  expect(idsHeld(mirror.db, plan, 4n, 2)).toEqual({ ids: [4, 5], next: null });
  expect(idsHeld(mirror.db, plan, 6n, 2)).toEqual({ ids: [], next: null });
});
