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
import { receiverRan } from "../support/status/receiver-spans.ts";
import { startMs } from "../support/mirror/store.ts";

const at = (ms: number) => new Date(startMs + ms).toISOString();

type Event = { type?: string; target?: string };

function arrived(mirror: Mirror, id: string, ms: number, state: string, event: Event = {}) {
  const { type = "people.updated", target = null } = event;
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
    const read = { kind: "detail", resource: "people", lane: "webhook", dirtySeq: 1 } as const;
    for (const target of ["id:7", "id:8"]) queue.add({ ...read, target, reason: "people.updated" });
    mirror.db.exec(`UPDATE _work SET state = 'dead', error = 'odd' WHERE target = 'id:8';
      INSERT INTO _receiver (started_ms, seen_ms, ended) VALUES (10, 20, 'drained'), (30, 40, NULL)`);
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

/** A receiver that ran in these spans, and the last event so many hours before now. */
async function mirrorWith(spans: string, eventHoursAgo: number | null) {
  const mirror = await openShop();
  if (eventHoursAgo !== null) arrived(mirror, "last", 10 * dayMs - eventHoursAgo * hourMs, "done");
  receiverRan(mirror.db, spans);
  return mirror.db;
}

describe("webhooks cover a time", () => {
  test.each<[string, string, number | null, number, boolean]>([
    [
      "in which a receiver ran without a gap that can hide all attempts of an event",
      "0-100 101-240",
      2,
      1,
      true,
    ],
    ["but not one that began before it ran", "0-100 101-240", 2, -24, false],
    ["but not one in which it was away for long", "0-100 130-240", 2, 1, false],
    ["since it came back", "0-100 130-240", 2, 131, true],
    ["but not where no event came for a week", "0-240", 169, 1, false],
    ["but not where no event ever came", "0-240", null, 1, false],
    ["but not where no receiver ever ran", "", 2, 1, false],
  ])("%s", async (_, spans, eventHoursAgo, sinceHours, isCovered) => {
    const db = await mirrorWith(spans, eventHoursAgo);
    expect(webhooksCover(db, startMs + sinceHours * hourMs, startMs + 10 * dayMs)).toBe(isCovered);
  });
});
