import { describe, expect, test } from "vitest";
import { aFullShop, check, named, order, person, repair, woundsIn } from "../support/mirror/local-check.ts";
import { allChanges, liveRecords, put, replay, rows } from "../support/mirror/store.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { silentLog } from "../../src/base/logger.ts";
import { verifyLocally } from "../../src/verify/local/repair-locally.ts";
import { stillClock } from "../support/mirror/run.ts";
import { about, deliveryOf, shopWithEvents } from "../support/webhook/webhook.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { CompanyIngest } from "../../src/webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../src/webhook/keys/keyring.ts";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/store/database.ts";
import { rejectionOf } from "../support/errors.ts";
import { declarationOf } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";

/** People 3 and order 5 are deleted, order 8 is provisional, 77 is nothing, all others are live. A block is of one mirror. */
const healed = `
  people different 1 name < UPDATE people SET name = 'x' WHERE id = 1
  people different 2 nickname < UPDATE people SET nickname = 1 WHERE id = 2
  people missing 3 < DELETE FROM people WHERE id = 3
  people extra 77 < INSERT INTO people (id, name, _synced_at) VALUES (77, 'x', '')
  orders different 1 total < UPDATE orders SET total = 10.26 WHERE id = 1
  orders different 8 number < UPDATE orders SET number = 'x' WHERE id = 8
  orders different 5 order_lines[0] < INSERT INTO order_lines (order_id, position) VALUES (5, 0)
  orders different 77 order_lines[3] < INSERT INTO order_lines (order_id, position) VALUES (77, 3)

  people different 1 email < UPDATE people SET email = '' WHERE id = 1
  people different 2 _fence.last_change < UPDATE _fence_people SET last_change = NULL WHERE id = 2
  people different 3 _deleted_at < UPDATE people SET _deleted_at = NULL WHERE id = 3
  people extra 77 < INSERT INTO people (id, name, _synced_at, _deleted_at) VALUES (77, 'x', '', '')
  orders different 1 _detail_at < UPDATE orders SET _detail_at = NULL WHERE id = 1
  orders different 8 remark < UPDATE orders SET remark = 'x' WHERE id = 8

  people different 1 score < UPDATE people SET score = NULL WHERE id = 1
  people different 3 name < UPDATE people SET name = 'x' WHERE id = 3
  orders different 1 order_lines[1].title <
    UPDATE order_lines SET title = 'x' WHERE order_id = 1 AND position = 1
  orders missing 8 < DELETE FROM orders WHERE id = 8

  people missing 1 < DELETE FROM people WHERE id = 1
  people different 3 _raw < UPDATE _raw_people SET json = '{}' WHERE id = 3
  orders different 1 order_lines[0] < DELETE FROM order_lines WHERE order_id = 1 AND position = 0
  orders different 8 _detail_at < UPDATE orders SET _detail_at = 'x' WHERE id = 8

  people different 1 _deleted_at < UPDATE people SET _deleted_at = 'x' WHERE id = 1
  people different 3 _raw < DELETE FROM _raw_people WHERE id = 3
  orders different 1 order_lines[2] < INSERT INTO order_lines (order_id, position) VALUES (1, 2)
  orders different 8 order_lines[0] < INSERT INTO order_lines (order_id, position) VALUES (8, 0)

  people different 1 _fence.gone < UPDATE _fence_people SET gone = 1 WHERE id = 1
  people different 3 _fence.gone < UPDATE _fence_people SET gone = 0 WHERE id = 3
  orders different 1 order_lines[0], orders different 1 order_lines[9] <
    UPDATE order_lines SET position = 9 WHERE order_id = 1 AND position = 0
  orders different 8 _fence.source < UPDATE _fence_orders SET source = 'detail' WHERE id = 8

  people different 1 _fence < DELETE FROM _fence_people WHERE id = 1
  orders different 1 _fence.source < UPDATE _fence_orders SET source = 'preview' WHERE id = 1

  people different 1 _changes < DELETE FROM _change_log WHERE resource = 'people' AND record_id = 1
  receipts different 10 document_id < UPDATE receipts SET document_id = 2 WHERE id = 10

  people missing 77, people different 77 _fence, people different 77 _changes <
    INSERT INTO _raw_people VALUES (77, '{"id":77,"name":"x","email":null,"score":1}')

  receipts different 10 document_type < UPDATE receipts SET document_type = 'x' WHERE id = 10
`;

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
    expect(replay(allChanges(mirror, name))).toEqual(liveRecords(mirror, name));
}

test("a sound mirror has nothing to name, and is not written by a repair", async () => {
  const mirror = await aFullShop();
  expect(named(await check(mirror))).toEqual([]);
  expect(await repair(mirror)).toEqual({ repaired: 0, queued: 0 });
  expect(await check(mirror)).toMatchObject({ match: true });
  expect(rows(mirror, "SELECT count(*) AS n FROM _work")).toEqual([{ n: 0 }]);
});

test("a payment that names its owner itself is not accused by a document that listed it before", async () => {
  const mirror = await aFullShop();
  put(mirror, "receipts", { id: 10, documentType: "order", documentId: 2, amount: 2 });
  expect(named(await check(mirror))).toEqual([]);
});

describe("damage by SQL", () => {
  // Fault: data | wounds of rows, child rows, tombstones, JSON, fences and changes | SQL on the mirror | `verify --local` names and heals each
  test.each(
    healed.split("\n\n").map((block) => {
      const wounds = woundsIn(block);
      return [wounds.map(([name]) => name).join(", "), wounds.map(([, sql]) => sql).join("; ")] as const;
    }),
  )("named as %s, and healed: %s", async (expected, sql) => {
    const mirror = await aFullShop();
    const tables = dump(mirror);
    mirror.db.exec(sql);
    expect(named(await check(mirror)).toSorted()).toEqual(expected.split(", ").toSorted());
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

const shop = shopWithEvents();

/** A full shop with two events that wait for their reads, and one of an unknown type. */
async function aShopWithEvents(): Promise<Mirror> {
  const mirror = await aFullShop(shop);
  const selected = new Set(mirror.declaration.resources.map(({ name }) => name));
  const queue = new WorkQueue(mirror.db);
  const ingest = new CompanyIngest({ mirror, queue, selected, keyring: emptyKeyring });
  const events = [about(1), about(2), about(1, "people.exploded")];
  const deliveries = events.map((text) => deliveryOf(text));
  ingest.store(deliveries, stillClock.nowMs());
  return mirror;
}

/** Work that nothing can read, by how it is named: resource, target, kind, lane, state and payload. */
const oddWork = {
  "ghosts id:1 (no resource ghosts)": "'ghosts', 'id:1', 'detail', 2, 'ready', NULL",
  "people id:7 (kind stare)": "'people', 'id:7', 'stare', 2, 'ready', NULL",
  "people id:8 (lane 99)": "'people', 'id:8', 'detail', 99, 'ready', NULL",
  "people id:9 (state lost)": "'people', 'id:9', 'detail', 2, 'lost', NULL",
  "people id:x (target)": "'people', 'id:x', 'detail', 2, 'ready', NULL",
  "people page::1 (target)": "'people', 'page::1', 'detail', 2, 'ready', NULL",
  "people page::2 (payload)": "'people', 'page::2', 'list', 1, 'ready', '{'",
  "colours id:1 (target)": "'colours', 'id:1', 'detail', 2, 'ready', NULL",
};

/** What is named for a wound, and the SQL that made it. */
const wounds = `
  people different 2 _changes < UPDATE _change_log SET next_seq = NULL
    WHERE next_seq IS NOT NULL AND resource = 'people' AND record_id = 2 AND op = 'insert'
  orders different 1 _changes < UPDATE _change_log SET next_seq = 1 WHERE resource = 'orders' AND record_id = 1
  people different 2 _changes < DELETE FROM _change_log WHERE resource = 'people' AND record_id = 2 AND op = 'insert'
  people different 1 _changes < UPDATE _change_log SET op = 'x' WHERE resource = 'people' AND record_id = 1
  change log < DELETE FROM _reads WHERE id = 2
  inbox < DELETE FROM _work WHERE target = 'id:2'
  inbox < DELETE FROM _work
  inbox < UPDATE _inbox SET dirty_seq = NULL WHERE seq = 1
  inbox < UPDATE _inbox SET state = 'x' WHERE seq = 1
  inbox < INSERT INTO _inbox (event_id, received_at, body, state)
    SELECT event_id, received_at, body, 'unknown' FROM _inbox WHERE seq = 1
  inbox < INSERT OR REPLACE INTO _meta VALUES ('inbox_filed', '3'); DELETE FROM _inbox_ids
  listing < INSERT INTO _listing_pages (resource, variant, page, ids) VALUES ('people', '', 1, '')
  listing < INSERT INTO _listings
    (resource, variant, run, attempt, started_seq, started_at, per_page, pages, total, steady)
    VALUES ('people', '', 1, 1, 1, '', 2, 3, 5, 1)
  sequence < UPDATE _meta SET value = '1' WHERE key = 'seq'
  schema < DROP INDEX _work_next
  schema < DROP TABLE _parents
  schema < DROP TABLE notes
  schema < DROP TABLE order_lines
  schema < ALTER TABLE people DROP COLUMN email
`;

function verify(path: string, declaration = declarationOf()) {
  return verifyLocally(path, declaration, { repair: true, clock: stillClock, log: silentLog });
}

describe("what stands beside the records", () => {
  // Fault: data | wounds of queue, inbox, listings, change log and tables | SQL on the mirror | `verify --local` names and heals each
  test.each(woundsIn(wounds))("named as %s, and healed: %s", async (expected, sql = "") => {
    const mirror = await aShopWithEvents();
    mirror.db.exec(sql);
    mirror.close();
    const { found, result, repair: done } = await verify(mirror.db.name, shop);
    expect([named(found), named(result)]).toEqual([[expected], []]);
    expect(done).not.toBeNull();
  });

  test("is healed where nothing can read what is queued: each item is named", async () => {
    const mirror = await aShopWithEvents();
    const columns = "due_ms, reason, dirty_seq, resource, target, kind, lane, state, payload";
    for (const row of Object.values(oddWork))
      mirror.db.exec(`INSERT INTO _work (${columns}) VALUES (0, 'new', 1, ${row})`);
    mirror.close();
    const { found, result } = await verify(mirror.db.name, shop);
    const message = `work that nothing can read: ${Object.keys(oddWork).join(", ")}.`;
    expect([found.problems, named(result)]).toMatchObject([[{ kind: "queue", message }], []]);
  });

  // Fault: data | own facts and runs that are no JSON or lack what they need, no identity | SQL on the mirror | `verify --local` names each; nothing makes them again
  test.each([
    "UPDATE _runs SET report = '{'",
    "UPDATE _runs SET swept = '[]'",
    "UPDATE _meta SET value = 'x' WHERE key = 'seq'",
    "UPDATE _meta SET value = '{}' WHERE key = 'identity'",
    "DELETE FROM _meta WHERE key = 'identity'",
  ])("is named where no repair can make it again: %s", async (sql) => {
    const mirror = await aFullShop();
    const identity = JSON.stringify({ name: "Shop", salt: "s", fingerprint: "f", businessId: null });
    mirror.db.exec(`INSERT INTO _runs (mode, started_at, pid) VALUES ('full', '', 1);
      INSERT INTO _meta VALUES ('identity', '${identity}')`);
    expect(named(await check(mirror))).toEqual([]);
    mirror.db.exec(sql);
    expect((await check(mirror)).problems).toMatchObject([
      { kind: "schema", hint: expect.stringContaining("Restore") },
    ]);
  });
});

/** The file of a full shop that nobody has open. */
async function closedShop(): Promise<string> {
  const mirror = await aFullShop();
  mirror.db.pragma("wal_checkpoint(TRUNCATE)");
  mirror.close();
  return mirror.db.name;
}

/** Runs SQL on the schema table, which SQLite reads at the next opening. */
function onSchema(path: string, sql: string): void {
  const db = openDatabase(path);
  db.unsafeMode();
  db.pragma("writable_schema = ON");
  db.exec(sql);
  db.close();
}

// Fault: disk | an index lacks rows | the mirror's file | named, and made anew
test("an index that lacks rows is named and made anew", async () => {
  const path = await closedShop();
  onSchema(
    path,
    `CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name = '_work_turns';
     DELETE FROM sqlite_master WHERE name = '_work_turns'`,
  );
  onSchema(
    path,
    `INSERT INTO _work (resource, target, kind, lane, due_ms, reason, dirty_seq) VALUES ('people', 'id:1', 'detail', 2, 0, 'new', 1);
     INSERT INTO sqlite_master SELECT * FROM kept; DROP TABLE kept`,
  );
  const { found, result } = await verify(path);
  const message = "row 1 missing from index _work_turns";
  expect(found.problems).toMatchObject([{ kind: "integrity", message }]);
  expect(result).toMatchObject({ match: true });
});

// Fault: disk | overwritten pages | the mirror's file | named, and left as it is
test("a file with overwritten pages is named, and left as it is", async () => {
  const path = await closedShop();
  const db = openDatabase(path);
  const roots = "SELECT rootpage FROM sqlite_master WHERE name IN ('people', '_raw_people', 'orders')";
  const pages = db.prepare(roots).pluck().all() as number[];
  db.close();
  const file = openSync(path, "r+");
  for (const page of pages) writeSync(file, Buffer.alloc(512, 7), 0, 512, (page - 1) * 4_096);
  closeSync(file);
  const { found, repair: done } = await verify(path);
  expect(found).toMatchObject({ match: false });
  expect(found.problems[0]).toMatchObject({ kind: "integrity", hint: expect.stringContaining("Restore") });
  expect(done).toBeNull();
});

test("what is no mirror is refused", async () => {
  const path = join(tempFolder(), "none.db");
  openDatabase(path).close();
  expect(await rejectionOf(verify(path))).toMatchObject({ kind: "database" });
});
