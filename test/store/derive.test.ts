import { describe, expect, onTestFinished, vi } from "vitest";
import * as schema from "../../src/connector/record-schema.ts";
import { Notices, type Derived } from "../../src/store/apply/notices.ts";
import { openDatabase } from "../../src/store/database.ts";
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import { rejectionOf } from "../support/errors.ts";
import { derivedAgain, openHasty, openShop, withPeople, openAgain } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { order as orderOf, person, twoLines } from "../support/mirror/shop-records.ts";
import {
  allChanges,
  brokenLinks,
  liveRecords,
  put,
  putPreview,
  remove,
  replay,
  row,
  rows,
  stampOf,
  texts,
  written,
} from "../support/mirror/store.ts";

const order = (id: number, more: object = {}) => orderOf(id, { lines: twoLines, ...more });

const { text, integer, decimal, orNull } = schema;
const asBefore = { name: text(), email: orNull(text()), score: orNull(decimal()) };

const schemaChanges = (mirror: Mirror) =>
  texts(mirror, "SELECT resource, record_id, op FROM _changes WHERE cause = 'schema' ORDER BY seq");

const linesOf = (mirror: Mirror) =>
  rows(mirror, "SELECT order_id, position, title FROM order_lines ORDER BY order_id, position");

/** Calls `step` after each transaction in which rows are derived again. */
function onDerived(step: (derived: Derived) => void): void {
  const spy = vi.spyOn(Notices.prototype, "derived").mockImplementation(step);
  onTestFinished(() => spy.mockRestore());
}

const scores = (mirror: Mirror) => rows(mirror, "SELECT score FROM people").map(({ score }) => score);

/** A mirror of people as they are declared today, and its file. */
async function olderMirror(people: readonly object[]): Promise<string> {
  const mirror = await openHasty();
  mirror.apply(() => people.forEach((one) => put(mirror, "people", one)));
  mirror.close();
  return mirror.db.name;
}

const typesOf = (mirror: Mirror) =>
  texts(mirror, "SELECT name, type FROM pragma_table_info('people') ORDER BY name");

describe("rows of another version of the decoding", () => {
  // Fault: data | typed rows are damaged | SQL on the mirror, before another version of the decoding | healed from the JSON, with the cause `schema`
  test("are compared with their JSON, and healed with the cause `schema`", async ({ mirror }) => {
    for (const id of [1, 2, 3, 4, 5]) put(mirror, "orders", order(id), { source: "detail" });
    for (const id of [1, 2]) put(mirror, "people", person(id));
    const [held, orders] = [linesOf(mirror), rows(mirror, "SELECT * FROM orders")];
    mirror.db.exec(`UPDATE orders SET total = 2 WHERE id = 1;
      DELETE FROM orders WHERE id = 2;
      UPDATE order_lines SET title = 'x' WHERE order_id = 3 AND position = 0;
      DELETE FROM order_lines WHERE order_id = 4 AND position = 0;
      INSERT INTO order_lines (order_id, position) VALUES (5, 9), (77, 0);
      INSERT INTO people (id, name, _synced_at) VALUES (9, 'nobody', '')`);
    const again = await derivedAgain(mirror);
    expect(linesOf(again)).toEqual(held);
    const synced = { _synced_at: expect.any(String) as string };
    expect(rows(again, "SELECT * FROM orders")).toEqual(orders.map((one) => ({ ...one, ...synced })));
    expect(rows(again, "SELECT id FROM people")).toEqual([{ id: 1 }, { id: 2 }]);
    const updates = [1, 2, 3, 4, 5].map((id) => `orders ${id} update`);
    expect(schemaChanges(again)).toEqual(["people 9 delete", ...updates, "orders 77 delete"]);
    expect(replay(allChanges(again, "orders"))).toEqual(liveRecords(again, "orders"));
    expect(brokenLinks(again)).toEqual([]);
  });

  test("are healed as those of a live record where its fence is lost", async ({ mirror }) => {
    put(mirror, "people", person(1));
    mirror.db.exec("DELETE FROM _fence_people; UPDATE people SET name = 'x'");
    const again = await derivedAgain(mirror);
    expect(row(again, "people", 1)).toMatchObject({ name: "n1", _deleted_at: null });
    const before = JSON.stringify(person(1));
    expect(allChanges(again).at(-1)).toMatchObject({ op: "update", cause: "schema", before });
  });

  test("are not looked at again while the version is the same", async ({ mirror }) => {
    put(mirror, "people", person(1));
    const seen: Derived[] = [];
    onDerived((derived) => seen.push(derived));
    const again = await openAgain(mirror);
    expect([seen, written(again)]).toEqual([[], 0]);
  });

  test("are left alone where they say what the JSON says", async ({ mirror }) => {
    put(mirror, "people", person(1, { score: 12, nickName: 7, "🙂": 0.5 }));
    put(mirror, "people", '{"id":2,"name":"a\\u0000\\ud83d","email":null,"score":0.1000000000000000055511}');
    put(mirror, "orders", order(1, { paid: true, colourId: 5, extra: { a: [1.0] } }), { source: "detail" });
    remove(mirror, "orders", 1);
    put(mirror, "orders", order(2), { source: "detail" });
    const before = rows(mirror, "SELECT * FROM people");
    const again = await derivedAgain(mirror);
    expect(schemaChanges(again)).toEqual([]);
    expect(rows(again, "SELECT * FROM people")).toEqual(before);
  });

  test("are not written where a child's new column would hold null alone", async ({ mirror }) => {
    for (const id of [1, 2]) put(mirror, "orders", order(id), { source: "detail" });
    mirror.db.exec(`UPDATE _raw_orders SET json = replace(json, '"title"', '"shade":null,"title"')`);
    const again = await derivedAgain(mirror);
    expect(rows(again, "SELECT shade FROM order_lines WHERE order_id = 1")).toHaveLength(2);
    expect(schemaChanges(again)).toEqual([]);
  });

  test("stay deleted with their record, without a change that brings it back", async ({ mirror }) => {
    for (const id of [1, 2, 3, 4]) put(mirror, "orders", order(id), { source: "detail" });
    for (const id of [1, 2, 3, 4]) remove(mirror, "orders", id);
    const deleted = row(mirror, "orders", 1)?.["_deleted_at"];
    put(mirror, "people", person(1));
    remove(mirror, "people", 1);
    mirror.db.exec(`UPDATE orders SET total = 9 WHERE id = 1;
      UPDATE people SET name = 'x';
      UPDATE orders SET _deleted_at = NULL WHERE id = 2;
      INSERT INTO order_lines (order_id, position) VALUES (3, 0);
      DELETE FROM orders WHERE id = 4`);
    const again = await derivedAgain(mirror);
    expect(row(again, "orders", 1)).toMatchObject({ total: 1, _deleted_at: deleted });
    expect(rows(again, "SELECT id FROM orders WHERE _deleted_at IS NOT NULL")).toHaveLength(4);
    expect(linesOf(again)).toEqual([]);
    expect(schemaChanges(again)).toEqual(["orders 2 delete", "orders 3 delete"]);
    expect(allChanges(again).at(-1)?.before).toBeNull();
    expect([...replay(allChanges(again, "orders"))]).toEqual([]);
  });

  test("are derived from the preview where only that is known, and stay provisional", async ({ mirror }) => {
    for (const id of [1, 2]) putPreview(mirror, "orders", { id, number: "A", total: 1 });
    const before = rows(mirror, "SELECT * FROM orders");
    mirror.db.exec(`UPDATE orders SET total = 2, _detail_at = 'x' WHERE id = 1;
      INSERT INTO order_lines (order_id, position) VALUES (1, 0)`);
    const again = await derivedAgain(mirror);
    const synced = { _synced_at: expect.any(String) as string };
    expect(rows(again, "SELECT * FROM orders")).toEqual(before.map((one) => ({ ...one, ...synced })));
    expect(linesOf(again)).toEqual([]);
    expect(schemaChanges(again)).toEqual(["orders 1 update"]);
    expect(put(again, "orders", order(1), { source: "detail" })).toBe("hydrated");
  });

  test("keep what is not in their JSON: whose document a payment is of", async ({ mirror }) => {
    const overrides = { document_type: "order", document_id: 9 };
    put(mirror, "receipts", { id: 1, amount: 2 }, { overrides });
    mirror.db.exec("UPDATE receipts SET amount = 3");
    const again = await derivedAgain(mirror);
    expect(row(again, "receipts", 1)).toMatchObject({ amount: 2, ...overrides });
  });

  // Fault: data | the JSON of a record is gone or damaged | SQL on the mirror | the rows stay, and the record's next read heals it
  test("stay where the JSON is gone or damaged; the next read heals it", async ({ mirror }) => {
    for (const id of [1, 2, 3, 4, 5]) put(mirror, "people", person(id));
    remove(mirror, "people", 3);
    mirror.db
      .exec(`DELETE FROM _raw_people WHERE id = 1; UPDATE _raw_people SET json = '{' WHERE id IN (2, 3);
      UPDATE people SET name = 'x' WHERE id = 4;
      INSERT INTO people (id, name, _synced_at) VALUES (9, 'nobody', '')`);
    const seen: Derived[] = [];
    onDerived((one) => seen.push(one));
    const again = await derivedAgain(mirror);
    expect(seen).toEqual([{ resource: "people", same: 2, written: 2, unusable: 2, isDone: true }]);
    expect(texts(again, "SELECT id FROM people")).toEqual(["1", "2", "3", "4", "5"]);
    expect(texts(again, "SELECT record_id, json FROM _quarantine")).toEqual(["2 {"]);
    expect(put(again, "people", person(1), { source: "detail" })).toBe("updated");
    expect(put(again, "people", person(2))).toBe("updated");
    expect(liveRecords(again, "people").get("people:1")).toBe(JSON.stringify(person(1)));
  });
});

type Identified = Readonly<Record<string, unknown>> & { readonly id: number };

/** Writes a record into an overlay as it was. */
function putPast(mirror: Mirror, resource: string, record: Identified, isGone = false): void {
  const past = {
    id: record.id,
    slice: Buffer.from(JSON.stringify(record)),
    source: "detail",
    isGone,
  } as const;
  mirror.apply(() => mirror.table(resource).putPast(past, stampOf(mirror)));
}

describe("rows of a record as it was", () => {
  test("are written without a change; its owner stays, and what is gone has no children", ({ mirror }) => {
    const overrides = { document_type: "order", document_id: 9 };
    put(mirror, "receipts", { id: 1, amount: 2 }, { overrides });
    putPast(mirror, "receipts", { id: 1, amount: 3 });
    expect(row(mirror, "receipts", 1)).toMatchObject({ amount: 3, ...overrides, _deleted_at: null });
    putPast(mirror, "orders", order(7), true);
    expect(row(mirror, "orders", 7)?.["_deleted_at"]).not.toBeNull();
    expect([linesOf(mirror), allChanges(mirror).length]).toEqual([[], 1]);
  });

  test("are derived where an unknown field needs a column, or a value is odd", ({ mirror }) => {
    putPast(mirror, "people", person(1, { nickName: "Ed" }));
    putPast(mirror, "people", person(2, { pet: "cat" }), true);
    putPast(mirror, "people", person(3, { score: "many" }));
    const shown = texts(mirror, "SELECT id, nick_name, pet, _deleted_at IS NULL FROM people");
    expect(shown).toEqual(["1 Ed null 1", "2 null cat 0"]);
    const fences = texts(mirror, "SELECT id, source, received_seq, gone FROM _fence_people");
    expect(fences).toEqual(["1 detail 0 0", "2 detail 0 1", "3 detail 0 0"]);
    expect(mirror.quarantine.all().map(({ recordId }) => recordId)).toEqual([3]);
  });
});

describe("rows of another version of the connector", () => {
  test("get a column's new type and values, with a change for each row that differs", async () => {
    const path = await olderMirror([person(1, { score: 12 }), person(2), person(3, { score: 1.5 })]);
    const declaration = withPeople({ name: text(), email: orNull(text()), score: orNull(text()) });
    const mirror = await openShop({ path, declaration });
    expect(typesOf(mirror)).toContain("score TEXT");
    expect(scores(mirror)).toEqual(["12", null, "1.5"]);
    expect(schemaChanges(mirror)).toEqual(["people 1 update", "people 3 update"]);
    expect(replay(allChanges(mirror, "people"))).toEqual(liveRecords(mirror, "people"));
    mirror.close();
    const back = await openShop({ path });
    expect(typesOf(back)).toContain("score REAL");
    expect(scores(back)).toEqual([12, null, 1.5]);
    expect(schemaChanges(back)).toHaveLength(4);
  });

  test("get a column that is new, without a change", async () => {
    const path = await olderMirror([person(1)]);
    const mirror = await openShop({ path, declaration: withPeople({ ...asBefore, age: orNull(integer()) }) });
    put(mirror, "people", person(2, { age: 5 }));
    expect(texts(mirror, "SELECT id, age FROM people")).toEqual(["1 null", "2 5"]);
    expect(schemaChanges(mirror)).toEqual([]);
  });

  test("go into quarantine where a value does not fit any more, until the service sends one that does", async () => {
    const path = await olderMirror([person(1, { name: "12" }), person(2)]);
    const declaration = withPeople({ ...asBefore, name: orNull(integer()) });
    const mirror = await openShop({ path, declaration });
    expect(texts(mirror, "SELECT id, name FROM people")).toEqual(["1 12", "2 null"]);
    const reason = 'name is text ("n2"), not integer';
    expect(mirror.quarantine.all()).toMatchObject([{ resource: "people", recordId: 2, reason }]);
    expect(put(mirror, "people", person(2))).toBe("quarantined");
    expect(put(mirror, "people", person(2, { name: 5 }))).toBe("updated");
    expect(mirror.quarantine.all()).toEqual([]);
  });

  // Fault: process | cut off after any transaction while rows are derived again | the derivation's transactions | readers find whole rows, and the next opening continues
  test("can be cut off after any transaction: readers find whole rows, and the next opening continues", async () => {
    const ids = Array.from({ length: 2_500 }, (_, i) => i + 1);
    const path = await olderMirror(ids.map((id) => person(id, { score: id })));
    const declaration = withPeople({ ...asBefore, score: orNull(text()) });
    const reader = openDatabase(path, { readonly: true });
    const compared: number[] = [];
    const cutOff = async () => {
      const stop = new AbortController();
      onDerived(({ same, written: changed }) => {
        compared.push(same + changed);
        const whole = "SELECT count(*) AS rows, count(score) AS scores, count(name) AS names FROM people";
        expect(reader.prepare(whole).get()).toEqual({ rows: 2_500, scores: 2_500, names: 2_500 });
        const logged = "SELECT count(*) FROM _changes WHERE cause = 'schema'";
        const retyped = "SELECT count(*) FROM people WHERE typeof(score) = 'text'";
        expect(reader.prepare(retyped).pluck().get()).toBe(reader.prepare(logged).pluck().get());
        stop.abort();
      });
      return openMirror(path, declaration, { signal: stop.signal });
    };
    for (const _ of [1, 2]) expect(await rejectionOf(cutOff())).toMatchObject({ kind: "stopped" });
    const mirror = await cutOff();
    expect(compared).toEqual([1_000, 1_000, 500]);
    expect(typesOf(mirror)).toContain("score TEXT");
    expect(schemaChanges(mirror)).toHaveLength(2_500);
    reader.close();
    mirror.close();
  });

  test("keep views that somebody made of them", async () => {
    const path = await olderMirror([person(1, { score: 1 })]);
    const db = openDatabase(path);
    db.exec("CREATE VIEW mine AS SELECT name, score FROM people");
    db.close();
    const mirror = await openShop({ path, declaration: withPeople({ ...asBefore, score: orNull(text()) }) });
    expect(rows(mirror, "SELECT * FROM mine")).toEqual([{ name: "n1", score: "1" }]);
  });
});
