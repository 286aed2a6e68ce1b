import { describe, expect } from "vitest";
import * as schema from "../../src/connector/record-schema.ts";
import { guardWrites } from "../../src/store/database.ts";
import { mostNewColumns, schemaChanges } from "../../src/store/tables/unknown-columns.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { openHasty, withPeople, declarationOf, openAgain, rollBack } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { order, person } from "../support/mirror/shop-records.ts";
import {
  allChanges,
  brokenLinks,
  liveRecords,
  put,
  putAs,
  replay,
  row,
  rows,
  texts,
} from "../support/mirror/store.ts";

/** The columns of a table besides those the connector gave it. */
function grownColumns(mirror: Mirror, table: string): string[] {
  return texts(mirror, "SELECT name FROM pragma_table_info(?) WHERE type = 'ANY'", table);
}

const weights = (mirror: Mirror) => texts(mirror, "SELECT weight FROM order_lines ORDER BY position");

describe("I12: an unknown field", () => {
  test("has its column in snapshots and lines too, also after a reopening", async ({ mirror }) => {
    const buyer = { name: "b", taste: { colour: "red" } };
    const first = order(1, { buyer, lines: [{ id: 1, weight: 2.5 }, { id: 2 }] });
    put(mirror, "orders", first, { source: "detail" });
    expect(row(mirror, "orders", 1)?.["buyer_taste"]).toBe('{"colour":"red"}');
    expect(weights(mirror)).toEqual(["2.5", "null"]);
    const again = await openAgain(mirror);
    const later = order(1, { buyer: { name: "b", taste: 1 }, lines: [{ id: 1, weight: 3 }] });
    expect(put(again, "orders", later, { source: "detail" })).toBe("updated");
    expect([row(again, "orders", 1)?.["buyer_taste"], weights(again)]).toEqual([1, ["3"]]);
    expect(rows(again, "SELECT what FROM _schema_changes WHERE what = 'added'")).toHaveLength(2);
  });

  // Fault: data | unknown fields whose names are taken, or are SQL's own | a record's keys | a column of another name; nothing is overwritten
  test("never takes a name that is taken, whatever its key", ({ mirror }) => {
    const text = `{"id":1,"number":"1","total":1,"lines":[{"id":1,"position":9,"order_id":8,"orderId":7}],"receipts":[],
      "buyerName":"flat","buyer":{"name":"nested"},"BUYER_NAME":"loud","_deletedAt":"d","_synced_at":"s","ID":5,
      "🙂":"smile","☂":"rain","":"empty","__proto__":"p","constructor":"c","toString":"t","a b":1,"select":2,"x\\"y":3,
      "rowid":"r","OID":"o"}`;
    putAs(mirror, "orders", 1, text, { source: "detail" });
    const cells = Object.entries(row(mirror, "orders", 1) ?? {}).map((pair) => pair.join("="));
    const own = "id=1 buyer_name=nested _deleted_at= x=empty select=2 constructor=c".split(" ");
    expect(cells).toEqual(expect.arrayContaining(own));
    const renamed = `buyer_name_2=flat buyer_name_3=loud id_2=5 x_deleted_at=d x_synced_at=s x_=smile x__2=rain
      x__proto__=p to_string=t a_b=1 x_y=3 rowid_2=r oid_2=o`;
    expect(cells).toEqual(expect.arrayContaining(renamed.split(/\s+/)));
    put(mirror, "orders", order(2), { source: "detail" });
    expect(row(mirror, "orders", 2)).toMatchObject({ constructor: null, x__proto__: null });
    const line = { order_id: 1, position: 0, id: 1, position_2: 9, order_id_2: 8, order_id_3: 7 };
    expect(rows(mirror, "SELECT * FROM order_lines")).toMatchObject([line]);
  });

  // Fault: data | an unknown field is called by a number | records, and lines in them | a column of its own, every other column keeps its value (I12)
  test("called by a number leaves every other column its own value, in lines too", ({ mirror }) => {
    const line = { id: 5, title: "t", quantity: 2, "1": "one", "0": 7 };
    for (const seven of ["seven", "eight"])
      put(mirror, "orders", order(3, { "7": seven, lines: [line] }), { source: "detail" });
    expect(row(mirror, "orders", 3)).toMatchObject({ id: 3, number: "A", total: 1, "7": "eight" });
    expect(rows(mirror, "SELECT * FROM order_lines")).toEqual([{ order_id: 3, position: 0, ...line }]);
  });

  test("beyond a limit gets no column, but the record is whole in `_raw`", ({ mirror }) => {
    const many = Object.fromEntries(Array.from({ length: mostNewColumns + 30 }, (_, i) => [`f${i}`, i]));
    expect(put(mirror, "people", person(1, many))).toBe("inserted");
    expect(grownColumns(mirror, "people")).toHaveLength(mostNewColumns);
    expect(JSON.parse(liveRecords(mirror, "people").get("people:1") ?? "")).toEqual(person(1, many));
  });
});

describe("rows that are older than a column", () => {
  const { text, orNull } = schema;
  const declaration = withPeople({
    name: text(),
    home: orNull(schema.snapshot(schema.record({ street: orNull(text()) }))),
    pets: schema.children("person_pets", schema.record({ kind: text() })),
  });

  /** A mirror that the connector of before made of these people, opened by the later one. */
  async function openedLater(...people: readonly object[]) {
    const old = await openHasty();
    for (const one of people) put(old, "people", one);
    return openAgain(old, { declaration });
  }

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

  test.each(["late", "aé", "éa"])(
    "are filled when the column comes later than the field, without touching those that lack it: %s",
    async (key) => {
      const mirror = await openHasty();
      const plain = JSON.stringify(person(1, { [key]: "one" }));
      putAs(mirror, "people", 1, plain.replace("é", String.raw`\u00e9`));
      put(mirror, "people", person(2, { other: { [key]: 1 } }));
      const before = row(mirror, "people", 2);
      const [column = ""] = texts(mirror, "SELECT column_name FROM _schema_changes");
      mirror.db.exec(`ALTER TABLE people DROP COLUMN ${column};
        DELETE FROM _schema_changes WHERE column_name = '${column}'`);
      const again = await openAgain(mirror);
      const answer = [person(3, { [key]: "three" }), person(1, { [key]: "later" })];
      const putAll = () => answer.forEach((record) => put(again, "people", record));
      again.apply(() => again.table("people").withFencesOf([3, 1], putAll));
      const shown = texts(again, `SELECT ${column} FROM people ORDER BY id`);
      expect(shown).toEqual(["later", "null", "three"]);
      expect(row(again, "people", 2)).toEqual({ ...before, [column]: null });
      const changes = texts(again, "SELECT record_id, cause FROM _changes ORDER BY seq");
      expect(changes).toEqual(["1 sweep", "2 sweep", "1 schema", "3 sweep", "1 sweep"]);
      expect(brokenLinks(again)).toEqual([]);
      expect(replay(allChanges(again))).toEqual(liveRecords(again, "people"));
    },
  );
});

// Fault: data | an answer with an unknown field is rolled back | the transaction that adds the column | plan and database are as before; the next time it grows again (I1)
test("I1: a growth that is rolled back leaves plan and database, reports nothing, and comes again", ({
  mirror,
}) => {
  const { newColumns } = mirror.notices.current;
  put(mirror, "people", person(1));
  rollBack(mirror, () => put(mirror, "people", person(2, { nickName: "Ed", pet: "cat" })));
  expect(newColumns).toEqual([]);
  expect(grownColumns(mirror, "people")).toEqual([]);
  expect(put(mirror, "people", person(3))).toBe("inserted");
  expect(put(mirror, "people", person(2, { nickName: "Al" }))).toBe("inserted");
  expect(row(mirror, "people", 2)).toMatchObject({ nick_name: "Al" });
  expect(grownColumns(mirror, "people")).toEqual(["nick_name"]);
  expect(newColumns).toEqual(["people.nick_name"]);
  expect(rows(mirror, "SELECT count(*) AS n FROM _schema_changes")).toEqual([{ n: 1 }]);
});

test("I1: a rolled back growth leaves the plan as it was while nothing can be written", ({ mirror }) => {
  let isHeld = false;
  guardWrites(mirror.db, () => {
    if (isHeld) throw new Error("another program holds the database");
  });
  const grow = (id: number) => put(mirror, "people", person(id, { nickName: "Ed" }));
  rollBack(mirror, () => {
    grow(1);
    isHeld = true;
  });
  isHeld = false;
  expect([put(mirror, "people", person(2)), grow(1)]).toEqual(["inserted", "inserted"]);
  expect(row(mirror, "people", 1)).toMatchObject({ nick_name: "Ed" });
});

test("a long name that is cut within a character leaves room for the next one", async ({ mirror }) => {
  const long = "k".repeat(99);
  put(mirror, "people", person(1, { [`${long}𐊡`]: "one" }));
  const again = await openAgain(mirror);
  put(again, "people", person(2, { [`${long}𐊢`]: "two" }));
  expect(Object.values(row(again, "people", 2) ?? {})).toContain("two");
});

// Fault: data | a known field comes with another type | records of a list | noted once for each type with the first record; the records are in quarantine
test("I12: a changed type is noted once, with its first record", ({ mirror }) => {
  put(mirror, "people", person(1));
  for (const [i, score] of ["many", "few", [1], { is: 1 }].entries())
    expect(put(mirror, "people", person(4 + i, { score }))).toBe("quarantined");
  for (const [i, more] of [{ buyer: 3 }, { lines: true }, { lines: [{ id: "x" }] }].entries())
    put(mirror, "orders", order(7 + i, more), { source: "detail" });
  const noted = schemaChanges(mirror.db, declarationOf().resources);
  expect(noted.map(({ field, type, record }) => `${field} ${type} ${record}`)).toEqual([
    "people.score text 4",
    "people.score list 6",
    "people.score object 7",
    "orders.buyer number 7",
    "orders.lines boolean 8",
    "order_lines.id text 9",
  ]);
});

test("I12: an unknown field is noted with its first record, until the connector knows it", ({ mirror }) => {
  put(mirror, "orders", order(7, { lines: [{ id: 1, weight: 2 }] }), { source: "detail" });
  put(mirror, "people", person(3, { nickName: "Ed" }));
  put(mirror, "people", person(2, { nickName: "Al" }));
  const at = "2026-03-01T00:00:00.000Z";
  const { resources } = declarationOf();
  expect(schemaChanges(mirror.db, resources)).toEqual([
    { field: "order_lines.weight", type: null, record: "7", at },
    { field: "people.nick_name", type: null, record: "3", at },
  ]);
  const informed = withPeople({ name: schema.text(), nickName: schema.text() }).resources;
  expect(schemaChanges(mirror.db, informed).map(({ field }) => field)).toEqual(["order_lines.weight"]);
});
