import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { verifyLocally } from "../../src/verify/local/repair-locally.ts";
import { aFullShop, check, named } from "../support/mirror/local-check.ts";
import { rows } from "../support/mirror/store.ts";
import { stillClock } from "../support/mirror/run.ts";
import { about, deliveryOf, shopWithEvents } from "../support/webhook/webhook.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { CompanyIngest } from "../../src/webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../src/webhook/keys/keyring.ts";
import type { Mirror } from "../../src/state/mirror.ts";

/** A full shop with two events that wait for their reads, and one of an unknown type. */
async function aShopWithEvents(): Promise<Mirror> {
  const mirror = await aFullShop(shopWithEvents());
  const selected = new Set(mirror.manifest.resources.map(({ name }) => name));
  const ingest = new CompanyIngest({
    mirror,
    queue: new WorkQueue(mirror.db),
    selected,
    keyring: emptyKeyring,
  });
  ingest.store(
    [about(1), about(2), about(1, "people.exploded")].map((text) => deliveryOf(text)),
    stillClock.nowMs(),
  );
  return mirror;
}

const wounds: readonly (readonly [string, string, readonly string[]])[] = [
  [
    "a change that names no next one",
    "UPDATE _change_log SET next_seq = NULL WHERE next_seq IS NOT NULL AND resource = 'people' AND record_id = 2 AND op = 'insert'",
    ["people different 2 _changes"],
  ],
  [
    "a change that names another record's",
    "UPDATE _change_log SET next_seq = 1 WHERE resource = 'orders' AND record_id = 1",
    ["orders different 1 _changes"],
  ],
  [
    "a first change that is gone",
    "DELETE FROM _change_log WHERE resource = 'people' AND record_id = 2 AND op = 'insert'",
    ["people different 2 _changes"],
  ],
  [
    "a change of another kind",
    "UPDATE _change_log SET op = 'x' WHERE resource = 'people' AND record_id = 1",
    ["people different 1 _changes"],
  ],
  ["a change whose read is gone", "DELETE FROM _reads WHERE id = 2", ["change log"]],
  ["work of a resource that is not there", work("ghosts", "id:1", "detail", 2), ["queue"]],
  ["work of an unknown kind", work("people", "id:7", "stare", 2), ["queue"]],
  ["work of an unknown lane", work("people", "id:7", "detail", 99), ["queue"]],
  ["work in an unknown state", work("people", "id:7", "detail", 2, "'lost'"), ["queue"]],
  ["work with a target that is none", work("people", "id:x", "detail", 2), ["queue"]],
  ["work with another kind's target", work("people", "page::1", "detail", 2), ["queue"]],
  ["work with a payload that is no JSON", work("people", "page::2", "list", 1, "'ready'", "'{'"), ["queue"]],
  ["a record without a route", work("colours", "id:1", "detail", 2), ["queue"]],
  ["an event whose read is not queued", "DELETE FROM _work WHERE target = 'id:2'", ["inbox"]],
  ["all events' reads gone", "DELETE FROM _work", ["inbox"]],
  ["an event without its number", "UPDATE _inbox SET dirty_seq = NULL WHERE seq = 1", ["inbox"]],
  ["an event in an unknown state", "UPDATE _inbox SET state = 'x' WHERE seq = 1", ["inbox"]],
  [
    "an event that is stored twice",
    `INSERT INTO _inbox (event_id, received_at, body, state) SELECT event_id, received_at, body, 'unknown' FROM _inbox WHERE seq = 1`,
    ["inbox"],
  ],
  [
    "an event that is not filed",
    "INSERT OR REPLACE INTO _meta VALUES ('inbox_filed', '3'); DELETE FROM _inbox_ids",
    ["inbox"],
  ],
  [
    "a page of no list",
    "INSERT INTO _listing_pages (resource, variant, page, ids) VALUES ('people', '', 1, '')",
    ["listing"],
  ],
  [
    "a list without pages",
    `INSERT INTO _listings (resource, variant, run, attempt, started_seq, started_at, per_page, pages, total, steady)
      VALUES ('people', '', 1, 1, 1, '', 2, 3, 5, 1)`,
    ["listing"],
  ],
  ["a sequence set back", "UPDATE _meta SET value = '1' WHERE key = 'seq'", ["sequence"]],
  ["an index that is gone", "DROP INDEX _work_next", ["schema"]],
  ["an own table that is gone", "DROP TABLE _parents", ["schema"]],
  ["a typed table that is gone", "DROP TABLE notes", ["schema"]],
  ["a child table that is gone", "DROP TABLE order_lines", ["schema"]],
  ["a column that is gone", "ALTER TABLE people DROP COLUMN email", ["schema"]],
];

function work(
  resource: string,
  target: string,
  kind: string,
  lane: number,
  state = "'ready'",
  payload = "NULL",
) {
  return `INSERT INTO _work (resource, target, kind, lane, due_ms, reason, dirty_seq, state, payload)
    VALUES ('${resource}', '${target}', '${kind}', ${lane}, 0, 'new', 1, ${state}, ${payload})`;
}

function verify(mirror: Mirror, repair: boolean) {
  return verifyLocally(mirror.db.name, mirror.manifest, { repair, clock: stillClock, log: silentLog });
}

describe("what stands beside the records", () => {
  test("is sound in a healthy mirror with events", async () => {
    expect(named(await check(await aShopWithEvents()))).toEqual([]);
  });

  // Fault: data | wounds of queue, inbox, listings, change log and tables | SQL on the mirror | `verify --local` names and heals each
  test.each(wounds)("%s: is named and healed", async (_name, sql, expected) => {
    const mirror = await aShopWithEvents();
    mirror.db.exec(sql);
    const path = mirror.db.name;
    const { found } = await verify(mirror, false);
    expect(named(found)).toEqual(expected);
    mirror.close();
    const { result, repair } = await verify(mirror, true);
    expect(named(result)).toEqual([]);
    expect(repair).not.toBeNull();
    expect(path).toBe(mirror.db.name);
  });

  test("queues the read of each event that waits, once", async () => {
    const mirror = await aShopWithEvents();
    const before = rows(mirror, "SELECT resource, target, kind, lane FROM _work ORDER BY target");
    expect(before).toHaveLength(2);
    mirror.db.exec("DELETE FROM _work");
    await verify(mirror, true);
    expect(rows(mirror, "SELECT resource, target, kind, lane FROM _work ORDER BY target")).toEqual(before);
  });
});
