import { beforeAll, describe, expect, test } from "vitest";
import { brokenNow } from "./all-checks.ts";
import type { MirrorContents } from "./mirror-contents.ts";
import type { AskedRecord } from "./observation.ts";
import { syncedMirror, tamperedWith, type SyncedMirror } from "./synced-mirror.ts";

let synced: SyncedMirror;

beforeAll(async () => {
  synced = await syncedMirror(4, 40);
});

/** An event waits for a read that is in this state. */
function waiting(state: string, dueMs: number): MirrorContents {
  return tamperedWith(
    synced,
    `UPDATE _inbox SET state = 'waiting', request_id = NULL WHERE event_id = (SELECT max(event_id) FROM _inbox WHERE state = 'done');
      INSERT INTO _work (resource, target, kind, lane, due_ms, state, reason, dirty_seq)
      SELECT resource, target, 'detail', 0, ${dueMs}, '${state}', 'recheck', dirty_seq FROM _inbox WHERE state = 'waiting'`,
  );
}

describe("the checks of a simulation", () => {
  test("I4: name an event that waits for a read that was given up before it came", () => {
    const { seen } = synced;
    const event = waiting("ready", 0).events.find(({ state }) => state === "waiting");
    if (!event) throw new Error("the seed has no event");
    const key = `${event.resource} ${event.target.slice("id:".length)}`;
    const arrivedMs = seen.arrivals.get(event.event_id) ?? Number.NaN;
    const readAt = (sentAtMs: number) => ({
      ...seen,
      asked: new Map([[key, [{ sentAtMs, requestId: null }]]]),
    });
    const [early, late] = [readAt(arrivedMs - 1), readAt(arrivedMs + 1)];
    expect(brokenNow(waiting("dead", 0), early)).toEqual([
      expect.stringContaining("is set aside, and was not read since"),
    ]);
    expect(brokenNow(waiting("ready", 1), early)).toEqual([
      expect.stringContaining("is not due, and was not read since"),
    ]);
    expect(brokenNow(waiting("ready", 0), early)).toEqual([]);
    expect(brokenNow(waiting("dead", 0), late)).toEqual([]);
  });

  test("I4: name an event whose record was read once only, and soon after it", () => {
    const mirror = tamperedWith(synced, "");
    const event = mirror.events.findLast(({ state }) => state === "done");
    if (!event) throw new Error("the seed has no event");
    const { seen } = synced;
    const arrivedMs = seen.arrivals.get(event.event_id) ?? Number.NaN;
    const key = `${event.resource} ${event.target.slice("id:".length)}`;
    const first = { sentAtMs: arrivedMs + 500, requestId: event.request_id };
    const foundWith = (...reads: readonly AskedRecord[]) =>
      brokenNow(mirror, { ...seen, asked: new Map([[key, reads]]) });
    expect(foundWith(first).join()).toContain("was read 500 ms after it, and is not read again");
    expect(foundWith(first, { sentAtMs: arrivedMs + 60_000, requestId: null })).toEqual([]);
    expect(foundWith({ ...first, sentAtMs: arrivedMs + 60_000 })).toEqual([]);
  });
});
