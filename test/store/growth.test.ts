import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defineResource } from "../../src/connector/resource.ts";
import type { Resource } from "../../src/connector/resource.ts";
import * as schema from "../../src/connector/record-schema.ts";
import type { NewColumn } from "../../src/store/tables/table-plan.ts";
import { mostNewColumns } from "../../src/store/tables/unknown-columns.ts";
import { manifestOf, openHasty, openShop } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { order, person } from "../support/mirror/shop-records.ts";
import {
  allChanges,
  liveRecords,
  put,
  putAs,
  replay,
  stampOf,
  row,
  rows,
  startMs,
  written,
} from "../support/mirror/store.ts";

/** The columns of a table besides those the connector gave it. */
function grownColumns(mirror: Awaited<ReturnType<typeof openShop>>, table: string): unknown[] {
  return rows(mirror, "SELECT name, type FROM pragma_table_info(?) WHERE type = 'ANY'", table).map(
    ({ name }) => name,
  );
}

describe("I12: an unknown field", () => {
  test("becomes a column, reported once after the commit", async () => {
    const reported: NewColumn[] = [];
    const mirror = await openShop({ notices: { onNewColumn: (column) => reported.push(column) } });
    put(mirror, "people", person(1, { nickName: "Ed" }));
    put(mirror, "people", person(2, { nickName: "Al" }));
    expect(rows(mirror, "SELECT id, nick_name FROM people")).toEqual([
      { id: 1, nick_name: "Ed" },
      { id: 2, nick_name: "Al" },
    ]);
    expect(reported.map(({ table, column }) => `${table}.${column.name}`)).toEqual(["people.nick_name"]);
    expect(rows(mirror, "SELECT table_name, column_name, path FROM _schema_changes")).toEqual([
      { table_name: "people", column_name: "nick_name", path: '["nickName"]' },
    ]);
  });

  test("has its column in snapshots and lines too, also deep within a snapshot's unknown", async () => {
    const mirror = await openShop();
    const buyer = { name: "b", taste: { colour: "red" } };
    put(mirror, "orders", order(1, { buyer, lines: [{ id: 1, weight: 2.5 }, { id: 2 }] }), {
      source: "detail",
    });
    expect(row(mirror, "orders", 1)?.["buyer_taste"]).toBe('{"colour":"red"}');
    expect(rows(mirror, "SELECT id, weight FROM order_lines ORDER BY position")).toEqual([
      { id: 1, weight: 2.5 },
      { id: 2, weight: null },
    ]);
  });

  test("is found again when the mirror is reopened", async () => {
    const path = join(tempFolder(), "shop.db");
    const first = await openShop({ path });
    put(first, "people", person(1, { nickName: "Ed" }));
    put(first, "orders", order(1, { lines: [{ id: 1, weight: 2 }] }), { source: "detail" });
    first.close();
    const again = await openShop({ path });
    expect(put(again, "people", person(1, { nickName: "Bo" }))).toBe("updated");
    put(again, "orders", order(1, { lines: [{ id: 1, weight: 3 }] }), { source: "detail" });
    expect(row(again, "people", 1)?.["nick_name"]).toBe("Bo");
    expect(rows(again, "SELECT weight FROM order_lines")).toEqual([{ weight: 3 }]);
    expect(rows(again, "SELECT count(*) AS n FROM _schema_changes")).toEqual([{ n: 2 }]);
  });

  test("a widening 1 -> 1.5 -> x stays one column, each value of its own type", async () => {
    const mirror = await openShop();
    for (const [i, size] of [1, 1.5, "x", true, null, [2]].entries())
      put(mirror, "people", person(i + 1, { size }));
    expect(rows(mirror, "SELECT size, typeof(size) AS type FROM people ORDER BY id")).toEqual([
      { size: 1, type: "integer" },
      { size: 1.5, type: "real" },
      { size: "x", type: "text" },
      { size: 1, type: "integer" },
      { size: null, type: "null" },
      { size: "[2]", type: "text" },
    ]);
  });

  // Fault: data | unknown fields whose names are taken, or are SQL's own | a record's keys | a column of another name; nothing is overwritten
  test("never takes a name that is taken, whatever its key", async () => {
    const mirror = await openShop();
    const text = `{"id":1,"number":"1","total":1,"lines":[{"id":1,"position":9,"order_id":8,"orderId":7}],"receipts":[],
      "buyerName":"flat","buyer":{"name":"nested"},"BUYER_NAME":"loud","_deletedAt":"d","_synced_at":"s","ID":5,
      "🙂":"smile","☂":"rain","":"empty","__proto__":"p","constructor":"c","toString":"t","a b":1,"select":2,"x\\"y":3,
      "rowid":"r","OID":"o"}`;
    putAs(mirror, "orders", 1, text, { source: "detail" });
    expect(row(mirror, "orders", 1)).toMatchObject({
      id: 1,
      buyer_name: "nested",
      buyer_name_2: "flat",
      buyer_name_3: "loud",
      id_2: 5,
      x_deleted_at: "d",
      x_synced_at: "s",
      _deleted_at: null,
      x_: "smile",
      x__2: "rain",
      x: "empty",
      x__proto__: "p",
      constructor: "c",
      to_string: "t",
      a_b: 1,
      select: 2,
      x_y: 3,
      rowid_2: "r",
      oid_2: "o",
    });
    expect(rows(mirror, "SELECT * FROM order_lines")).toEqual([
      {
        order_id: 1,
        position: 0,
        id: 1,
        title: null,
        quantity: null,
        position_2: 9,
        order_id_2: 8,
        order_id_3: 7,
      },
    ]);
  });

  test("called by a number leaves every other column its own value, in lines too", async () => {
    const mirror = await openShop();
    const lines = [{ id: 5, title: "t", quantity: 2, "1": "one", "0": 7 }];
    put(mirror, "orders", order(3, { "7": "seven", lines }), { source: "detail" });
    put(mirror, "orders", order(3, { "7": "eight", lines }), { source: "detail" });
    expect(row(mirror, "orders", 3)).toMatchObject({ id: 3, number: "A", total: 1, "7": "eight" });
    expect(rows(mirror, "SELECT * FROM order_lines")).toEqual([
      { order_id: 3, position: 0, id: 5, title: "t", quantity: 2, "0": 7, "1": "one" },
    ]);
  });

  test("called `constructor` is null where a record lacks it, not a function of JavaScript's", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, { constructor: "a" }));
    expect(put(mirror, "people", person(2))).toBe("inserted");
    expect(row(mirror, "people", 2)?.["constructor"]).toBeNull();
  });

  test("beyond a limit gets no column, but the record is whole in `_raw`", async () => {
    const mirror = await openHasty();
    const many = Object.fromEntries(Array.from({ length: mostNewColumns + 30 }, (_, i) => [`f${i}`, i]));
    expect(put(mirror, "people", person(1, many))).toBe("inserted");
    expect(grownColumns(mirror, "people")).toHaveLength(mostNewColumns);
    expect(JSON.parse(liveRecords(mirror, "people").get("people:1") ?? "")).toEqual(person(1, many));
  });
});

describe("rows that are older than a column", () => {
  /** People as a later version of the connector knows them. */
  const laterPeople: Resource = defineResource({
    name: "people",
    singular: "person",
    title: "People",
    origin: "published",
    record: schema.record({
      id: schema.integer(),
      name: schema.text(),
      home: schema.orNull(schema.snapshot(schema.record({ street: schema.orNull(schema.text()) }))),
      pets: schema.children("person_pets", schema.record({ kind: schema.text() })),
    }),
    list: { kind: "paged", path: "/people", perPage: 2, params: {} },
    detail: "/people/{id}",
  });
  const manifest = manifestOf(
    manifestOf().resources.map((one) => (one.name === "people" ? laterPeople : one)),
  );

  /** A mirror that the connector of before made of these people, opened by the later one. */
  async function openedLater(...people: readonly object[]) {
    const old = await openHasty();
    for (const one of people) put(old, "people", one);
    old.close();
    return openShop({ path: old.db.name, manifest });
  }

  test("are filled from `_raw` when a newer connector knows more fields, and the log says why", async () => {
    const pets = [{ kind: "cat" }, { kind: "dog" }];
    const mirror = await openedLater(person(1, { home: { street: "Long" }, pets }), person(2));
    expect(row(mirror, "people", 1)?.["home_street"]).toBe("Long");
    expect(rows(mirror, "SELECT * FROM person_pets")).toEqual([
      { person_id: 1, position: 0, kind: "cat" },
      { person_id: 1, position: 1, kind: "dog" },
    ]);
    const filled = allChanges(mirror).filter(({ cause }) => cause === "schema");
    expect(filled.map(({ recordId, op }) => [recordId, op])).toEqual([[1, "update"]]);
    mirror.close();
    const again = await openShop({ path: mirror.db.name, manifest });
    expect(allChanges(again)).toHaveLength(3);
  });

  test("a column that an older version found does not shadow what the connector knows by now", async () => {
    const mirror = await openedLater(person(1, { home: { street: "Long" } }));
    put(mirror, "people", { id: 1, name: "n1", home: { street: "Short" }, pets: [] });
    expect(row(mirror, "people", 1)?.["home_street"]).toBe("Short");
  });

  test("a field that the connector dropped is an unknown field, and keeps its column", async () => {
    const mirror = await openedLater(person(1, { score: 1.5 }));
    expect(grownColumns(mirror, "people")).toEqual(["email", "score"]);
    expect(row(mirror, "people", 1)).toMatchObject({ score: 1.5 });
    expect(put(mirror, "people", { id: 1, name: "n1", score: "high", pets: [] })).toBe("updated");
    expect(row(mirror, "people", 1)).toMatchObject({ score: "high" });
  });

  test("are filled when the column comes later than the field, without touching those that lack it", async () => {
    const mirror = await openHasty();
    const noise = Object.fromEntries(Array.from({ length: mostNewColumns }, (_, i) => [`f${i}`, 1]));
    put(mirror, "people", person(1, { ...noise, late: "one" }));
    put(mirror, "people", person(2, { f0: { late: 1 } }));
    const before = row(mirror, "people", 2);
    mirror.db.exec(
      "ALTER TABLE people DROP COLUMN f199; DELETE FROM _schema_changes WHERE column_name = 'f199'",
    );
    const path = mirror.db.name;
    mirror.close();
    const again = await openShop({ path });
    const at = stampOf(again, { receivedAtMs: startMs + 5 });
    put(again, "people", person(3, { late: "three" }), { stamp: at });
    expect(rows(again, "SELECT late FROM people ORDER BY id")).toEqual([
      { late: "one" },
      { late: null },
      { late: "three" },
    ]);
    expect(row(again, "people", 2)).toEqual({ ...before, late: null, f199: undefined });
    expect(allChanges(again).map(({ recordId, op, cause }) => `${recordId} ${op} ${cause}`)).toEqual([
      "1 insert sweep",
      "2 insert sweep",
      "1 update schema",
      "3 insert sweep",
    ]);
    expect(replay(allChanges(again))).toEqual(liveRecords(again, "people"));
  });

  test("keep what stands in their row but not in their JSON: whose document a payment is of", async () => {
    const mirror = await openHasty();
    const over = { document_type: "order", document_id: 9 };
    const slice = Buffer.from('{"id":1,"amount":2,"late":"kept"}');
    const noise = Object.fromEntries(Array.from({ length: mostNewColumns }, (_, i) => [`f${i}`, 1]));
    put(mirror, "receipts", { id: 5, amount: 1, ...noise });
    mirror.apply(() =>
      mirror.table("receipts").put({ stamp: stampOf(mirror), id: 1, slice, source: "list", overrides: over }),
    );
    mirror.db.exec(
      "ALTER TABLE receipts DROP COLUMN f199; DELETE FROM _schema_changes WHERE column_name = 'f199'",
    );
    const path = mirror.db.name;
    mirror.close();
    const again = await openShop({ path });
    put(again, "receipts", { id: 2, amount: 2, late: "new" });
    expect(row(again, "receipts", 1)).toMatchObject({ document_type: "order", document_id: 9, late: "kept" });
  });
});

describe("I1: a transaction that grew a table and was rolled back", () => {
  // Fault: data | an answer with an unknown field is rolled back | the transaction that adds the column | plan and database are as before; the next time it grows again (I1)
  test("leaves plan and database as they were, reports nothing, and grows again the next time", async () => {
    const reported: string[] = [];
    const mirror = await openShop({ notices: { onNewColumn: ({ column }) => reported.push(column.name) } });
    put(mirror, "people", person(1));
    const before = written(mirror);
    expect(() =>
      mirror.apply(() => {
        const slice = Buffer.from(JSON.stringify(person(2, { nickName: "Ed", pet: "cat" })));
        mirror.table("people").put({ stamp: stampOf(mirror), id: 2, slice, source: "list" });
        throw new Error("the power went");
      }),
    ).toThrow("the power went");
    expect(reported).toEqual([]);
    expect(grownColumns(mirror, "people")).toEqual([]);
    expect(put(mirror, "people", person(3))).toBe("inserted");
    expect(put(mirror, "people", person(2, { nickName: "Al" }))).toBe("inserted");
    expect(row(mirror, "people", 2)).toMatchObject({ nick_name: "Al" });
    expect(grownColumns(mirror, "people")).toEqual(["nick_name"]);
    expect(reported).toEqual(["nick_name"]);
    expect(written(mirror)).toBeGreaterThan(before);
    expect(rows(mirror, "SELECT count(*) AS n FROM _schema_changes")).toEqual([{ n: 1 }]);
  });
});
