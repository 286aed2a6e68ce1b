import { describe, expect, test } from "vitest";
import { aFullShop, check, named, order, person, repair, woundsIn } from "../support/mirror/local-check.ts";
import { loggedChanges } from "../support/mirror/prune.ts";
import { liveRecords, put, replay, rows, stampOf } from "../support/mirror/store.ts";
import type { Mirror } from "../../src/state/mirror.ts";

/** People 3 and order 5 are deleted, order 8 is provisional, 77 is nothing, all others are live. */
const healed = woundsIn(`
  people different 1 name < UPDATE people SET name = 'x' WHERE id = 1
  orders different 1 total < UPDATE orders SET total = 10.26 WHERE id = 1
  people different 1 email < UPDATE people SET email = '' WHERE id = 1
  people different 1 score < UPDATE people SET score = NULL WHERE id = 1
  people different 2 nickname < UPDATE people SET nickname = 1 WHERE id = 2
  orders different 8 number < UPDATE orders SET number = 'x' WHERE id = 8
  orders different 8 remark < UPDATE orders SET remark = 'x' WHERE id = 8
  people missing 1 < DELETE FROM people WHERE id = 1
  orders missing 8 < DELETE FROM orders WHERE id = 8
  people missing 3 < DELETE FROM people WHERE id = 3
  people extra 77 < INSERT INTO people (id, name, _synced_at) VALUES (77, 'x', '')
  people extra 77 < INSERT INTO people (id, name, _synced_at, _deleted_at) VALUES (77, 'x', '', '')
  people different 1 _deleted_at < UPDATE people SET _deleted_at = 'x' WHERE id = 1
  people different 3 _deleted_at < UPDATE people SET _deleted_at = NULL WHERE id = 3
  people different 3 name < UPDATE people SET name = 'x' WHERE id = 3
  orders different 1 _detail_at < UPDATE orders SET _detail_at = NULL WHERE id = 1
  orders different 8 _detail_at < UPDATE orders SET _detail_at = 'x' WHERE id = 8
  orders different 1 order_lines[1].title <
    UPDATE order_lines SET title = 'x' WHERE order_id = 1 AND position = 1
  orders different 1 order_lines[0] < DELETE FROM order_lines WHERE order_id = 1 AND position = 0
  orders different 1 order_lines[2] < INSERT INTO order_lines (order_id, position) VALUES (1, 2)
  orders different 8 order_lines[0] < INSERT INTO order_lines (order_id, position) VALUES (8, 0)
  orders different 5 order_lines[0] < INSERT INTO order_lines (order_id, position) VALUES (5, 0)
  orders different 77 order_lines[3] < INSERT INTO order_lines (order_id, position) VALUES (77, 3)
  orders different 1 order_lines[0], orders different 1 order_lines[9] <
    UPDATE order_lines SET position = 9 WHERE order_id = 1 AND position = 0
  receipts different 10 document_id < UPDATE receipts SET document_id = 2 WHERE id = 10
  receipts different 10 document_type < UPDATE receipts SET document_type = 'x' WHERE id = 10
  people different 3 _raw < UPDATE _raw_people SET json = '{}' WHERE id = 3
  people different 3 _raw < DELETE FROM _raw_people WHERE id = 3
  people different 1 _fence.gone < UPDATE _fence_people SET gone = 1 WHERE id = 1
  people different 3 _fence.gone < UPDATE _fence_people SET gone = 0 WHERE id = 3
  orders different 1 _fence.source < UPDATE _fence_orders SET source = 'preview' WHERE id = 1
  orders different 8 _fence.source < UPDATE _fence_orders SET source = 'detail' WHERE id = 8
  people different 1 _fence < DELETE FROM _fence_people WHERE id = 1
  people missing 77, people different 77 _fence, people different 77 _changes <
    INSERT INTO _raw_people VALUES (77, '{"id":77,"name":"x","email":null,"score":1}')
  people different 2 _fence.last_change < UPDATE _fence_people SET last_change = NULL WHERE id = 2
  people different 1 _changes < DELETE FROM _change_log WHERE resource = 'people' AND record_id = 1
`);

/** What only the service knows: named until the next run has read it. */
const queued = woundsIn(`
  people different 1 _raw < UPDATE _raw_people SET json = replace(json, 'n1', 'x') WHERE id = 1
  people different 1 _raw < UPDATE _raw_people SET json = '{"id":' WHERE id = 1
  people extra 1 < DELETE FROM _raw_people WHERE id = 1
  orders different 8 _raw < UPDATE _raw_orders SET json = '{}' WHERE id = 8
  people missing 1 < DELETE FROM _raw_people WHERE id = 1; DELETE FROM people WHERE id = 1
`);

async function expectReplayable(mirror: Mirror): Promise<void> {
  for (const name of ["people", "orders", "receipts"])
    expect(replay(loggedChanges(mirror).filter(({ resource }) => resource === name))).toEqual(
      liveRecords(mirror, name),
    );
}

describe("a mirror that is sound", () => {
  test("has nothing to name, and is not written by a repair", async () => {
    const mirror = await aFullShop();
    expect(named(await check(mirror))).toEqual([]);
    expect(await repair(mirror)).toEqual({ repaired: 0, queued: 0 });
    expect((await check(mirror)).match).toBe(true);
    expect(rows(mirror, "SELECT count(*) AS n FROM _work")).toEqual([{ n: 0 }]);
  });
});

test("a payment that names its owner itself is not accused by a document that listed it before", async () => {
  const mirror = await aFullShop();
  const slice = Buffer.from('{"id":10,"documentType":"order","documentId":2,"amount":2}');
  const stamp = stampOf(mirror);
  mirror.apply(() => mirror.table("receipts").put({ stamp, id: 10, slice, source: "list" }));
  expect(named(await check(mirror))).toEqual([]);
});

describe("damage by SQL", () => {
  // Fault: data | wounds of rows, child rows, tombstones, JSON, fences and changes | SQL on the mirror | `verify --local` names and heals each
  test.each(healed)("named as %s, and healed: %s", async (expected, sql = "") => {
    const mirror = await aFullShop();
    const tables = dump(mirror);
    mirror.db.exec(sql);
    const found = await check(mirror);
    expect(named(found).join(", ")).toBe(expected);
    await repair(mirror);
    expect(named(await check(mirror))).toEqual([]);
    await expectReplayable(mirror);
    if (!sql.includes("77, '{")) expect(dump(mirror)).toEqual(tables);
  });

  // Fault: data | JSON of a record that is wrong or lost | SQL on the mirror | named, and queued for the next run
  test.each(queued)("named as %s, and queued for the next run: %s", async (expected, sql = "") => {
    const mirror = await aFullShop();
    mirror.db.exec(sql);
    expect(named(await check(mirror)).join(", ")).toBe(expected);
    expect(await repair(mirror)).toEqual({ repaired: 1, queued: 1 });
    expect(rows(mirror, "SELECT kind, reason FROM _work")).toEqual([{ kind: "detail", reason: "repair" }]);
    expect(named(await check(mirror)).join(", ")).toBe(expected);
    put(mirror, "people", person(1), { source: "detail" });
    put(mirror, "orders", order(8), { source: "detail" });
    expect(named(await check(mirror))).toEqual([]);
  });
});

/** What people read. */
function dump(mirror: Mirror) {
  return ["people", "orders", "order_lines", "receipts", "notes"].map((table) =>
    rows(mirror, `SELECT * FROM ${table}`).map(({ _synced_at, _detail_at, _deleted_at, ...row }) => ({
      ...row,
      isDeleted: _deleted_at !== null,
      isProvisional: _detail_at === null,
    })),
  );
}
