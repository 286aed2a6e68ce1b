import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { openDatabase, type Db } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrations/migrate.ts";
import { insertRow, removeRows, updateRows, among, statement } from "../../src/store/own-tables/statement.ts";
import { tempFolder } from "../support/temporary-folder.ts";

let db: Db;
const prepared: string[] = [];

beforeEach(() => {
  db = openDatabase(join(tempFolder(), "shop.db"));
  migrate(db);
  const prepare = db.prepare.bind(db);
  prepared.length = 0;
  db.prepare = (text: string) => (prepared.push(text), prepare(text));
});

const put = (
  seq: number,
  more: { readonly resource_id?: bigint; readonly state?: "waiting" | "done" } = {},
) =>
  insertRow(db, "_inbox", { seq, event_id: `e${seq}`, received_at: "", body: "{}", state: "done", ...more });

describe("a statement", () => {
  test("is built and prepared once, with constants in its text and parameters by position", () => {
    let built = 0;
    const find = statement((builder, p: { seq: number; types: readonly string[]; most: number }) => {
      built += 1;
      const found = builder.selectFrom("_inbox").select("event_id").where("target", "=", "it's");
      return found.where("type", "in", among(p.types)).where("seq", ">", p.seq).limit(p.most);
    });
    for (const seq of [1, 2]) expect(find.all(db, { most: 1, seq, types: ["a", "b"] })).toEqual([]);
    expect(built).toBe(1);
    expect(prepared).toEqual([
      `select "event_id" from "_inbox" where "target" = 'it''s' and "type" in (select value from json_each(+?)) and "seq" > +? limit +?`,
    ]);
  });

  test("gives rows, the first of them, a column or a value", () => {
    expect([put(1), put(2)]).toEqual([1, 2]);
    const ids = statement((builder) => builder.selectFrom("_inbox").select("event_id").orderBy("seq"));
    expect(ids.all(db)).toEqual([{ event_id: "e1" }, { event_id: "e2" }]);
    expect([...ids.iterate(db)]).toEqual(ids.all(db));
    expect([ids.first(db), ids.column(db), ids.value(db)]).toEqual([{ event_id: "e1" }, ["e1", "e2"], "e1"]);
    const none = statement((builder) => builder.selectFrom("_inbox").select("seq").where("seq", "=", 7));
    expect([none.first(db), none.value(db)]).toEqual([undefined, undefined]);
  });

  test("gives ids beyond 2^53 as they are where they are asked for", () => {
    put(1, { resource_id: 9_007_199_254_740_993n });
    put(2, { resource_id: 5n });
    const rows = statement((builder) => builder.selectFrom("_inbox").select(["seq", "resource_id as id"]));
    expect(rows.exact(db).map(({ id }) => id)).toEqual([9_007_199_254_740_993n, 5]);
  });

  test("uses an index of rows in a state", () => {
    const waiting = statement((builder) =>
      builder.selectFrom("_inbox").select("seq").where("state", "=", "waiting").where("dirty_seq", "<=", 7),
    );
    waiting.all(db);
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${prepared[0] ?? ""}`).all() as { detail: string }[];
    expect(plan[0]?.detail).toContain("_inbox_waiting");
  });
});

test("rows are added, replaced, changed and removed, with one statement for each set of columns", () => {
  for (const key of ["a", "b"]) insertRow(db, "_meta", { key, value: "1" });
  insertRow(db, "_meta", { key: "b", value: "2" }, "or replace");
  expect(updateRows(db, "_meta", { value: "3" }, { value: "1" })).toBe(1);
  expect(removeRows(db, "_meta", { key: "a" })).toBe(1);
  expect(removeRows(db, "_meta", {})).toBe(1);
  expect(prepared).toHaveLength(5);
});
