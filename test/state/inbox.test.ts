import { describe, expect, test } from "vitest";
import { isoTime } from "../../src/base/clock.ts";
import { Inbox, InboxView } from "../../src/state/inbox/inbox.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { allChanges, rows, texts } from "../support/mirror/store.ts";
import {
  about,
  openIngest,
  counted,
  deliveryOf,
  eventText,
  shopWithEvents,
  type OpenIngest,
} from "../support/webhook/webhook.ts";

const nowMs = Date.UTC(2026, 2, 1, 12);
const completion = { outcome: "updated", requestId: "req-1", at: "2026-03-01T12:00:01.000Z" } as const;

function take({ ingest }: OpenIngest, atMs: number, ...bodies: string[]): string[] {
  const deliveries = bodies.map((body) => deliveryOf(body));
  return ingest.store(deliveries, atMs).map(({ eventId }) => eventId);
}

test("a read completes all events of its record that came before it was sent, with its outcome", async () => {
  const { mirror, ...shop } = await openIngest();
  const inbox = new Inbox(mirror.db);
  take({ mirror, ...shop }, nowMs, about(1), about(1), about(2));
  const sentSeq = mirror.sequence.next();
  take({ mirror, ...shop }, nowMs, about(1));
  const completed = inbox.complete("people", "id:1", sentSeq, completion);
  expect(completed.map(({ type }) => type)).toEqual(["people.updated", "people.updated"]);
  const stored = rows(
    mirror,
    "SELECT target, state, outcome, request_id, done_at FROM _inbox ORDER BY rowid",
  );
  const done = { state: "done", outcome: "updated", request_id: "req-1", done_at: completion.at };
  const waiting = { state: "waiting", outcome: null, request_id: null, done_at: null };
  expect(stored).toEqual([
    { target: "id:1", ...done },
    { target: "id:1", ...done },
    { target: "id:2", ...waiting },
    { target: "id:1", ...waiting },
  ]);
  expect(inbox.complete("people", "id:1", sentSeq, completion)).toEqual([]);
});

test("the inbox shows the latest first, by state, table or time", async () => {
  const shop = await openIngest();
  const [first] = take(shop, nowMs, about(1));
  const [others, later] = [
    [about(2, "orders.updated", "order"), eventText({ type: "new" })],
    isoTime(nowMs + 1_000),
  ];
  const [second, third] = take(shop, nowMs + 1_000, ...others);
  const view = new InboxView(shop.mirror.db);
  const ids = (filter: object) => view.list({ most: 10, ...filter }).map(({ eventId }) => eventId);
  expect(ids({})).toEqual([third, second, first]);
  expect(ids({ most: 1 })).toEqual([third]);
  expect(ids({ state: "unknown" })).toEqual([third]);
  expect(ids({ resource: "orders" })).toEqual([second]);
  expect(ids({ since: later })).toEqual([third, second]);
  expect([view.waiting(), view.oldestWaiting(), view.lastReceived()]).toEqual([2, isoTime(nowMs), later]);
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
    expect(
      rows(mirror, "SELECT target, kind, lane, dirty_seq > ? AS newer FROM _work ORDER BY id", sentSeq),
    ).toEqual([
      { target: "id:1", kind: "detail", lane: 0, newer: 1 },
      { target: "id:2", kind: "confirm", lane: 0, newer: 1 },
    ]);
    const again = { state: "waiting", outcome: null, doneAt: null, requestId: null };
    expect(new InboxView(mirror.db).list({ most: 9 })).toMatchObject([again, again, again]);
  });

  test("I12 an event is evaluated by what is known now: a newer connector, more tables", async () => {
    const path = `${tempFolder()}/shop.db`;
    const manifest = shopWithEvents([]);
    const before = await openIngest({ path, manifest });
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
