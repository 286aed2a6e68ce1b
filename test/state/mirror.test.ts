import Database from "better-sqlite3";
import { describe, expect, onTestFinished, vi } from "vitest";
import { Meta } from "../../src/state/meta.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { person } from "../support/mirror/shop-records.ts";
import { work } from "../support/mirror/state-rows.ts";
import { put, remove, rows, startMs, texts } from "../support/mirror/store.ts";

describe("the sequence", () => {
  // Fault: process | a crash after numbers were given | the sequence in the file and in memory | it never goes back behind a number that was stored (I3)
  test("I3: never goes back behind a number that was stored by any process", async ({ mirror, queue }) => {
    put(mirror, "people", person(1));
    const stored = Number(rows(mirror, "SELECT received_seq FROM _fence_people")[0]?.["received_seq"]);
    const dirtySeq = mirror.sequence.next() + 100;
    mirror.apply(() => queue.add(work({ dirtySeq })));
    mirror.close();
    const again = await openShop({ path: mirror.db.name });
    const next = again.sequence.next();
    expect(next).toBeGreaterThan(stored);
    expect(next).toBeGreaterThan(dirtySeq);
    expect(put(again, "people", person(1, { name: "later" }))).toBe("updated");
  });

  test("is found without a look at events that are done", async ({ mirror: { db } }) => {
    db.close();
    const prepared = vi.spyOn(Database.prototype, "prepare");
    onTestFinished(() => prepared.mockRestore());
    const mirror = await openShop({ path: db.name });
    const asked = prepared.mock.calls.flatMap(([sql]) => (/from "?_inbox"?\b/i.test(sql) ? [sql] : []));
    const plans = asked.flatMap((sql) => rows(mirror, `EXPLAIN QUERY PLAN ${sql}`));
    expect(plans.map(({ detail }) => detail)).toEqual(["SEARCH _inbox USING COVERING INDEX _inbox_waiting"]);
  });

  test.for([
    ["confirmed", (mirror: Mirror) => put(mirror, "people", person(1), { source: "detail" })],
    ["deleted", (mirror: Mirror) => remove(mirror, "people", 1)],
  ] as const)(
    "I3: never goes back behind the number of a record that was %s",
    async ([, step], { mirror }) => {
      put(mirror, "people", person(1));
      step(mirror);
      const last = mirror.sequence.next();
      mirror.close();
      expect((await openShop({ path: mirror.db.name })).sequence.next()).toBe(last);
    },
  );

  test("is written with what a transaction stores, and by no other", ({ mirror }) => {
    const meta = new Meta(mirror.db);
    mirror.apply(() => mirror.sequence.next());
    expect(meta.get("seq")).toBeNull();
    put(mirror, "people", person(1));
    expect(Number(meta.get("seq"))).toBeGreaterThan(0);
  });
});

test("the tables are all STRICT; child tables are their key and need no rowid", ({ mirror }) => {
  const loose = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0
    AND name NOT LIKE 'sqlite_%'`;
  expect(rows(mirror, loose)).toEqual([]);
  const keyed =
    "SELECT name FROM pragma_table_list WHERE wr = 1 AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name";
  expect(rows(mirror, keyed).map(({ name }) => name)).toEqual([
    "document_files",
    "note_attachments",
    "order_lines",
  ]);
  expect(texts(mirror, "SELECT name, pk FROM pragma_table_info('order_lines') WHERE pk > 0")).toEqual([
    "order_id 1",
    "position 2",
  ]);
});

// Fault: process | an error in the middle of applying an answer | the transaction | all of it or nothing (I1)
test("I1: what one answer means commits together or not at all", ({ mirror, queue }) => {
  queue.add(work());
  const item = queue.lease(startMs, ["people"]);
  if (!item) throw new Error("nothing is due");
  const step = () => {
    put(mirror, "people", person(1), { source: "detail" });
    queue.add(work({ target: "id:2", dirtySeq: 5 }));
    queue.done(item, 9);
  };
  const cutOff = () => {
    step();
    throw new Error("the power went");
  };
  const targets = () => rows(mirror, "SELECT target FROM _work").map(({ target }) => target);
  expect(() => mirror.apply(cutOff)).toThrow("the power went");
  expect([mirror.records.liveIds("people"), targets()]).toEqual([[], ["id:1"]]);
  mirror.apply(step);
  expect([mirror.records.liveIds("people"), targets()]).toEqual([[1], ["id:2"]]);
});
