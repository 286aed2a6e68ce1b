import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { verifyLocally } from "../../src/verify/local/repair-locally.ts";
import { aFullShop, check, named, woundsIn } from "../support/mirror/local-check.ts";
import { rows } from "../support/mirror/store.ts";
import { stillClock } from "../support/mirror/run.ts";
import { about, deliveryOf, shopWithEvents } from "../support/webhook/webhook.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { CompanyIngest } from "../../src/webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../src/webhook/keys/keyring.ts";
import type { Mirror } from "../../src/state/mirror.ts";

const shop = shopWithEvents();

/** A full shop with two events that wait for their reads, and one of an unknown type. */
async function aShopWithEvents(): Promise<Mirror> {
  const mirror = await aFullShop(shop);
  const selected = new Set(mirror.manifest.resources.map(({ name }) => name));
  const queue = new WorkQueue(mirror.db);
  const ingest = new CompanyIngest({ mirror, queue, selected, keyring: emptyKeyring });
  const events = [about(1), about(2), about(1, "people.exploded")];
  ingest.store(
    events.map((text) => deliveryOf(text)),
    stillClock.nowMs(),
  );
  return mirror;
}

/** Work that nothing can read: resource, target, kind, lane, state and payload. */
const oddWork: readonly (readonly [string, string, string, number, string?, string?])[] = [
  ["ghosts", "id:1", "detail", 2],
  ["people", "id:7", "stare", 2],
  ["people", "id:7", "detail", 99],
  ["people", "id:7", "detail", 2, "'lost'"],
  ["people", "id:x", "detail", 2],
  ["people", "page::1", "detail", 2],
  ["people", "page::2", "list", 1, "'ready'", "'{'"],
  ["colours", "id:1", "detail", 2],
];

const workOf = ([
  resource,
  target,
  kind,
  lane,
  state = "'ready'",
  payload = "NULL",
]: (typeof oddWork)[number]) =>
  `INSERT INTO _work (resource, target, kind, lane, due_ms, reason, dirty_seq, state, payload)
    VALUES ('${resource}', '${target}', '${kind}', ${lane}, 0, 'new', 1, ${state}, ${payload})`;

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

function verify({ db, manifest }: Mirror) {
  return verifyLocally(db.name, manifest, { repair: true, clock: stillClock, log: silentLog });
}

describe("what stands beside the records", () => {
  test("is sound in a healthy mirror with events", async () => {
    expect(named(await check(await aShopWithEvents()))).toEqual([]);
  });

  // Fault: data | wounds of queue, inbox, listings, change log and tables | SQL on the mirror | `verify --local` names and heals each
  test.each([...woundsIn(wounds), ...oddWork.map((row) => ["queue", workOf(row)])])(
    "named as %s, and healed: %s",
    async (expected, sql = "") => {
      const mirror = await aShopWithEvents();
      mirror.db.exec(sql);
      mirror.close();
      const { found, result, repair } = await verify(mirror);
      expect([named(found), named(result)]).toEqual([[expected], []]);
      expect(repair).not.toBeNull();
    },
  );

  test("queues the read of each event that waits, once", async () => {
    const mirror = await aShopWithEvents();
    const before = rows(mirror, "SELECT resource, target, kind, lane FROM _work ORDER BY target");
    expect(before).toHaveLength(2);
    mirror.db.exec("DELETE FROM _work");
    await verify(mirror);
    expect(rows(mirror, "SELECT resource, target, kind, lane FROM _work ORDER BY target")).toEqual(before);
  });
});
