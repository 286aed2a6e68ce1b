import { inspect } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/json/literal.ts";
import { parseLossless } from "../../src/json/lossless.ts";
import { planTable, sqlTypes, type TablePlan, type ColumnScalar } from "../../src/store/tables/table-plan.ts";
import {
  cellValue,
  decodingVersion,
  nullIfOdd,
  OddValue,
  toRow,
  type Row,
} from "../../src/store/tables/row-decoder.ts";
import { resourceOf } from "../support/mirror/mirror.ts";

const ordersPlan = () => planTable(resourceOf("orders"));

function rowOf(record: object | string, plan: TablePlan = ordersPlan()): Row {
  const text = typeof record === "string" ? record : JSON.stringify(record);
  return toRow(plan, parseLossless(text) as JsonObject);
}

/** The cells by the names of their columns, nulls left out. */
function cells(record: object | string, plan: TablePlan = ordersPlan()): Record<string, unknown> {
  const row = rowOf(record, plan);
  const named = plan.columns.map(({ name }, i) => [name, row.cells[i]] as const);
  return Object.fromEntries(named.filter(([, cell]) => cell !== null));
}

describe("columns", () => {
  test("a lookup becomes its id, a snapshot prefixed columns, a list of parts a table of its own", () => {
    const plan = ordersPlan();
    const columns = plan.columns.map(({ name, scalar }) => `${name} ${sqlTypes[scalar]}`);
    const expected = `id INTEGER, number TEXT, total REAL, paid INTEGER, issued_on TEXT, changed_at TEXT, extra TEXT,
      colour_id INTEGER, buyer_name TEXT, buyer_city TEXT, buyer_country_id INTEGER, remark TEXT`;
    expect(columns).toEqual(expected.split(/,\s+/));
    expect(plan.children).toMatchObject([{ table: "order_lines", parentKey: "order_id" }]);
    expect(plan.owned).toEqual([{ field: "receipts", resource: "receipts" }]);
  });

  test("`colourId` and `colour.id` are one column; the first of them counts wherever it stands", () => {
    expect(cells({ colour: { id: 5, label: "red" } })).toEqual({ colour_id: 5 });
    expect(cells({ colourId: null, colour: { id: 5 } })).toEqual({ colour_id: 5 });
    expect(cells({ colourId: 6, colour: { id: 5 } })).toEqual({ colour_id: 6 });
    expect(cells({ colour: { id: 5 }, colourId: 6 })).toEqual({ colour_id: 6 });
  });

  test("what a nested record of another resource has besides its id is left to that resource", () => {
    expect(rowOf({ colour: { id: 5, shade: "dark", __proto: 1 } }).unknown).toEqual([]);
  });
});

test.each([
  ['total is text ("much"), not decimal', { total: "much" }],
  ["buyer.city is a list, not text", { buyer: { city: [1] } }],
  ["buyer is number 5, not an object", { buyer: 5 }],
  ["colour.id is number 12345678901234567890, not integer", '{"colour":{"id":12345678901234567890}}'],
  ["buyer is a list, not an object", { buyer: [{ name: "a" }] }],
  ["colour is a list, not an object", { colour: [5] }],
  ["lines is an object, not a list", { lines: { 0: { id: 1 } } }],
  ["lines[1] is null, not an object", { lines: [{ id: 1 }, null] }],
  ['colour.id is text ("x"), not integer', { colourId: 1, colour: { id: "x" } }],
])("an odd value is refused with its path and its kind: %s", (message, record) => {
  expect(() => rowOf(record)).toThrow(expect.objectContaining({ constructor: OddValue, message }));
});

test("PHP's `[]` for an empty map is a snapshot, a lookup and an object of nothing", () => {
  expect(cells({ id: "7", number: "1", buyer: [], colour: [] })).toEqual({ id: 7, number: "1" });
  expect(cells({ buyer: { name: "n", country: [] } })).toEqual({ buyer_name: "n" });
  expect(cells({ extra: [] })).toEqual({ extra: "[]" });
  expect(rowOf({ buyer: [], colour: [] }).unknown).toEqual([]);
});

// Fault: data | numbers as text, truth as 0 and 1, `[]` for an empty map, `{}` for an empty list | records of a list or detail | the same rows
test("PHP's numbers as text give the same row as numbers, in lines too", () => {
  const asText = rowOf('{"id":"5","total":"12.50","paid":"1","lines":[{"id":"1","quantity":"0.5"}]}');
  const asNumbers = rowOf('{"id":5,"total":12.50,"paid":true,"lines":[{"id":1,"quantity":0.5}]}');
  expect(asText).toEqual(asNumbers);
});

test("lacking fields are reported as paths when they are required; null and optional ones are not", () => {
  expect(rowOf({ id: 1, number: null, lines: [{}], receipts: [] }).missing).toEqual(["total", "lines.id"]);
  expect(rowOf({ id: 1, number: "1", total: 1 }).missing).toEqual(["lines"]);
  expect(rowOf({ id: 1, number: "1", total: 1, lines: {} }).missing).toEqual([]);
});

const knownKeys = "id number total paid issuedOn changedAt extra colourId colour buyer lines receipts remark";
const key = fc.oneof(
  fc.constantFrom(...knownKeys.split(" ")),
  fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "", "0", "id ", "ID", "🙂"),
  fc.string({ maxLength: 6 }),
);
const parts: JsonValue[] = [{ id: 1 }, { title: "t", more: 1 }];
const member = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>,
  fc.integer(),
  fc.string({ maxLength: 8 }),
  fc.constantFrom<JsonValue>(null, { id: 3 }, { name: "n", city: "c" }, parts),
);

/** The members of any record at all, with a taste for keys and shapes the plan knows. */
const anyRecord = fc
  .uniqueArray(fc.tuple(key, member), { maxLength: 12, selector: ([name]) => name })
  .map((entries) => entries.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`));

const textOf = (members: readonly string[]) => `{${members.join(",")}}`;

function outcome(text: string, plan: TablePlan): unknown {
  try {
    const { cells: all, children, missing, unknown } = rowOf(text, plan);
    const keys = unknown.map(({ path }) => path.join("\n")).toSorted();
    return { all, children, missing: missing.toSorted(), keys };
  } catch (error) {
    if (error instanceof OddValue) return "odd";
    throw error;
  }
}

test("any record whatsoever becomes a row or is refused as odd, the same whatever the order of its keys and the records before it", () => {
  const warm = ordersPlan();
  const orders = anyRecord.chain((members) =>
    fc.tuple(fc.constant(members), fc.shuffledSubarray(members, { minLength: members.length })),
  );
  const property = fc.property(orders, ([members, shuffled]) => {
    expect(outcome(textOf(shuffled), warm)).toEqual(outcome(textOf(members), ordersPlan()));
  });
  fc.assert(property, { numRuns: 700 });
});

/** Values as the service may send them. */
const values = `7 -1.50 1e3 true 0 "12" "1.50" "1" "2026-03-01 12:00:00" "a" "" [] {}`.split(/ (?!12:)/);
/** Those at the limits of numbers, and texts that look like other types. */
const oddValues =
  `9007199254740993 9223372036854775807 9223372036854775808 "9007199254740993" 0.12345678901234567890 1e400
  "1e400" "12,50" "5.00" " 5" 2 "2" "2026-03-01T12:00:05+02:00" {"a":[1.10,9007199254740993]} null`.split(
    /\s+(?!5)/,
  );

/** Records of orders; keys without a value are left out of the cells. */
const records = [
  '{"number":"a","buyer":{"name":"n","country":{"id":5}},"lines":[{"id":2,"quantity":0.5}],"receipts":[]}',
  '{"number":"a","buyer":[],"colour":[],"extra":[],"lines":{},"receipts":{}}',
  '{"number":"a","buyer":null,"colour":{"id":5},"colourId":6,"lines":null,"receipts":[],"new":1}',
  '{"number":"a","buyer":"odd","lines":[],"receipts":[]}',
];

function cellsAs(scalar: ColumnScalar): string {
  const cellOf = (value: string) => cellValue(scalar, (parseLossless(`{"a":${value}}`) as JsonObject)["a"]);
  return [...values, ...oddValues].map((value) => inspect(cellOf(value)).replace("undefined", "-")).join(" ");
}

function rowText(record: string): string {
  const row = nullIfOdd(() => rowOf(record));
  return row ? JSON.stringify([row.cells.filter((cell) => cell !== null), row.children]) : "odd";
}

test("decodingVersion is raised when any value becomes another cell: existing mirrors derive their rows again", () => {
  const scalars = Object.keys(sqlTypes) as ColumnScalar[];
  const byScalar = Object.fromEntries(scalars.map((scalar) => [scalar, cellsAs(scalar)]));
  expect({ decodingVersion, cells: byScalar, rows: records.map(rowText) }).toMatchInlineSnapshot(`
    {
      "cells": {
        "any": "7n -1.5 1000n 1n 0n '12' '1.50' '1' '2026-03-01 12:00:00' 'a' '' '[]' '{}' 9007199254740993n 9223372036854775807n '9223372036854775808' '9007199254740993' '0.12345678901234567890' '1e400' '1e400' '12,50' '5.00' ' 5' 2n '2' '2026-03-01T12:00:05+02:00' '{"a":[1.1,9007199254740993]}' null",
        "boolean": "- - - 1 0 - - 1 - - - - - - - - - - - - - - - - - - - null",
        "date": "'7' '-1.5' '1000' - '0' '12' '1.50' '1' '2026-03-01 12:00:00' 'a' '' - - '9007199254740993' '9223372036854775807' '9223372036854775808' '9007199254740993' '0.12345678901234567890' '1e400' '1e400' '12,50' '5.00' ' 5' '2' '2' '2026-03-01T12:00:05+02:00' - null",
        "decimal": "7 -1.5 1000 - 0 12 1.5 1 - - - - - 9007199254740992 9223372036854776000 9223372036854776000 9007199254740992 0.12345678901234568 - - - 5 - 2 2 - - null",
        "integer": "7 - 1000 - 0 12 - 1 - - - - - 9007199254740993n 9223372036854775807n - 9007199254740993n - - - - 5 - 2 2 - - null",
        "json": "'7' '-1.5' '1000' 'true' '0' '"12"' '"1.50"' '"1"' '"2026-03-01 12:00:00"' '"a"' '""' '[]' '{}' '9007199254740993' '9223372036854775807' '9223372036854775808' '"9007199254740993"' '0.12345678901234567890' '1e400' '"1e400"' '"12,50"' '"5.00"' '" 5"' '2' '"2"' '"2026-03-01T12:00:05+02:00"' '{"a":[1.1,9007199254740993]}' null",
        "text": "'7' '-1.5' '1000' - '0' '12' '1.50' '1' '2026-03-01 12:00:00' 'a' '' - - '9007199254740993' '9223372036854775807' '9223372036854775808' '9007199254740993' '0.12345678901234567890' '1e400' '1e400' '12,50' '5.00' ' 5' '2' '2' '2026-03-01T12:00:05+02:00' - null",
        "timestamp": "- - - - - '12' '1.50' '1' '2026-03-01T12:00:00' 'a' '' - - - - - '9007199254740993' - - '1e400' '12,50' '5.00' ' 5' - '2' '2026-03-01T12:00:05+02:00' - null",
      },
      "decodingVersion": 1,
      "rows": [
        "[["a","n",5],[[[2,null,0.5]]]]",
        "[["a","[]"],[[]]]",
        "[["a",6],[[]]]",
        "odd",
      ],
    }
  `);
});
