import { describe, expect } from "vitest";
import { test } from "../support/mirror/shop-test.ts";
import type { NewWorkItem, WorkItem } from "../../src/state/work-item.ts";
import type { WorkQueue } from "../../src/state/work-queue.ts";
import { work as workOf } from "../support/mirror/state-rows.ts";

const nowMs = 1_000;
const people = ["people"];

const work = (more: Partial<NewWorkItem> = {}) => workOf({ lane: "webhook", ...more });

/** Leases the next item, does this to it, and gives it back. */
function lease(
  queue: WorkQueue,
  share: "events" | "others" | "all",
  then: (item: WorkItem) => void,
  atMs = nowMs,
): void {
  const item = queue.lease(atMs, people, share);
  if (!item) throw new Error("nothing is due");
  then(item);
  queue.release(item);
}

const next = (queue: WorkQueue, share?: "events" | "others") => queue.lease(nowMs, people, share);

describe("a queue that is shared", () => {
  test("gives the webhook lane to one, the other lanes to the other, and no item to both", ({ queue }) => {
    queue.add(work({ target: "id:1" }));
    queue.add(work({ target: "id:2", lane: "hydration" }));
    queue.add(work({ target: "id:3", lane: "list" }));
    // A run that may not read a resource holds no item of the webhook lane.
    queue.hold("people", "403", "others");
    expect([1, 2, 3].map((id) => queue.isReady("people", `id:${id}`))).toEqual([true, false, false]);
    queue.revive(people, "others");
    expect(next(queue, "events")?.target).toBe("id:1");
    expect(next(queue, "events")).toBeNull();
    expect(next(queue, "others")?.target).toBe("id:3");
    expect(next(queue, "others")?.target).toBe("id:2");
    expect(next(queue)).toBeNull();
  });

  test("knows when the next item is due: rechecks too, leased ones not", ({ queue }) => {
    expect(queue.nextDueMs(people, "events")).toBeNull();
    queue.add(work({ target: "id:1", dueAtMs: 0 }));
    queue.addIfAbsent(work({ target: "id:2", dueAtMs: 60_000, reason: "recheck" }));
    queue.add(work({ target: "id:3", dueAtMs: 5, lane: "scrub" }));
    expect(queue.nextDueMs(people, "events")).toBe(0);
    next(queue, "events");
    expect(queue.nextDueMs(people, "events")).toBe(60_000);
    expect(queue.nextDueMs(people)).toBe(5);
    expect(queue.nextDueMs(["orders"])).toBeNull();
  });

  test("calls watchers when items are added or expedited, until they end their watch", ({ queue }) => {
    let rung = 0;
    const unwatch = queue.watch(() => (rung += 1));
    queue.add(work());
    queue.expedite("people", "nothing");
    unwatch();
    queue.add(work({ target: "id:2" }));
    expect(rung).toBe(2);
  });

  test("dead letters of events that a run revives are read by that run", ({ queue }) => {
    queue.add(work());
    lease(queue, "events", (row) => queue.deadLetter(row, "odd"));
    queue.revive(people);
    expect(next(queue, "events")).toBeNull();
    expect(next(queue, "others")).toMatchObject({ lane: "changed", reason: "new", attempts: 0 });
  });
});

test("what an event worker retries stays with it beside a run, and goes to a run alone", ({ queue }) => {
  queue.add(work());
  lease(queue, "events", (row) => queue.postpone(row, "503", 50_000));
  expect(queue.revive(people, "others")).toBe(0);
  expect(queue.nextDueMs(people, "events")).toBe(50_000);
  expect(queue.revive(people)).toBe(1);
  expect(next(queue, "others")).toMatchObject({ attempts: 0 });
});

describe("reasons that replace no other", () => {
  test("a recheck is not added to a queued item, and an event overtakes a waiting recheck", ({ queue }) => {
    queue.add(work({ reason: "people.updated" }));
    queue.addIfAbsent(work({ reason: "recheck", dueAtMs: 60_000, dirtySeq: 9 }));
    expect(next(queue)).toMatchObject({ reason: "people.updated", dirtySeq: 1, dueAtMs: 0 });
    queue.addIfAbsent(work({ target: "id:2", reason: "recheck", dueAtMs: 60_000 }));
    queue.add(work({ target: "id:2", reason: "people.updated", dirtySeq: 3 }));
    expect(next(queue)).toMatchObject({ target: "id:2", reason: "people.updated", dueAtMs: 0 });
  });
});

describe("an item that is postponed", () => {
  test("uses up no attempt, is waited for, and is due as soon as the reason has ended", ({ queue }) => {
    queue.add(work());
    for (let times = 0; times < 5; times++) {
      lease(queue, "all", (row) => queue.postpone(row, "waiting", 50_000), nowMs * 100);
    }
    expect(next(queue)).toBeNull();
    expect(queue.nextRetryMs(people)).toBe(50_000);
    queue.expedite("people", "another reason");
    expect(next(queue)).toBeNull();
    queue.expedite("people", "waiting");
    expect(next(queue)).toMatchObject({ attempts: 1 });
  });

  test("stays behind the lists where it waits for one, and never before its own lane", ({ queue }) => {
    const lanes = (["webhook", "scrub"] as const).map((lane, id) => {
      queue.add(work({ lane, target: `id:${id}` }));
      lease(queue, "all", (row) => queue.postpone(row, "waiting", nowMs, "changed"));
      queue.expedite("people", "waiting");
      const again = next(queue);
      if (again) queue.done(again, 10);
      return again?.lane;
    });
    expect(lanes).toEqual(["changed", "scrub"]);
  });

  test("I4: is due at once where an event came while it was leased", ({ queue }) => {
    queue.add(work());
    lease(queue, "all", (row) => {
      queue.add(work({ dirtySeq: 2 }));
      queue.postpone(row, "waiting", 50_000);
    });
    expect(next(queue)).toMatchObject({ dirtySeq: 2 });
  });
});
