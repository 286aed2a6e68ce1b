import { describe, expect, test } from "vitest";
import { openDatabase } from "../../src/store/database.ts";
import { Inbox } from "../../src/state/inbox/inbox.ts";
import { InboxView } from "../../src/state/inbox/inbox-view.ts";
import { tempFolder } from "../support/mirror.ts";
import { allChanges, rows, written } from "../support/store.ts";
import {
  about,
  aStation,
  counted,
  deliveryOf,
  eventText,
  shopWithEvents,
  type Station,
} from "../support/webhook.ts";

const nowMs = Date.UTC(2026, 2, 1, 12);
const settlement = { outcome: "updated", requestId: "req-1", at: "2026-03-01T12:00:01.000Z" } as const;

function take({ mailbox }: Station, atMs: number, ...texts: string[]): string[] {
  const receipts = mailbox.store(
    texts.map((text) => deliveryOf(text)),
    atMs,
  );
  return receipts.map(({ eventId }) => eventId);
}

describe("a read settles the events that asked for it", () => {
  test("all of its record that came before it was sent, with its fate and its request", async () => {
    const { mirror, ...station } = await aStation();
    const settling = new Inbox(mirror.db);
    take({ mirror, ...station }, nowMs, about(1), about(1), about(2));
    const sentSeq = mirror.sequence.next();
    take({ mirror, ...station }, nowMs, about(1));
    const settled = settling.settle("people", "id:1", sentSeq, settlement);
    expect(settled.map(({ type }) => type)).toEqual(["people.updated", "people.updated"]);
    const told = rows(
      mirror,
      "SELECT target, state, outcome, request_id, settled_at FROM _inbox ORDER BY rowid",
    );
    const done = { state: "done", outcome: "updated", request_id: "req-1", settled_at: settlement.at };
    const waiting = { state: "waiting", outcome: null, request_id: null, settled_at: null };
    expect(told).toEqual([
      { target: "id:1", ...done },
      { target: "id:1", ...done },
      { target: "id:2", ...waiting },
      { target: "id:1", ...waiting },
    ]);
    expect(settling.settle("people", "id:1", sentSeq, settlement)).toEqual([]);
  });

  test("without looking through events that are done", async () => {
    const { mirror } = await aStation();
    const plan = rows(
      mirror,
      `EXPLAIN QUERY PLAN UPDATE _inbox SET state = 'done' WHERE state = 'waiting' AND resource = 'a' AND target = 'b' AND dirty_seq <= 3`,
    );
    expect(JSON.stringify(plan)).toContain("_inbox_waiting (dirty_seq<?)");
  });
});

describe("the inbox as people look at it", () => {
  test("the latest first, by state, type, table, time or id", async () => {
    const station = await aStation();
    const [first] = take(station, nowMs, about(1));
    const [second, third] = take(
      station,
      nowMs + 1_000,
      about(2, "orders.updated", "order"),
      eventText({ type: "new" }),
    );
    const view = new InboxView(station.mirror.db);
    const ids = (filter: object) => view.list({ most: 10, ...filter }).map(({ eventId }) => eventId);
    expect(ids({})).toEqual([third, second, first]);
    expect(ids({ most: 1 })).toEqual([third]);
    expect(ids({ state: "unknown" })).toEqual([third]);
    expect(ids({ type: "people.updated" })).toEqual([first]);
    expect(ids({ resource: "orders" })).toEqual([second]);
    expect(ids({ since: "2026-03-01T12:00:01.000Z" })).toEqual([third, second]);
    expect(ids({ eventId: first })).toEqual([first]);
    expect([view.waiting(), view.oldestWaiting(), view.lastReceived()]).toEqual([
      2,
      "2026-03-01T12:00:00.000Z",
      "2026-03-01T12:00:01.000Z",
    ]);
  });

  test("a mirror without one has an empty one", () => {
    const db = openDatabase(`${tempFolder()}/other.db`);
    const view = new InboxView(db);
    expect([view.list({ most: 1 }), view.counts(), view.waiting()]).toEqual([[], {}, 0]);
    expect([view.oldestWaiting(), view.lastReceived()]).toEqual([null, null]);
    db.close();
  });
});

describe("a replay puts events through the front door again", () => {
  test("a new mark, no second row; a settled event waits once more", async () => {
    const station = await aStation();
    const { mirror, mailbox } = station;
    const ids = take(station, nowMs, about(1), about(1), about(2, "people.deleted"));
    mirror.db.exec("DELETE FROM _work");
    const sentSeq = mirror.sequence.next();
    for (const target of ["id:1", "id:2"]) new Inbox(mirror.db).settle("people", target, sentSeq, settlement);
    expect(mailbox.replay([...ids, "nobody"])).toEqual({ queued: 3, unread: 0, missing: ["nobody"] });
    expect(counted(mirror, "_inbox")).toBe(3);
    expect(
      rows(mirror, "SELECT target, kind, lane, dirty_seq > ? AS newer FROM _work ORDER BY id", sentSeq),
    ).toEqual([
      { target: "id:1", kind: "detail", lane: 0, newer: 1 },
      { target: "id:2", kind: "confirm", lane: 0, newer: 1 },
    ]);
    const again = { state: "waiting", outcome: null, settledAt: null, requestId: null };
    expect(new InboxView(mirror.db).list({ most: 9 })).toMatchObject([again, again, again]);
  });

  test("I7 what is kept is not told a second time", async () => {
    const station = await aStation();
    const texts = [about(1, "foreign-bills.paid", "foreignBill"), eventText({ type: "new" }), "not json"];
    const ids = take(station, nowMs, ...texts);
    const before = written(station.mirror);
    expect(station.mailbox.replay(ids)).toEqual({ queued: 0, unread: 3, missing: [] });
    expect(written(station.mirror)).toBe(before);
    expect(allChanges(station.mirror)).toHaveLength(1);
  });

  test("I12 an event is judged by what is known now: a newer connector, more tables", async () => {
    const path = `${tempFolder()}/shop.db`;
    const manifest = shopWithEvents([]);
    const before = await aStation({ path, manifest });
    const ids = take(before, nowMs, about(1), about(2, "foreign-bills.paid", "foreignBill"), "not json");
    before.mirror.close();
    const after = await aStation({ path });
    expect(after.mailbox.replay(ids)).toEqual({ queued: 1, unread: 2, missing: [] });
    expect(new InboxView(after.mirror.db).counts()).toEqual({ waiting: 1, kept: 1, unreadable: 1 });
    expect(allChanges(after.mirror)).toMatchObject([{ op: "event", resource: "foreign_bills" }]);
  });

  test("of many events takes several transactions", async () => {
    const station = await aStation();
    const ids = take(station, nowMs, ...Array.from({ length: 1_201 }, (_, i) => about(i)));
    station.mirror.db.exec("DELETE FROM _work");
    expect(station.mailbox.replay(ids).queued).toBe(1_201);
    expect(counted(station.mirror, "_work")).toBe(1_201);
  });
});

test("I12 an event whose read has left the queue without settling it is found and read", async () => {
  const station = await aStation();
  take(station, nowMs, about(1), about(2));
  station.mirror.db.exec("DELETE FROM _work WHERE target = 'id:1'");
  expect(station.mailbox.requeueLost()).toBe(1);
  expect(rows(station.mirror, "SELECT target FROM _work ORDER BY target")).toEqual([
    { target: "id:1" },
    { target: "id:2" },
  ]);
  expect(station.mailbox.requeueLost()).toBe(0);
});

test("I12 an event whose table is mirrored no more waits for nobody, and is kept", async () => {
  const path = `${tempFolder()}/shop.db`;
  const before = await aStation({ path });
  take(before, nowMs, about(1));
  before.mirror.close();
  const after = await aStation({ path, selected: [] });
  expect(after.mailbox.requeueLost()).toBe(0);
  expect(new InboxView(after.mirror.db).counts()).toEqual({ excluded: 1 });
});
