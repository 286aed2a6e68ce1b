import * as fc from "fast-check";
import { describe, expect } from "vitest";
import { Inbox, InboxView } from "../../src/state/inbox/inbox.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { allChanges, texts } from "../support/mirror/store.ts";
import {
  about,
  counted,
  deliveryOf,
  eventText,
  openIngest,
  shopWithEvents,
  type OpenIngest,
} from "../support/webhook/webhook.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { EventIds } from "../../src/state/inbox/event-ids.ts";
import { openShop, rollBack } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";

const nowMs = Date.UTC(2026, 2, 1, 12);
const completion = { outcome: "updated", requestId: "req-1", at: "2026-03-01T12:00:01.000Z" } as const;

function take({ ingest }: OpenIngest, atMs: number, ...bodies: string[]): string[] {
  const deliveries = bodies.map((body) => deliveryOf(body));
  return ingest.store(deliveries, atMs).map(({ eventId }) => eventId);
}

test("a read completes all events of its record that came before it was sent, with its outcome", async () => {
  const shop = await openIngest();
  const inbox = new Inbox(shop.mirror.db);
  take(shop, nowMs, about(1), about(1), about(2));
  const sentSeq = shop.mirror.sequence.next();
  take(shop, nowMs, about(1));
  const completed = inbox.complete("people", "id:1", sentSeq, completion);
  expect(completed.map(({ type }) => type)).toEqual(["people.updated", "people.updated"]);
  const sql = "SELECT target, state, outcome, request_id, done_at FROM _inbox ORDER BY rowid";
  const [done, waiting] = [`id:1 done updated req-1 ${completion.at}`, "waiting null null null"];
  expect(texts(shop.mirror, sql)).toEqual([done, done, `id:2 ${waiting}`, `id:1 ${waiting}`]);
  expect(inbox.complete("people", "id:1", sentSeq, completion)).toEqual([]);
});

describe("a replay evaluates stored events again", () => {
  test("a new queued item, no second row; a completed event waits again", async () => {
    const shop = await openIngest();
    const { mirror, ingest } = shop;
    const ids = take(shop, nowMs, about(1), about(1), about(2, "people.deleted"));
    mirror.db.exec("DELETE FROM _work");
    const sentSeq = mirror.sequence.next();
    for (const target of ["id:1", "id:2"])
      new Inbox(mirror.db).complete("people", target, sentSeq, completion);
    const replayed = ingest.replay([...ids, "unknown"], nowMs);
    expect(replayed).toEqual({ queued: 3, unread: 0, missing: ["unknown"], pruned: [] });
    expect(counted(mirror, "_inbox")).toBe(3);
    const sql = "SELECT target, kind, lane, dirty_seq > ? AS newer FROM _work ORDER BY id";
    expect(texts(mirror, sql, sentSeq)).toEqual(["id:1 detail 0 1", "id:2 confirm 0 1"]);
    const again = { state: "waiting", outcome: null, done_at: null, request_id: null };
    expect(new InboxView(mirror.db).list({ most: 9 })).toMatchObject([again, again, again]);
  });

  test("I12 an event is evaluated by what is known now: a newer connector, more tables", async () => {
    const path = `${tempFolder()}/shop.db`;
    const declaration = shopWithEvents([]);
    const before = await openIngest({ path, declaration });
    const ids = take(before, nowMs, about(1), about(2, "foreign-bills.paid", "foreignBill"), "not json");
    before.mirror.close();
    const after = await openIngest({ path });
    expect(after.ingest.replay(ids, nowMs)).toEqual({ queued: 1, unread: 2, missing: [], pruned: [] });
    expect(new InboxView(after.mirror.db).counts()).toEqual({ waiting: 1, kept: 1, unreadable: 1 });
    expect(allChanges(after.mirror)).toMatchObject([{ op: "event", resource: "foreign_bills" }]);
  });
});

// Fault: data | an event whose read left the queue | SQL on the queue | found and read (I12)
test("I12 an event whose read left the queue without completing it is found and read", async () => {
  const shop = await openIngest();
  take(shop, nowMs, about(1), about(2));
  shop.mirror.db.exec("DELETE FROM _work WHERE target = 'id:1'");
  expect(shop.ingest.requeueLost(nowMs)).toBe(1);
  expect(texts(shop.mirror, "SELECT target FROM _work ORDER BY target")).toEqual(["id:1", "id:2"]);
  expect(shop.ingest.requeueLost(nowMs)).toBe(0);
});

test("I12 an event whose table is no longer mirrored does not wait, and is kept", async () => {
  const path = `${tempFolder()}/shop.db`;
  const before = await openIngest({ path });
  take(before, nowMs, about(1));
  before.mirror.close();
  const after = await openIngest({ path, selected: [] });
  expect(after.ingest.requeueLost(nowMs)).toBe(0);
  expect(new InboxView(after.mirror.db).counts()).toEqual({ excluded: 1 });
});

const mostUnfiled = 4;
const insert =
  "INSERT INTO _inbox (event_id, type, received_at, body, state) VALUES (?, 'people.updated', '', '{}', 'done')";

/** What the ingest does with each group: true where an event is new. */
function takeIds(mirror: Mirror, ids: EventIds, eventIds: readonly string[], fails = false): boolean[] {
  const statement = mirror.db.prepare(insert);
  const step = () => {
    ids.begin(eventIds);
    const isNew = eventIds.map((eventId) => {
      if (ids.has(eventId)) return false;
      statement.run(eventId);
      ids.add(eventId);
      return true;
    });
    ids.end();
    return isNew;
  };
  if (!fails) return mirror.apply(step);
  rollBack(mirror, step);
  return [];
}

const hundredOf = (group: number) => Array.from({ length: 100 }, (_, i) => `${group} ${i}`);

function filed(mirror: Mirror): number {
  return counted(mirror, "_inbox_ids");
}

describe("I7 an event is known for ever", () => {
  test("with at most some hundreds of ids of each company in memory", ({ mirror }) => {
    const ids = new EventIds(mirror.db);
    for (let group = 0; group < 26; group++) takeIds(mirror, ids, hundredOf(group));
    expect(filed(mirror)).toBeGreaterThan(2_000);
  });

  test("two ids with the same hash are two events, where they are filed", ({ mirror }) => {
    const ids = new EventIds(mirror.db, 1);
    takeIds(mirror, ids, ["a"]);
    takeIds(mirror, ids, ["b"]);
    expect(filed(mirror)).toBe(1);
    mirror.db.exec("UPDATE _inbox SET event_id = 'of the same hash' WHERE event_id = 'a'");
    expect(takeIds(mirror, ids, ["a"])).toEqual([true]);
    expect(ids.find("a")).toBe(3);
  });

  // Fault: process | another connection stores the same event | two connections on the mirror | it is known (I7)
  test("whatever is rolled back, filed, reopened and written by another connection in between", async () => {
    const groups = fc.array(
      fc.record({
        writer: fc.constantFrom("one", "other"),
        ids: fc.array(fc.integer({ min: 0, max: 40 }).map(String), { maxLength: 6 }),
        outcome: fc.constantFrom("kept", "kept", "kept", "rolled back", "reopened"),
      }),
      { maxLength: 40 },
    );
    const mirror = await openShop();
    fc.assert(
      fc.property(groups, (some) => {
        mirror.db.exec(
          "DELETE FROM _inbox; DELETE FROM _inbox_ids; DELETE FROM _meta WHERE key = 'inbox_filed'",
        );
        const known = new Set<string>();
        const open = () => new EventIds(mirror.db, mostUnfiled);
        const memories = { one: open(), other: open() };
        for (const { writer, ids: eventIds, outcome } of some) {
          if (outcome === "reopened") memories[writer] = open();
          const isNew = takeIds(mirror, memories[writer], eventIds, outcome === "rolled back");
          if (outcome === "rolled back") continue;
          expect(isNew).toEqual(eventIds.map((id, i) => !known.has(id) && eventIds.indexOf(id) === i));
          for (const id of eventIds) known.add(id);
        }
        expect(counted(mirror, "_inbox")).toBe(known.size);
        for (let id = 0; id <= 40; id++)
          expect(memories.one.find(String(id)) !== null).toBe(known.has(String(id)));
      }),
      { numRuns: 40 },
    );
  });

  test("while it is there: a deleted one is stored again, also under its number", ({ mirror }) => {
    const ids = new EventIds(mirror.db, mostUnfiled);
    for (const eventId of ["a", "b", "c", "d", "e"]) takeIds(mirror, ids, [eventId]);
    mirror.db.exec("DELETE FROM _inbox WHERE seq > 2");
    expect(takeIds(mirror, ids, ["a", "b", "c", "f"])).toEqual([false, false, true, true]);
    const others = new EventIds(mirror.db, mostUnfiled);
    expect(takeIds(mirror, others, ["c", "f", "g"])).toEqual([false, false, true]);
    expect(takeIds(mirror, ids, ["c", "g", "h"])).toEqual([false, false, true]);
  });
});

describe("events that find their record in the queue", () => {
  // Fault: process | a restart between an event and its read | the sequence of the file | the event is read again (I4)
  test("I4 are not answered by what is sent after a restart but numbered before them", async () => {
    const path = `${tempFolder()}/shop.db`;
    const shop = await openIngest({ path });
    shop.ingest.store([deliveryOf(about(1))], 0);
    for (let i = 0; i < 5; i++) shop.ingest.store([deliveryOf(eventText())], 0);
    const highest = (table: string) =>
      Number(texts(shop.mirror, `SELECT max(dirty_seq) AS seq FROM ${table}`)[0]);
    const latest = highest("_inbox");
    expect(highest("_work")).toBeLessThan(latest);
    shop.mirror.close();
    const again = await openIngest({ path });
    expect(again.mirror.sequence.next()).toBeGreaterThan(latest);
  });
});
