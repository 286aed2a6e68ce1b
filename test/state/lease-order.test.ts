import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import { lanes, type Lane } from "../../src/base/lane.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { longestDelayMs, type NewWorkItem } from "../../src/state/work-item.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { leaseNext } from "../support/mirror/run.ts";
import { work } from "../support/mirror/state-rows.ts";

const nowMs = 1_000;
const everything = ["people", "orders", "notes"];

type Added = Partial<NewWorkItem> & { readonly lane: Lane; readonly target: string };

let opened: Mirror;

async function queueOf(...items: readonly Added[]): Promise<WorkQueue> {
  opened = await openHasty();
  const queue = new WorkQueue(opened.db);
  for (const item of items) queue.add(work(item));
  return queue;
}

/** The targets of the next leases; each item is read at once. */
function leases(queue: WorkQueue, most = 99, atMs: (n: number) => number = () => nowMs): string[] {
  const targets: string[] = [];
  while (targets.length < most) {
    const item = queue.lease(atMs(targets.length), everything);
    if (!item) break;
    targets.push(item.target);
    queue.done(item, item.dirtySeq);
    queue.release(item);
  }
  return targets;
}

function details(lane: Lane, resource: string, count: number): Added[] {
  const ids = Array.from({ length: count }, (_, i) => i + 1);
  return ids.map((id) => ({ lane, resource, target: `${resource} ${id}`, rank: -id }));
}

const listAgain = (n: number): Added => ({ lane: "list", target: `page ${n}`, rank: 1 });

describe("details", () => {
  test("missing ones are read in turn over the resources, the newest of each first", async () => {
    const queue = await queueOf(...details("hydration", "orders", 4), ...details("hydration", "people", 2));
    queue.add(work({ kind: "child", resource: "notes", target: "child" }));
    const turns = "child, orders 4, people 2, orders 3, people 1, orders 2, orders 1";
    expect(leases(queue).join(", ")).toBe(turns);
  });

  test("of changed records hold back missing ones for half an hour only; then both get on", async () => {
    const queue = await queueOf(...details("hydration", "orders", 40), ...details("changed", "people", 90));
    const read = leases(queue, 60, (n) => nowMs + n * 60_000);
    expect(read.slice(0, 31).filter((target) => !target.startsWith("people"))).toEqual([]);
    const later = read.slice(32).filter((target) => target.startsWith("orders"));
    expect(later).toHaveLength(14);
  });

  test("one that waits for another attempt, or is leased, holds back no other of its resource", async () => {
    const queue = await queueOf(...details("hydration", "people", 3));
    const next = (atMs = nowMs) => leaseNext(queue, everything, "all", atMs);
    const first = next();
    expect(next().target).toBe("people 2");
    queue.retry(first, "503", nowMs + 1_000);
    queue.release(first);
    expect([next().target, next(nowMs + 1_000).target]).toEqual(["people 1", "people 3"]);
  });
});

describe("lists", () => {
  test("that were never read whole come before any detail", async () => {
    const queue = await queueOf(
      ...details("changed", "people", 1),
      ...details("hydration", "people", 1).map((one) => ({ ...one, target: "missing" })),
      { lane: "list", target: "page 1" },
      { lane: "list", target: "page 2" },
    );
    expect(leases(queue)).toEqual(["page 1", "page 2", "people 1", "missing"]);
  });

  test("hold details back while they are under way: their answers may bring more pages", async () => {
    const first: Added = { kind: "list", lane: "list", target: "page 1" };
    const queue = await queueOf(...details("hydration", "people", 1), first);
    const page = leaseNext(queue, everything, "all", nowMs);
    expect(queue.lease(nowMs, everything)).toBeNull();
    queue.release(page);
    expect(leases(queue)).toEqual(["page 1", "people 1"]);
  });

  test("that are due again take turns with details, changed ones first", async () => {
    const queue = await queueOf(
      ...details("changed", "people", 1),
      ...details("hydration", "orders", 3),
      ...[1, 2, 3].map(listAgain),
      { lane: "list", target: "first ever" },
      { lane: "scrub", target: "oldest" },
    );
    const turns = "first ever, page 1, people 1, page 2, orders 3, page 3, orders 2, orders 1, oldest";
    expect(leases(queue).join(", ")).toBe(turns);
  });
});

const yearMs = 365 * 24 * hourMs;

// Fault: clock | the clock is set back while items wait | the queue's due times, in each lane | what lies too far in the future is due now
test("a clock set back holds up no lane: what is due beyond the longest delay is due now", async () => {
  const queue = await queueOf();
  for (const lane of lanes.filter((one) => one !== "quick")) {
    const add = () => queue.add(work({ lane, target: lane, dueAtMs: yearMs + longestDelayMs }));
    add();
    expect(queue.lease(yearMs, everything)).toBeNull();
    expect(leases(queue, 1, () => yearMs - 1)).toEqual([lane]);
    add();
    expect(leases(queue, 1, () => yearMs + longestDelayMs)).toEqual([lane]);
  }
});

test("a lease finds its item, and when the next one is due, by an index, however many wait", async () => {
  const queue = await queueOf(...lanes.map((lane) => ({ lane, target: lane, dueAtMs: nowMs })));
  const prepared = vi.spyOn(Database.prototype, "prepare");
  onTestFinished(() => prepared.mockRestore());
  for (const share of ["all", "quick", "asked", "events"] as const)
    while (queue.lease(nowMs, everything, share)) queue.nextDueMs(everything, share);
  const asked = prepared.mock.calls.map(([sql]) => sql);
  const plans = asked.flatMap((sql) => {
    const places = Array(sql.split("?").length - 1).fill(null);
    return opened.db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...places) as { detail: string }[];
  });
  const searches = plans.filter(({ detail }) => detail.includes("_work"));
  expect(searches.length).toBeGreaterThan(asked.length);
  for (const { detail } of searches) expect(detail).toMatch(/^SEARCH _work USING (COVERING )?INDEX/);
  expect(plans.filter(({ detail }) => detail.includes("ORDER BY"))).toEqual([]);
});
