import { describe, expect, test } from "vitest";
import { InboxView } from "../../src/state/inbox/inbox-view.ts";
import { deliveryOf, about, aStation, counted, eventText, type Station } from "../support/webhook.ts";
import { allChanges, rows, written } from "../support/store.ts";

const nowMs = Date.UTC(2026, 2, 1, 12);

function take({ mailbox }: Station, ...texts: (string | Buffer)[]) {
  return mailbox.store(
    texts.map((text) => deliveryOf(text)),
    nowMs,
  );
}

function work({ mirror }: Station) {
  return rows(mirror, "SELECT kind, resource, target, lane, reason, state FROM _work ORDER BY id");
}

function inbox({ mirror }: Station) {
  return new InboxView(mirror.db).list({ most: 100 });
}

describe("an event is stored together with what it leads to", () => {
  test("its mark in the first lane of the queue, and the inbox row that waits for the read", async () => {
    const station = await aStation();
    const text = about(17);
    const [receipt] = take(station, text);
    expect(receipt).toMatchObject({
      fate: "stored",
      resource: "people",
      id: 17,
      state: "waiting",
      problem: null,
    });
    const mark = { kind: "detail", resource: "people", target: "id:17", lane: 0, reason: "people.updated" };
    expect(work(station)).toEqual([{ ...mark, state: "ready" }]);
    expect(inbox(station)).toEqual([
      {
        eventId: receipt?.eventId,
        type: "people.updated",
        resourceType: "person",
        resourceId: 17,
        occurredAt: "2026-03-01T00:00:00Z",
        receivedAt: "2026-03-01T12:00:00.000Z",
        state: "waiting",
        resource: "people",
        target: "id:17",
        settledAt: null,
        outcome: null,
        requestId: null,
        problem: null,
        work: { state: "ready", error: null, attempts: 0 },
      },
    ]);
    expect(rows(station.mirror, "SELECT body FROM _inbox")).toEqual([{ body: text }]);
  });

  test("I4 the mark is newer than every read that is out", async () => {
    const station = await aStation();
    const sentSeq = station.mirror.sequence.next();
    take(station, about(17));
    expect(rows(station.mirror, "SELECT dirty_seq > ? AS newer FROM _work", sentSeq)).toEqual([{ newer: 1 }]);
    expect(rows(station.mirror, "SELECT dirty_seq > ? AS newer FROM _inbox", sentSeq)).toEqual([
      { newer: 1 },
    ]);
  });

  test("an id beyond 2^53 is the same one everywhere", async () => {
    const station = await aStation();
    const body = '{"id":"far","type":"people.updated","resource":{"type":"person","id":9007199254740993}}';
    take(station, body);
    expect(work(station)).toMatchObject([{ target: "id:9007199254740993" }]);
    expect(inbox(station)).toMatchObject([{ resourceId: 9_007_199_254_740_993n }]);
  });

  test("a deletion is a reason to ask, also where a change of the same record comes after or before it", async () => {
    const together = await aStation();
    take(together, about(1), about(1, "people.deleted"), about(1));
    expect(work(together)).toMatchObject([{ kind: "confirm", target: "id:1" }]);
    for (const types of [
      ["people.deleted", "people.updated"],
      ["people.updated", "people.deleted"],
    ]) {
      const apart = await aStation();
      for (const type of types) take(apart, about(1, type));
      expect(work(apart)).toMatchObject([{ kind: "confirm", target: "id:1" }]);
    }
  });

  test("many events about few records are few reads, in one transaction and over many", async () => {
    const station = await aStation();
    const burst = Array.from({ length: 500 }, (_, i) => about(i % 5));
    take(station, ...burst);
    for (const text of burst.slice(0, 50)) take(station, eventText({ resource: JSON.parse(text).resource }));
    expect(work(station)).toHaveLength(5);
    expect(counted(station.mirror, "_inbox")).toBe(550);
  });

  test("an event brings a dead letter back to life", async () => {
    const station = await aStation();
    take(station, about(17));
    station.mirror.db.exec("UPDATE _work SET state = 'dead', error = 'boom', attempts = 5");
    expect(inbox(station)).toMatchObject([{ work: { state: "dead", error: "boom", attempts: 5 } }]);
    take(station, about(17));
    expect(work(station)).toMatchObject([{ state: "ready" }]);
  });
});

describe("I7: an event that is known changes nothing", () => {
  test("copies write not one row in the whole database, together or one after the other", async () => {
    const station = await aStation();
    const text = about(17);
    expect(take(station, text, text, text).map(({ fate }) => fate)).toEqual(["stored", "known", "known"]);
    const before = written(station.mirror);
    for (let i = 0; i < 3; i++)
      expect(take(station, text, text).map(({ fate }) => fate)).toEqual(["known", "known"]);
    expect(written(station.mirror)).toBe(before);
  });

  test("a copy of an event that was dealt with long ago causes no read and no change", async () => {
    const station = await aStation();
    const texts = [
      about(1),
      about(2, "foreign-bills.paid", "foreignBill"),
      eventText({ type: "new" }),
      "not json",
    ];
    take(station, ...texts);
    station.mirror.db.exec("DELETE FROM _work; UPDATE _inbox SET state = 'done' WHERE state = 'waiting'");
    const before = [inbox(station), allChanges(station.mirror)];
    take(station, ...texts);
    expect(work(station)).toEqual([]);
    expect([inbox(station), allChanges(station.mirror)]).toEqual(before);
  });

  test("nor does it when the id comes with another body: the first one counts", async () => {
    const station = await aStation();
    take(station, eventText({ id: "evt-same" }));
    const [receipt] = take(station, eventText({ id: "evt-same", type: "people.deleted" }));
    expect(receipt?.fate).toBe("known");
    expect(work(station)).toMatchObject([{ kind: "detail" }]);
  });
});

describe("I12: what leads to no read is kept, and told", () => {
  test("an event of something without a route: in the inbox and, as it came, in the change log", async () => {
    const station = await aStation();
    const text = about(9, "foreign-bills.paid", "foreignBill");
    take(station, about(1), text, about(2));
    expect(work(station)).toHaveLength(2);
    expect(allChanges(station.mirror)).toEqual([
      {
        seq: 1,
        resource: "foreign_bills",
        recordId: 9,
        op: "event",
        at: "2026-03-01T12:00:00.000Z",
        cause: "webhook",
        requestId: null,
        before: null,
        after: text,
      },
    ]);
    expect(new InboxView(station.mirror.db).counts()).toEqual({ waiting: 2, kept: 1 });
    expect(station.unheard).toEqual([]);
  });

  test.each([
    ["a type that nobody knows", eventText({ type: "people.merged" })],
    ["no type", eventText({ type: null })],
    ["another resource.type than that of its type", about(1, "people.updated", "order")],
    ["an id that is no record's", eventText({ resource: { type: "person", id: -1 } })],
    ["no resource", eventText({ resource: null })],
  ])("%s is unknown, with the reason", async (_, text) => {
    const station = await aStation();
    take(station, text);
    expect(work(station)).toEqual([]);
    expect(inbox(station)).toMatchObject([
      { state: "unknown", resource: null, problem: expect.any(String) as string },
    ]);
    expect(station.unheard).toMatchObject([{ state: "unknown" }]);
    expect(rows(station.mirror, "SELECT body FROM _inbox")).toEqual([{ body: text }]);
  });

  test("a body that is no event is unreadable, byte for byte", async () => {
    const station = await aStation();
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    take(station, "<html>", bytes);
    expect(inbox(station).map(({ state }) => state)).toEqual(["unreadable", "unreadable"]);
    expect(rows(station.mirror, "SELECT body FROM _inbox ORDER BY rowid")).toEqual([
      { body: "<html>" },
      { body: bytes },
    ]);
    expect(station.unheard.map(({ state }) => state)).toEqual(["unreadable", "unreadable"]);
  });

  test("an event of a table that is not mirrored is excluded, and nobody reads it", async () => {
    const station = await aStation({ selected: ["orders"] });
    take(station, about(1), about(2, "orders.updated", "order"));
    expect(work(station)).toMatchObject([{ resource: "orders" }]);
    expect(new InboxView(station.mirror.db).counts()).toEqual({ excluded: 1, waiting: 1 });
    expect(station.unheard).toEqual([]);
  });
});

test("I1 a transaction that fails leaves neither events nor marks nor changes, and nothing is told", async () => {
  const station = await aStation();
  const texts = [about(1), about(2, "foreign-bills.paid", "foreignBill"), "not json"];
  station.mirror.db.exec(
    "CREATE TRIGGER broken BEFORE INSERT ON _work BEGIN SELECT RAISE(ABORT, 'no room'); END",
  );
  expect(() => take(station, ...texts)).toThrow("no room");
  expect([counted(station.mirror, "_inbox"), allChanges(station.mirror), station.unheard]).toEqual([
    0,
    [],
    [],
  ]);
  station.mirror.db.exec("DROP TRIGGER broken");
  expect(take(station, ...texts).map(({ fate }) => fate)).toEqual(["stored", "stored", "stored"]);
  expect(allChanges(station.mirror)).toHaveLength(1);
});
