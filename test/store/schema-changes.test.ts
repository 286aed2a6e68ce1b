import { expect } from "vitest";
import * as schema from "../../src/connector/record-schema.ts";
import { schemaChanges } from "../../src/store/tables/unknown-columns.ts";
import { manifestOf } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { order, person } from "../support/mirror/shop-records.ts";
import { put } from "../support/mirror/store.ts";

// Fault: data | a known field comes with another type | records of a list | noted once for each type with the first record; the records are in quarantine
test("I12: a changed type is noted once, with its first record", ({ mirror }) => {
  put(mirror, "people", person(1));
  for (const [id, score] of [
    [5, "many"],
    [4, "few"],
    [6, [1]],
    [7, { is: 1 }],
  ] as const)
    expect(put(mirror, "people", person(id, { score }))).toBe("quarantined");
  put(mirror, "orders", order(9, { buyer: 3 }), { source: "detail" });
  put(mirror, "orders", order(8, { lines: true }), { source: "detail" });
  put(mirror, "orders", order(7, { lines: [{ id: "x" }] }), { source: "detail" });
  expect(schemaChanges(mirror.db, manifestOf().resources)).toMatchObject([
    { field: "people.score", type: "text", record: "5" },
    { field: "people.score", type: "list", record: "6" },
    { field: "people.score", type: "object", record: "7" },
    { field: "orders.buyer", type: "number", record: "9" },
    { field: "orders.lines", type: "boolean", record: "8" },
    { field: "order_lines.id", type: "text", record: "7" },
  ]);
});

test("I12: an unknown field is noted with its first record, until the connector knows it", ({ mirror }) => {
  put(mirror, "orders", order(7, { lines: [{ id: 1, weight: 2 }] }), { source: "detail" });
  put(mirror, "people", person(3, { nickName: "Ed" }));
  put(mirror, "people", person(2, { nickName: "Al" }));
  const at = "2026-03-01T00:00:00.000Z";
  const { resources } = manifestOf();
  expect(schemaChanges(mirror.db, resources)).toEqual([
    { field: "order_lines.weight", type: null, record: "7", at },
    { field: "people.nick_name", type: null, record: "3", at },
  ]);
  const informed = resources.map((one) =>
    one.name === "people" ? { ...one, fields: { ...one.fields, nickName: schema.text() } } : one,
  ) as typeof resources;
  expect(schemaChanges(mirror.db, informed).map(({ field }) => field)).toEqual(["order_lines.weight"]);
});
