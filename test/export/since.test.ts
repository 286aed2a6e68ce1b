import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Mirror } from "../../src/state/mirror.ts";
import { exportOf, orderRecord } from "../support/export/export.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { jsonLines } from "../support/program/cli.ts";
import { putAs, remove } from "../support/mirror/store.ts";

type Line = Record<string, unknown>;

async function exported(mirror: Mirror, seq: number | null) {
  const since = seq === null ? null : { log: null, seq };
  const tables = ["orders", "order_lines"];
  const { text, manifest } = await exportOf(mirror, { format: "jsonl", since, tables });
  const [records, rows] = [jsonLines(text("orders.jsonl")), jsonLines(text("order_lines.jsonl"))];
  return { records, rows, next: manifest.next_since };
}

function applied(records: readonly Line[], delta: readonly Line[]): Line[] {
  const held = new Map(records.map((record) => [record["id"], record]));
  for (const { _op, _seq, ...record } of delta) {
    held.delete(record["id"]);
    if (_op === "upsert") held.set(record["id"], record);
  }
  return [...held.values()].toSorted((a, b) => Number(a["id"]) - Number(b["id"]));
}

/** Applies a delta of a child table, where each parent's rows come as a set. */
function appliedRows(rows: readonly Line[], delta: readonly Line[]): Line[] {
  let held = [...rows];
  for (const { _op, _seq, ...row } of delta) {
    if (_op === "delete") held = held.filter((each) => each["order_id"] !== row["order_id"]);
    else held.push(row);
  }
  const place = (row: Line) => Number(row["order_id"]) * 1000 + Number(row["position"]);
  return held.toSorted((a, b) => place(a) - place(b));
}

const step = fc.record({
  id: fc.integer({ min: 1, max: 6 }),
  gone: fc.boolean(),
  total: fc.integer({ min: 0, max: 3 }),
  lines: fc.integer({ min: 0, max: 3 }),
});
type Step = { id: number; gone: boolean; total: number; lines: number };

function take(mirror: Mirror, { id, gone, total, lines }: Step): void {
  if (gone) {
    remove(mirror, "orders", id);
    return;
  }
  const line = (i: number) => ({ id: 10 * id + i, title: `line ${i}`, quantity: total });
  const items = Array.from({ length: lines }, (_, i) => line(i));
  putAs(mirror, "orders", id, orderRecord(id, { total, lines: items }), { source: "detail" });
}

async function holds(before: Step[], after: Step[]) {
  const mirror = await openHasty();
  for (const each of before) take(mirror, each);
  const then = await exported(mirror, null);
  for (const each of after) take(mirror, each);
  const delta = await exported(mirror, then.next);
  const now = await exported(mirror, null);
  expect(applied(then.records, delta.records)).toEqual(now.records);
  expect(appliedRows(then.rows, delta.rows)).toEqual(now.rows);
}

test("earlier rows with the changes since applied equal the present rows, child rows included", async () => {
  const steps = fc.array(step, { minLength: 3, maxLength: 12 });
  await fc.assert(fc.asyncProperty(steps, steps, holds), { numRuns: 2, endOnFailure: true });
});

test("a delta is in the order of changes, with the position for the next one; a deletion has an id and nothing else", async () => {
  const mirror = await openHasty();
  for (const id of [1, 2, 3]) putAs(mirror, "orders", id, orderRecord(id));
  putAs(mirror, "orders", 1, orderRecord(1, { total: 11 }));
  remove(mirror, "orders", 2);
  const { cells, manifest } = await exportOf(mirror, { since: { log: null, seq: 2 }, tables: ["orders"] });
  const rows = cells("orders.csv");
  expect(rows[0]?.slice(0, 4)).toEqual(["_op", "_seq", "id", "number"]);
  expect(rows.slice(1).map((row) => row.slice(0, 5))).toEqual([
    ["upsert", "3", "3", "2026-3", "10.5"],
    ["upsert", "4", "1", "2026-1", "11"],
    ["delete", "5", "2", "", ""],
  ]);
  expect(manifest).toMatchObject({ since: 2, seq: 5, next_since: 5 });
  const nothing = await exportOf(mirror, { since: { log: null, seq: 5 }, tables: ["orders"] });
  expect(nothing.manifest).toMatchObject({ seq: 5, next_since: 5, files: [{ rows: 0 }] });
});
