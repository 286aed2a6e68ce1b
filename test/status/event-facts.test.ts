import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dayMs, hourMs } from "../../src/base/clock.ts";
import { Meta } from "../../src/state/meta.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { openDatabase } from "../../src/store/database.ts";
import {
  ordersKey,
  readEventFacts,
  webhooksCover,
  emptyReceiverNote,
  receiverNoteKey,
} from "../../src/status/event-status.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { rows, startMs } from "../support/mirror/store.ts";

const at = (ms: number) => new Date(startMs + ms).toISOString();

function arrived(
  mirror: Mirror,
  id: string,
  ms: number,
  state: string,
  more: { type?: string; target?: string } = {},
) {
  const { type = "people.updated", target = null } = more;
  const sql = `INSERT INTO _inbox (event_id, type, received_at, body, state, resource, target, dirty_seq)
    VALUES (?, ?, ?, '{}', ?, 'people', ?, 1)`;
  mirror.db.prepare(sql).run(id, type, at(ms), state, target);
}

describe("the facts of events", () => {
  test("are read beside the process that writes", async () => {
    const path = join(tempFolder(), "shop.db");
    const mirror = await openShop({ path });
    arrived(mirror, "a", 1, "done");
    arrived(mirror, "b", 3, "waiting", { target: "id:7" });
    arrived(mirror, "c", 2, "waiting", { target: "id:8" });
    arrived(mirror, "d", 4, "unknown", { type: "people.cloned" });
    arrived(mirror, "e", 5, "unknown", { type: "people.cloned" });
    arrived(mirror, "f", 6, "unknown", { type: "dogs.created" });
    arrived(mirror, "g", 7, "unreadable");
    const queue = new WorkQueue(mirror.db);
    const read = {
      kind: "detail",
      resource: "people",
      lane: "webhook",
      reason: "people.updated",
      dirtySeq: 1,
    } as const;
    queue.add({ ...read, target: "id:7" });
    queue.add({ ...read, target: "id:8" });
    const [work] = rows(mirror, "SELECT id FROM _work WHERE target = 'id:8'");
    mirror.db.prepare("UPDATE _work SET state = 'dead', error = 'odd' WHERE id = ?").run(work?.["id"]);
    mirror.db
      .prepare(
        "INSERT INTO _receiver (started_ms, seen_ms, ended) VALUES (10, 20, 'drained'), (30, 40, NULL)",
      )
      .run();
    const service = { state: "unauthenticated", message: "Unauthenticated.", since: at(0) };
    new Meta(mirror.db).set("service", service);
    const receiver = { ...emptyReceiverNote, refused: { bad_signature: 4 }, dropped_connections: 3 };
    new Meta(mirror.db).set(receiverNoteKey, receiver);
    const orders = [{ kind: "sync", askedAt: at(0), pid: 12, state: "waiting" }];
    new Meta(mirror.db).set(ordersKey, orders);
    const reader = openDatabase(path, { readonly: true });
    const events = readEventFacts(reader);
    reader.close();
    expect(events).toEqual({
      counts: { done: 1, waiting: 2, unknown: 3, unreadable: 1 },
      waitingSince: at(2),
      stuck: 1,
      lastReceivedAt: at(7),
      unknownTypes: [
        { type: "people.cloned", count: 2 },
        { type: "dogs.created", count: 1 },
      ],
      spans: [
        { startedMs: 10, seenMs: 20, ended: "drained" },
        { startedMs: 30, seenMs: 40, ended: null },
      ],
      service,
      ...receiver,
      orders,
    });
  });

  test("are empty in a mirror without a receiver", async () => {
    const mirror = await openShop();
    const nothing = {
      counts: {},
      waitingSince: null,
      stuck: 0,
      lastReceivedAt: null,
      unknownTypes: [],
      spans: [],
      service: null,
      ...emptyReceiverNote,
      orders: [],
    };
    expect(readEventFacts(mirror.db)).toEqual(nothing);
  });
});

/** A receiver in these spans, hours after the start, and the last event so many hours before now. */
async function mirrorWith(spans: readonly (readonly [number, number])[], eventHoursAgo: number) {
  const mirror = await openShop();
  arrived(mirror, "last", 10 * dayMs - eventHoursAgo * hourMs, "done");
  const insert = mirror.db.prepare("INSERT INTO _receiver (started_ms, seen_ms) VALUES (?, ?)");
  for (const [from, to] of spans) insert.run(startMs + from * hourMs, startMs + to * hourMs);
  return mirror.db;
}

describe("webhooks cover a time", () => {
  const nowMs = startMs + 10 * dayMs;

  test("in which a receiver ran without a gap that can hide all attempts of an event", async () => {
    const db = await mirrorWith(
      [
        [0, 100],
        [101, 240],
      ],
      2,
    );
    expect(webhooksCover(db, startMs + hourMs, nowMs)).toBe(true);
    expect(webhooksCover(db, startMs - dayMs, nowMs)).toBe(false);
  });

  test("not where the receiver was away for long since, or no event came for a week", async () => {
    const gap = await mirrorWith(
      [
        [0, 100],
        [130, 240],
      ],
      2,
    );
    expect(webhooksCover(gap, startMs + hourMs, nowMs)).toBe(false);
    expect(webhooksCover(gap, startMs + 131 * hourMs, nowMs)).toBe(true);
    expect(webhooksCover(await mirrorWith([[0, 240]], 169), startMs + hourMs, nowMs)).toBe(false);
    expect(webhooksCover(await mirrorWith([], 2), startMs + hourMs, nowMs)).toBe(false);
    expect(webhooksCover((await openShop()).db, startMs, nowMs)).toBe(false);
  });
});
