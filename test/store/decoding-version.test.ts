import { inspect } from "node:util";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/json/literal.ts";
import { parseLossless } from "../../src/json/lossless.ts";
import { cellValue, decodingVersion, nullIfOdd, toRow } from "../../src/store/tables/row-decoder.ts";
import { planTable, sqlTypes, type ColumnScalar } from "../../src/store/tables/table-plan.ts";
import { resourceOf } from "../support/mirror/mirror.ts";

/** Values as the service may send them. */
const values = `7 -1.50 1e3 true 0 "12" "1.50" "1" "2026-03-01 12:00:00" "a" "" [] {}`.split(/ (?!12:)/);
/** Those at the limits of numbers, and texts that look like other types. */
const odd =
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
  return [...values, ...odd].map((value) => inspect(cellOf(value)).replace("undefined", "-")).join(" ");
}

function rowOf(record: string): string {
  const plan = planTable(resourceOf("orders"));
  const row = nullIfOdd(() => toRow(plan, parseLossless(record) as JsonObject));
  return row ? JSON.stringify([row.cells.filter((cell) => cell !== null), row.children]) : "odd";
}

test("decodingVersion is raised when any value becomes another cell: existing mirrors derive their rows again", () => {
  const scalars = Object.keys(sqlTypes) as ColumnScalar[];
  const cells = Object.fromEntries(scalars.map((scalar) => [scalar, cellsAs(scalar)]));
  expect({ decodingVersion, cells, rows: records.map(rowOf) }).toMatchInlineSnapshot(`
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
