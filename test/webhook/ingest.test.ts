import { describe, expect } from "vitest";
import { InboxView } from "../../src/state/inbox/inbox.ts";
import { deliveryOf, about, openIngest, eventText, test } from "../support/webhook/webhook.ts";
import type { OpenIngest } from "../support/webhook/webhook.ts";
import { allChanges, rows, texts, written } from "../support/mirror/store.ts";

const nowMs = Date.UTC(2026, 2, 1, 12);

function take({ ingest }: OpenIngest, ...bodies: (string | Buffer)[]) {
  const deliveries = bodies.map((body) => deliveryOf(body));
  return ingest.store(deliveries, nowMs);
}

function work({ mirror }: OpenIngest) {
  return rows(mirror, "SELECT kind, resource, target, lane, reason, state FROM _work ORDER BY id");
}

function inbox({ mirror }: OpenIngest) {
  return new InboxView(mirror.db).list({ most: 100 });
}

describe("an event is stored together with what it leads to", () => {
  test("its mark in the first lane of the queue, and the inbox row that waits for the read", async () => {
    const shop = await openIngest();
    const text = about(17);
    const [result] = take(shop, text);
    const facts = { outcome: "stored", resource: "people", id: 17, state: "waiting" };
    expect(result).toMatchObject(facts);
    const mark = { kind: "detail", resource: "people", target: "id:17", lane: 0, reason: "people.updated" };
    expect(work(shop)).toEqual([{ ...mark, state: "ready" }]);
    const [occurred_at, received_at] = ["2026-03-01T00:00:00Z", "2026-03-01T12:00:00.000Z"];
    const times = { occurred_at, received_at, done_at: null };
    const about17 = { resource_type: "person", resource_id: 17, resource: "people" };
    const waiting = { state: "waiting", outcome: null, work: { state: "ready", error: null, attempts: 0 } };
    expect(inbox(shop)).toMatchObject([{ event_id: result?.eventId, ...times, ...about17, ...waiting }]);
    expect(rows(shop.mirror, "SELECT body FROM _inbox")).toEqual([{ body: text }]);
  });

  test("I4 the mark is newer than every read that is out", async ({ shop }) => {
    const sentSeq = shop.mirror.sequence.next();
    take(shop, about(17));
    expect(rows(shop.mirror, "SELECT dirty_seq > ? AS newer FROM _work", sentSeq)).toEqual([{ newer: 1 }]);
    expect(rows(shop.mirror, "SELECT dirty_seq > ? AS newer FROM _inbox", sentSeq)).toEqual([{ newer: 1 }]);
  });

  test("I7 I12 ids with U+0000 are kept apart, each once", async () => {
    const { ingest, mirror } = await openIngest();
    const deliveries = ["evt", "evt\0", "evt\0a", "evt\0b"].map((id) => deliveryOf(eventText({ id })));
    const outcomes = () => ingest.store(deliveries, Date.now()).map(({ outcome }) => outcome);
    expect(outcomes()).toEqual(deliveries.map(() => "stored"));
    expect(outcomes()).toEqual(deliveries.map(() => "duplicate"));
    const ids = texts(mirror, "SELECT event_id FROM _inbox ORDER BY seq");
    expect(ids).toEqual(deliveries.map(({ eventId }) => eventId));
  });

  test("an id beyond 2^53 is the same one everywhere", async ({ shop }) => {
    const body = '{"id":"far","type":"people.updated","resource":{"type":"person","id":9007199254740993}}';
    take(shop, body);
    expect(work(shop)).toMatchObject([{ target: "id:9007199254740993" }]);
    expect(inbox(shop)).toMatchObject([{ resource_id: 9_007_199_254_740_993n }]);
  });

  test("a deletion is a reason to ask, also where changes of the same record come with it", async () => {
    const shop = await openIngest();
    take(shop, about(1), about(1, "people.deleted"), about(1));
    expect(work(shop)).toMatchObject([{ kind: "confirm", target: "id:1" }]);
  });
});

describe("I7: a duplicate changes nothing", () => {
  test("copies, and another body of the same id, write not one row in the whole database, together or one after the other", async () => {
    const shop = await openIngest();
    const bodies = ["people.updated", "people.deleted"].map((type) => eventText({ id: "evt-1", type }));
    const outcomes = () => take(shop, ...bodies).map(({ outcome }) => outcome);
    expect(outcomes()).toEqual(["stored", "duplicate"]);
    expect(work(shop)).toMatchObject([{ kind: "detail" }]);
    const before = written(shop.mirror);
    for (let i = 0; i < 3; i++) expect(outcomes()).toEqual(["duplicate", "duplicate"]);
    expect(written(shop.mirror)).toBe(before);
  });

  test("an event that leads to no read is replayed without a second row in the change log", async () => {
    const shop = await openIngest();
    take(shop, about(2, "foreign-bills.paid", "foreignBill"), "not json");
    const ids = inbox(shop).map((one) => one.event_id);
    const before = [inbox(shop), allChanges(shop.mirror)];
    const replayed = { queued: 0, unread: 2, missing: [], pruned: [] };
    expect(shop.ingest.replay(ids, nowMs + 60_000)).toEqual(replayed);
    expect([inbox(shop), allChanges(shop.mirror)]).toEqual(before);
  });
});

describe("I12: what leads to no read is kept, and reported", () => {
  test("an event of something without a route: in the inbox and, as it came, in the change log", async () => {
    const shop = await openIngest();
    const text = about(9, "foreign-bills.paid", "foreignBill");
    take(shop, about(1), text, about(2));
    expect(work(shop)).toHaveLength(2);
    const event = { seq: 1, resource: "foreign_bills", recordId: 9, op: "event", before: null, after: text };
    const came = { at: "2026-03-01T12:00:00.000Z", cause: "webhook", requestId: null };
    expect(allChanges(shop.mirror)).toEqual([{ ...event, ...came }]);
    expect(new InboxView(shop.mirror.db).counts()).toEqual({ waiting: 2, kept: 1 });
  });

  test.each([
    ["a type that nobody knows", eventText({ type: "people.merged" })],
    ["no type", eventText({ type: null })],
    ["another resource.type than that of its type", about(1, "people.updated", "order")],
    ["an id that is no record's", eventText({ resource: { type: "person", id: -1 } })],
    ["no resource", eventText({ resource: null })],
  ])("%s is unknown, with the reason", async (_, text) => {
    const shop = await openIngest();
    expect(take(shop, text)).toMatchObject([{ outcome: "stored", state: "unknown" }]);
    expect(work(shop)).toEqual([]);
    const unknown = { state: "unknown", resource: null, problem: expect.any(String) as string };
    expect(inbox(shop)).toMatchObject([unknown]);
    expect(rows(shop.mirror, "SELECT body FROM _inbox")).toEqual([{ body: text }]);
  });

  test("an event of a table that is not mirrored is excluded, and nobody reads it", async () => {
    const shop = await openIngest({ selected: ["orders"] });
    take(shop, about(1), about(2, "orders.updated", "order"));
    expect(work(shop)).toMatchObject([{ resource: "orders" }]);
    expect(new InboxView(shop.mirror.db).counts()).toEqual({ excluded: 1, waiting: 1 });
  });
});

// Fault: disk | the transaction that stores events fails | the ingest's transaction | neither events nor work nor changes (I1)
test("I1 a transaction that fails leaves neither events nor work nor changes", async ({ shop }) => {
  const bodies = [about(1), about(2, "foreign-bills.paid", "foreignBill"), "not json"];
  shop.mirror.db.exec(
    "CREATE TRIGGER broken BEFORE INSERT ON _work BEGIN SELECT RAISE(ABORT, 'no room'); END",
  );
  expect(() => take(shop, ...bodies)).toThrow("no room");
  expect([shop.count("_inbox"), allChanges(shop.mirror)]).toEqual([0, []]);
  shop.mirror.db.exec("DROP TRIGGER broken");
  expect(take(shop, ...bodies).map(({ outcome }) => outcome)).toEqual(["stored", "stored", "stored"]);
  expect(allChanges(shop.mirror)).toHaveLength(1);
});
