import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect } from "vitest";
import type { Mirror } from "../../src/state/mirror.ts";
import { EventIds } from "../../src/state/inbox/event-ids.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { rows } from "../support/mirror/store.ts";
import { about, openIngest, counted, deliveryOf, eventText } from "../support/webhook/webhook.ts";

const mostUnfiled = 4;
const insert =
  "INSERT INTO _inbox (event_id, type, received_at, body, state) VALUES (?, 'people.updated', '', '{}', 'done')";

/** What the ingest does with each group: true where an event is new. */
function take(mirror: Mirror, ids: EventIds, eventIds: readonly string[], fails = false): boolean[] {
  const statement = mirror.db.prepare(insert);
  const step = () => {
    ids.begin();
    const isNew = eventIds.map((eventId) => {
      if (ids.has(eventId)) return false;
      statement.run(eventId);
      ids.add(eventId);
      return true;
    });
    ids.end();
    if (fails) throw new Error("the disk is full");
    return isNew;
  };
  if (!fails) return mirror.apply(step);
  expect(() => mirror.apply(step)).toThrow("the disk is full");
  return [];
}

function filed(mirror: Mirror): number {
  return counted(mirror, "_inbox_ids");
}

describe("I7 an event is known for ever", () => {
  test("in its own transaction, while its id is in memory, and once it is filed", ({ mirror }) => {
    const ids = new EventIds(mirror.db, mostUnfiled);
    expect(take(mirror, ids, ["a", "b", "a"])).toEqual([true, true, false]);
    expect(take(mirror, ids, ["b", "c", "d"])).toEqual([false, true, true]);
    expect(filed(mirror)).toBe(0);
    take(mirror, ids, ["e"]);
    expect(filed(mirror)).toBe(4);
    expect(take(mirror, ids, ["a", "b", "c", "d", "e", "f"])).toEqual([...Array(5).fill(false), true]);
  });

  test("with at most some hundreds of ids of each company in memory", ({ mirror }) => {
    const ids = new EventIds(mirror.db);
    for (let group = 0; group < 26; group++)
      take(
        mirror,
        ids,
        Array.from({ length: 100 }, (_, i) => `${group} ${i}`),
      );
    expect(filed(mirror)).toBeGreaterThan(2_000);
  });

  // Fault: process | another connection stores the same event | two connections on the mirror | it is known (I7)
  test("also where another connection wrote it", ({ mirror }) => {
    const [one, other] = [new EventIds(mirror.db, mostUnfiled), new EventIds(mirror.db, mostUnfiled)];
    for (const eventId of ["a", "b", "c", "d", "e"]) take(mirror, one, [eventId]);
    expect(take(mirror, other, ["a", "e", "f"])).toEqual([false, false, true]);
    expect(take(mirror, one, ["f"])).toEqual([false]);
  });

  test("two ids with the same hash are two events, where they are filed", ({ mirror }) => {
    const ids = new EventIds(mirror.db, 1);
    take(mirror, ids, ["a"]);
    take(mirror, ids, ["b"]);
    expect(filed(mirror)).toBe(1);
    mirror.db.exec("UPDATE _inbox SET event_id = 'of the same hash' WHERE event_id = 'a'");
    expect(take(mirror, ids, ["a"])).toEqual([true]);
    expect(ids.find("a")).toBe(3);
  });

  test("whatever is rolled back, filed and reopened in between", async () => {
    const groups = fc.array(
      fc.record({
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
        let ids = new EventIds(mirror.db, mostUnfiled);
        for (const { ids: eventIds, outcome } of some) {
          if (outcome === "reopened") ids = new EventIds(mirror.db, mostUnfiled);
          const isNew = take(mirror, ids, eventIds, outcome === "rolled back");
          if (outcome === "rolled back") continue;
          expect(isNew).toEqual(eventIds.map((id, i) => !known.has(id) && eventIds.indexOf(id) === i));
          for (const id of eventIds) known.add(id);
        }
        expect(counted(mirror, "_inbox")).toBe(known.size);
        for (let id = 0; id <= 40; id++) expect(ids.find(String(id)) !== null).toBe(known.has(String(id)));
      }),
      { numRuns: 40 },
    );
  });

  test("while it is there: a deleted one is stored again, also under its number", ({ mirror }) => {
    const ids = new EventIds(mirror.db, mostUnfiled);
    for (const eventId of ["a", "b", "c", "d", "e"]) take(mirror, ids, [eventId]);
    mirror.db.exec("DELETE FROM _inbox WHERE seq > 2");
    expect(take(mirror, ids, ["a", "b", "c", "f"])).toEqual([false, false, true, true]);
    expect(take(mirror, new EventIds(mirror.db, mostUnfiled), ["c", "f", "g"])).toEqual([false, false, true]);
    expect(take(mirror, ids, ["c", "g", "h"])).toEqual([false, false, true]);
  });
});

describe("events that find their record in the queue", () => {
  test("are stored, and the queued item stays as it is: its read is sent after them", async () => {
    const shop = await openIngest();
    shop.ingest.store([deliveryOf(about(1))], 0);
    const before = rows(shop.mirror, "SELECT * FROM _work");
    shop.ingest.store([deliveryOf(about(1)), deliveryOf(about(1))], 0);
    expect(rows(shop.mirror, "SELECT * FROM _work")).toEqual(before);
    expect(counted(shop.mirror, "_inbox WHERE state = 'waiting'")).toBe(3);
  });

  // Fault: process | a restart between an event and its read | the sequence of the file | the event is read again (I4)
  test("I4 are not answered by what is sent after a restart but numbered before them", async () => {
    const path = join(tempFolder(), "shop.db");
    const shop = await openIngest({ path });
    shop.ingest.store([deliveryOf(about(1))], 0);
    for (let i = 0; i < 5; i++) shop.ingest.store([deliveryOf(eventText())], 0);
    const latest = Number(rows(shop.mirror, "SELECT max(dirty_seq) AS seq FROM _inbox")[0]?.["seq"]);
    expect(Number(rows(shop.mirror, "SELECT max(dirty_seq) AS seq FROM _work")[0]?.["seq"])).toBeLessThan(
      latest,
    );
    shop.mirror.close();
    const again = await openIngest({ path });
    expect(again.mirror.sequence.next()).toBeGreaterThan(latest);
  });
});
