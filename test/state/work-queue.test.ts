import * as fc from "fast-check";
import { describe, expect } from "vitest";
import { laneRank, lanes, type Lane } from "../../src/base/lane.ts";
import { isUrgent, type NewWorkItem, type WorkItem } from "../../src/state/work-item.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { test } from "../support/mirror/shop-test.ts";
import { work } from "../support/mirror/state-rows.ts";
import { leaseNext } from "../support/mirror/run.ts";
import { put, texts } from "../support/mirror/store.ts";

const nowMs = 1_000;
const everything = ["people", "orders", "notes"];

const lease = (queue: WorkQueue, atMs = nowMs, resources = everything) =>
  leaseNext(queue, resources, "all", atMs);

describe("coalescing", () => {
  test("ten reasons are one item with the last one and the highest number", ({ mirror, queue }) => {
    for (let i = 1; i <= 10; i++) queue.add(work({ reason: `event ${i}`, dirtySeq: i }));
    expect(texts(mirror, "SELECT reason, dirty_seq FROM _work")).toEqual(["event 10 10"]);
  });

  test.for([
    ["a confirmation stays one, whatever other reason comes", "confirm", "detail"],
    ["a read becomes a confirmation when one is added", "detail", "confirm"],
  ] as const)("%s", ([, first, then], { queue }) => {
    queue.add(work({ kind: first, reason: "absent" }));
    queue.add(work({ kind: then, reason: "people.updated" }));
    expect(lease(queue)).toMatchObject({ kind: "confirm", reason: "people.updated" });
  });

  test("a reason without a payload keeps what an earlier one brought", ({ queue }) => {
    queue.add(work({ payload: { listed: { sha: "ab", key: "c" } } }));
    queue.add(work({ reason: "cascade" }));
    expect(lease(queue).payload).toEqual({ listed: { sha: "ab", key: "c" } });
  });
});

test("details of all live records are added at once, ranked as the newest first, unless they are queued", ({
  mirror,
  queue,
}) => {
  for (const id of [1, 2, 3, "9007199254740993"])
    put(mirror, "people", { id, name: "A", email: null, score: 1 });
  mirror.db.exec("UPDATE people SET _deleted_at = '2026-11-28' WHERE id = 2");
  queue.add(work({ target: "id:1", reason: "cascade", rank: 7 }));
  queue.addDetails("people", { lane: "hydration", reason: "full", dirtySeq: 5 });
  expect(texts(mirror, "SELECT target, kind, reason, rank FROM _work ORDER BY rank")).toEqual([
    "id:9007199254740993 detail full -9007199254740991",
    "id:3 detail full -3",
    "id:1 detail cascade 7",
  ]);
});

describe("leases", () => {
  test("an item never gets the id of one that was dropped while it was leased", ({ queue }) => {
    queue.add(work({ target: "child:people:1:1" }));
    const inFlight = lease(queue);
    queue.drop("people", "child:people:1:");
    queue.add(work({ target: "id:9" }));
    queue.deadLetter(inFlight, "the parent is gone");
    expect(lease(queue)).toMatchObject({ target: "id:9", attempts: 0 });
  });

  test("a drop removes one prefix of a resource only; `%` and `_` are letters", ({ mirror, queue }) => {
    const targets = ["page:a_b:1", "page:a_b:2", "page:aXb:1", "page:a_bc:1"];
    for (const target of targets) queue.add(work({ kind: "list", target }));
    queue.add(work({ kind: "list", target: "page:a_b:1", resource: "orders" }));
    queue.drop("people", "page:a_b:");
    const left = texts(mirror, "SELECT resource, target FROM _work ORDER BY id");
    expect(left).toEqual(["people page:aXb:1", "people page:a_bc:1", "orders page:a_b:1"]);
  });
});

describe("failures", () => {
  test("an item to be retried waits until it is due, which the run can ask for", ({ queue }) => {
    queue.add(work({ target: "recheck", dueAtMs: 60_000 }));
    expect(queue.nextRetryMs(everything)).toBeNull();
    queue.add(work());
    const row = lease(queue);
    queue.retry(row, "503", nowMs + 2_000);
    queue.release(row);
    expect(queue.lease(nowMs + 1_999, everything)).toBeNull();
    expect(queue.nextRetryMs(everything)).toBe(nowMs + 2_000);
    expect(queue.nextRetryMs(["orders"])).toBeNull();
    expect(lease(queue, nowMs + 2_000)).toMatchObject({ attempts: 1 });
  });

  test("dead letters show their reason; the next run revives them and held items", ({ queue }) => {
    queue.add(work());
    queue.add(work({ resource: "orders" }));
    const row = lease(queue, nowMs, ["people"]);
    queue.deadLetter(row, "unreadable");
    queue.release(row);
    queue.hold("orders", "403");
    expect(queue.lease(nowMs, everything)).toBeNull();
    expect(queue.isQueued("people", "id:1")).toBe(false);
    const letter = { resource: "people", target: "id:1", id: "1", reason: "unreadable", attempts: 1 };
    expect(queue.deadLetters()).toEqual([letter]);
    const counted = queue.counts().map((one) => Object.values(one).join(" "));
    expect(counted.toSorted()).toEqual(["orders detail held 1", "people detail dead 1"]);
    expect(queue.revive(["people"])).toBe(1);
    expect(queue.isQueued("people", "id:1")).toBe(true);
    expect(queue.lease(nowMs, ["orders"])).toBeNull();
    expect(lease(queue)).toMatchObject({ resource: "people", attempts: 0 });
  });
});

/** Details of one resource come in the order of their ranks, equal here, whenever they were due. */
function dueAt({ lane, dueAtMs }: { readonly lane: Lane; readonly dueAtMs: number }): number {
  return lane === "changed" || lane === "hydration" ? 0 : dueAtMs;
}

type ModelRow = Required<Pick<NewWorkItem, "lane" | "dueAtMs" | "dirtySeq">> & {
  readonly state: string;
  readonly order: number;
};

/** The queue as its rules say it, without a database. */
class Model {
  readonly rows = new Map<string, ModelRow>();
  readonly leased = new Set<string>();
  private order = 0;

  add(target: string, lane: Lane, dueAtMs: number, dirtySeq: number): void {
    const old = this.rows.get(target);
    // The read that an urgent reason asked for comes after the same reason, too, unless it is under way.
    const isAsked = old?.state === "ready" && isUrgent(old) && !this.leased.has(target);
    if (isAsked && isUrgent({ lane, dueAtMs })) return;
    const rank = Math.min(lanes.indexOf(lane), old ? lanes.indexOf(old.lane) : lanes.length);
    this.rows.set(target, {
      lane: lanes[rank] as Lane,
      dueAtMs: Math.min(dueAtMs, old?.dueAtMs ?? dueAtMs),
      dirtySeq: Math.max(dirtySeq, old?.dirtySeq ?? 0),
      state: "ready",
      order: old?.order ?? ++this.order,
    });
  }

  next(atMs: number): string | null {
    const due = [...this.rows].filter(
      ([target, row]) => row.state === "ready" && row.dueAtMs <= atMs && !this.leased.has(target),
    );
    due.sort(
      ([, a], [, b]) => laneRank(a.lane) - laneRank(b.lane) || dueAt(a) - dueAt(b) || a.order - b.order,
    );
    return due[0]?.[0] ?? null;
  }

  done(target: string, sentSeq: number): void {
    if ((this.rows.get(target)?.dirtySeq ?? Infinity) <= sentSeq) this.rows.delete(target);
  }

  failed(target: string, seenSeq: number, dueAtMs: number | null): void {
    const row = this.rows.get(target);
    if (!row || row.dirtySeq > seenSeq) return;
    this.rows.set(target, { ...row, dueAtMs: dueAtMs ?? 0, state: dueAtMs === null ? "dead" : "ready" });
  }
}

const command = fc.oneof(
  fc.record({
    do: fc.constant("add" as const),
    target: fc.constantFrom("a", "b", "c", "d"),
    lane: fc.oneof(fc.constant("webhook"), fc.constantFrom(...lanes.filter((lane) => lane !== "quick"))),
    dueAtMs: fc.constantFrom(0, 50, 100),
  }),
  fc.record({ do: fc.constant("lease" as const), atMs: fc.constantFrom(0, 60, 200) }),
  fc.record({ do: fc.constantFrom("done", "retry", "postpone", "bury"), pick: fc.nat(3) }),
);

test("I4: any sequence of reasons, leases, answers and failures ends as the rules say", ({ mirror }) => {
  const property = fc.property(fc.array(command, { maxLength: 40, size: "max" }), (commands) => {
    mirror.db.exec("DELETE FROM _work");
    const queue = new WorkQueue(mirror.db);
    const model = new Model();
    const flights = new Map<string, { row: WorkItem; sentSeq: number }>();
    let seq = 0;
    for (const step of commands) {
      seq += 1;
      if (step.do === "add") {
        queue.add(work({ ...step, dirtySeq: seq }));
        model.add(step.target, step.lane, step.dueAtMs, seq);
      } else if (step.do === "lease") {
        const expected = model.next(step.atMs);
        const row = queue.lease(step.atMs, everything);
        expect(row?.target ?? null).toBe(expected);
        if (!row) continue;
        model.leased.add(row.target);
        flights.set(row.target, { row, sentSeq: seq });
      } else {
        const [target, flight] = [...flights][step.pick % flights.size] ?? [];
        if (target === undefined || !flight) continue;
        const { row, sentSeq } = flight;
        if (step.do === "done") {
          queue.done(row, sentSeq);
          model.done(target, sentSeq);
        } else {
          if (step.do === "bury") queue.deadLetter(row, "no");
          else queue[step.do](row, "no", 100);
          model.failed(target, row.dirtySeq, step.do === "bury" ? null : 100);
        }
        queue.release(row);
        model.leased.delete(target);
        flights.delete(target);
      }
    }
    const expected = [...model.rows]
      .toSorted(([, a], [, b]) => a.order - b.order)
      .map(([target, { state, dueAtMs, dirtySeq }]) => `${target} ${state} ${dueAtMs} ${dirtySeq}`);
    expect(texts(mirror, "SELECT target, state, due_ms, dirty_seq FROM _work ORDER BY id")).toEqual(expected);
  });
  fc.assert(property, { numRuns: 200 });
});

const people = ["people"];
const eventWork = (more: Partial<NewWorkItem> = {}) => work({ lane: "webhook", ...more });

function leaseAnd(
  queue: WorkQueue,
  share: "events" | "others" | "all",
  then: (item: WorkItem) => void,
  atMs = nowMs,
): void {
  const item = leaseNext(queue, people, share, atMs);
  then(item);
  queue.release(item);
}

const next = (queue: WorkQueue, share?: "events" | "others") => queue.lease(nowMs, people, share);

describe("a queue that is shared", () => {
  test("gives the webhook lane to one, the other lanes to the other, and no item to both", ({ queue }) => {
    queue.add(eventWork({ target: "id:1" }));
    queue.add(eventWork({ target: "id:2", lane: "hydration" }));
    queue.add(eventWork({ target: "id:3", lane: "list" }));
    // A run that may not read a resource holds no item of the webhook lane.
    queue.hold("people", "403", "others");
    expect([1, 2, 3].map((id) => queue.isQueued("people", `id:${id}`))).toEqual([true, false, false]);
    queue.revive(people, "others");
    const shares = ["events", "events", "others", "others", undefined] as const;
    const leased = shares.map((share) => next(queue, share)?.target);
    expect(leased).toEqual(["id:1", undefined, "id:3", "id:2", undefined]);
  });

  test("knows when the next item is due: rechecks too, leased ones not", ({ queue }) => {
    expect(queue.nextDueMs(people, "events")).toBeNull();
    queue.add(eventWork({ target: "id:1", dueAtMs: 0 }));
    queue.addIfAbsent(eventWork({ target: "id:2", dueAtMs: 60_000, reason: "recheck" }));
    queue.add(eventWork({ target: "id:3", dueAtMs: 5, lane: "scrub" }));
    expect(queue.nextDueMs(people, "events")).toBe(0);
    next(queue, "events");
    expect(queue.nextDueMs(people, "events")).toBe(60_000);
    expect(queue.nextDueMs(people)).toBe(5);
    expect(queue.nextDueMs(["orders"])).toBeNull();
  });

  test("calls watchers when items are added or expedited, until they end their watch", ({ queue }) => {
    let rung = 0;
    const unwatch = queue.watch(() => (rung += 1));
    queue.add(eventWork());
    queue.expedite("people", "nothing");
    unwatch();
    queue.add(eventWork({ target: "id:2" }));
    expect(rung).toBe(2);
  });

  test("dead letters of events that a run revives are read by that run", ({ queue }) => {
    queue.add(eventWork());
    leaseAnd(queue, "events", (row) => queue.deadLetter(row, "odd"));
    queue.revive(people);
    expect(next(queue, "events")).toBeNull();
    expect(next(queue, "others")).toMatchObject({ lane: "changed", reason: "new", attempts: 0 });
  });
});

test("what an event worker retries stays with it beside a run, and goes to a run alone", ({ queue }) => {
  queue.add(eventWork());
  leaseAnd(queue, "events", (row) => queue.postpone(row, "503", 50_000));
  expect(queue.revive(people, "others")).toBe(0);
  expect(queue.nextDueMs(people, "events")).toBe(50_000);
  expect(queue.revive(people)).toBe(1);
  expect(next(queue, "others")).toMatchObject({ attempts: 0 });
});

test("a recheck is not added to a queued item, and an event overtakes a waiting recheck", ({ queue }) => {
  queue.add(eventWork({ reason: "people.updated" }));
  queue.addIfAbsent(eventWork({ reason: "recheck", dueAtMs: 60_000, dirtySeq: 9 }));
  expect(next(queue)).toMatchObject({ reason: "people.updated", dirtySeq: 1, dueAtMs: 0 });
  queue.addIfAbsent(eventWork({ target: "id:2", reason: "recheck", dueAtMs: 60_000 }));
  queue.add(eventWork({ target: "id:2", reason: "people.updated", dirtySeq: 3 }));
  expect(next(queue)).toMatchObject({ target: "id:2", reason: "people.updated", dueAtMs: 0 });
});

describe("an item that is postponed", () => {
  test("uses up no attempt, is waited for, and is due as soon as the reason has ended", ({ queue }) => {
    queue.add(eventWork());
    for (let times = 0; times < 5; times++)
      leaseAnd(queue, "all", (row) => queue.postpone(row, "waiting", 50_000), nowMs * 100);
    expect(next(queue)).toBeNull();
    expect(queue.nextRetryMs(people)).toBe(50_000);
    queue.expedite("people", "another reason");
    expect(next(queue)).toBeNull();
    queue.expedite("people", "waiting");
    expect(next(queue)).toMatchObject({ attempts: 1 });
  });

  test("stays behind the lists where it waits for one, and never before its own lane", ({ queue }) => {
    const leasedFrom = (["webhook", "scrub"] as const).map((lane, id) => {
      queue.add(eventWork({ lane, target: `id:${id}` }));
      leaseAnd(queue, "all", (row) => queue.postpone(row, "waiting", nowMs, "changed"));
      queue.expedite("people", "waiting");
      const again = leaseNext(queue, people, "all", nowMs);
      queue.done(again, 10);
      return again.lane;
    });
    expect(leasedFrom).toEqual(["changed", "scrub"]);
  });
});
