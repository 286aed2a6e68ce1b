import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Meta } from "../../src/state/meta.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put, remove, rows, stampOf, startMs } from "../support/mirror/store.ts";

describe("the sequence", () => {
  // Fault: process | a crash after numbers were given | the sequence in the file and in memory | it never goes back behind a number that was stored (I3)
  test("I3: never goes back behind a number that was stored, whatever the process forgot", async () => {
    const path = join(tempFolder(), "shop.db");
    const mirror = await openShop({ path });
    put(mirror, "people", person(1));
    const stored = Number(rows(mirror, "SELECT received_seq FROM _fence_people")[0]?.["received_seq"]);
    const dirtySeq = mirror.sequence.next() + 100;
    const target = { kind: "detail", resource: "people", target: "id:1", lane: "list", reason: "x" } as const;
    mirror.apply(() => new WorkQueue(mirror.db).add({ ...target, dirtySeq }));
    mirror.close();
    const again = await openShop({ path });
    const next = again.sequence.next();
    expect(next).toBeGreaterThan(stored);
    expect(next).toBeGreaterThan(dirtySeq);
    expect(put(again, "people", person(1, { name: "later" }))).toBe("updated");
  });

  test("is found without a look at events that are done", async () => {
    const path = join(tempFolder(), "shop.db");
    (await openShop({ path })).close();
    const prepared = vi.spyOn(Database.prototype, "prepare");
    onTestFinished(() => prepared.mockRestore());
    const mirror = await openShop({ path });
    const asked = prepared.mock.calls.flatMap(([sql]) => (/from "?_inbox"?\b/i.test(sql) ? [sql] : []));
    const plans = asked.flatMap((sql) => rows(mirror, `EXPLAIN QUERY PLAN ${sql}`));
    expect(plans.map(({ detail }) => detail)).toEqual(["SEARCH _inbox USING COVERING INDEX _inbox_waiting"]);
  });

  test.each([
    ["confirmed", (mirror: Mirror) => put(mirror, "people", person(1), { source: "detail" })],
    ["deleted", (mirror: Mirror) => remove(mirror, "people", 1)],
  ])("I3: never goes back behind the number of a record that was %s", async (_, step) => {
    const path = join(tempFolder(), "shop.db");
    const mirror = await openShop({ path });
    put(mirror, "people", person(1));
    step(mirror);
    const last = mirror.sequence.next();
    mirror.close();
    expect((await openShop({ path })).sequence.next()).toBe(last);
  });

  test("is written with what a transaction stores, and by no other", async () => {
    const mirror = await openShop();
    const meta = new Meta(mirror.db);
    mirror.apply(() => mirror.sequence.next());
    expect(meta.get("seq")).toBeNull();
    put(mirror, "people", person(1));
    expect(Number(meta.get("seq"))).toBeGreaterThan(0);
  });
});

describe("the tables", () => {
  test("are all STRICT; child tables are their key and need no rowid", async () => {
    const mirror = await openShop();
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
    expect(rows(mirror, "SELECT name, pk FROM pragma_table_info('order_lines') WHERE pk > 0")).toEqual([
      { name: "order_id", pk: 1 },
      { name: "position", pk: 2 },
    ]);
  });

  test("each record has its row, its JSON and its fence in tables of their own", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1));
    for (const table of ["people", "_raw_people", "_fence_people"]) {
      expect(rows(mirror, `SELECT id FROM "${table}"`)).toEqual([{ id: 1 }]);
    }
    expect(Object.keys(rows(mirror, "SELECT * FROM people")[0] ?? {})).toEqual([
      "id",
      "name",
      "email",
      "score",
      "_deleted_at",
      "_synced_at",
      "_detail_at",
    ]);
  });

  test("a resource that has no table is a broken promise of ours", async () => {
    const mirror = await openShop();
    expect(() => mirror.table("nothing")).toThrow("broken promise: nothing has a table");
  });
});

// Fault: process | an error in the middle of applying an answer | the transaction | all of it or nothing (I1)
test("I1: what one answer means commits together or not at all", async () => {
  const mirror = await openShop();
  const queue = new WorkQueue(mirror.db);
  const target = { kind: "detail", resource: "people", target: "id:1", lane: "list", reason: "x" } as const;
  queue.add({ ...target, dirtySeq: 1 });
  const work = queue.lease(startMs, ["people"]);
  if (!work) throw new Error("nothing is due");
  const step = () => {
    mirror.table("people").put({
      stamp: stampOf(mirror),
      id: 1,
      slice: Buffer.from(JSON.stringify(person(1))),
      source: "detail",
    });
    queue.add({ ...target, target: "id:2", dirtySeq: 5 });
    queue.done(work, 9);
  };
  expect(() =>
    mirror.apply(() => {
      step();
      throw new Error("the power went");
    }),
  ).toThrow("the power went");
  expect(mirror.records.liveIds("people")).toEqual([]);
  expect(rows(mirror, "SELECT target FROM _work")).toEqual([{ target: "id:1" }]);
  mirror.apply(step);
  expect(mirror.records.liveIds("people")).toEqual([1]);
  expect(rows(mirror, "SELECT target FROM _work")).toEqual([{ target: "id:2" }]);
});
