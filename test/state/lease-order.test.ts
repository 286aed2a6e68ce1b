import { describe, expect, test } from "vitest";
import type { Lane } from "../../src/base/lane.ts";
import { longestDelayMs, type NewWorkItem } from "../../src/state/work-item.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { openHasty, openShop } from "../support/mirror/mirror.ts";

const nowMs = 1_000;
const hourMs = 3_600_000;
const everything = ["people", "orders", "notes"];

type Added = Partial<NewWorkItem> & { readonly lane: Lane; readonly target: string };

async function queueOf(...items: readonly Added[]): Promise<WorkQueue> {
  const queue = new WorkQueue((await openShop()).db);
  for (const item of items)
    queue.add({ kind: "detail", resource: "people", reason: "r", dirtySeq: 1, ...item });
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
  return Array.from({ length: count }, (_, i) => {
    const id = i + 1;
    return { lane, resource, target: `${resource} ${id}`, rank: -id };
  });
}

const listAgain = (n: number): Added => ({ lane: "list", target: `page ${n}`, rank: 1 });

describe("details", () => {
  test("missing ones are read in turn over the resources, the newest of each first", async () => {
    const queue = await queueOf(...details("hydration", "orders", 4), ...details("hydration", "people", 2));
    queue.add({
      kind: "child",
      lane: "hydration",
      resource: "notes",
      target: "child",
      reason: "r",
      dirtySeq: 1,
    });
    expect(leases(queue)).toEqual([
      "child",
      "orders 4",
      "people 2",
      "orders 3",
      "people 1",
      "orders 2",
      "orders 1",
    ]);
  });

  test("of records known to have changed come before missing ones", async () => {
    const queue = await queueOf(...details("hydration", "orders", 1), ...details("changed", "people", 3));
    expect(leases(queue)).toEqual(["people 3", "people 2", "people 1", "orders 1"]);
  });

  test("of changed records hold back missing ones for half an hour only; then both get on", async () => {
    const queue = await queueOf(...details("hydration", "orders", 40), ...details("changed", "people", 90));
    const read = leases(queue, 60, (n) => nowMs + n * 60_000);
    expect(read.slice(0, 31).every((target) => target.startsWith("people"))).toBe(true);
    const later = read.slice(32).filter((target) => target.startsWith("orders"));
    expect(later).toHaveLength(14);
  });

  test("one that waits for another attempt, or is leased, holds back no other of its resource", async () => {
    const queue = await queueOf(...details("hydration", "people", 3));
    const first = queue.lease(nowMs, everything);
    if (!first) throw new Error("nothing is due");
    expect(queue.lease(nowMs, everything)?.target).toBe("people 2");
    queue.retry(first, "503", nowMs + 1_000);
    queue.release(first);
    expect(queue.lease(nowMs, everything)?.target).toBe("people 1");
    expect(queue.lease(nowMs + 1_000, everything)?.target).toBe("people 3");
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
    const queue = await queueOf(...details("hydration", "people", 1), {
      kind: "list",
      lane: "list",
      target: "page 1",
    });
    const page = queue.lease(nowMs, everything);
    expect(queue.lease(nowMs, everything)).toBeNull();
    if (page) queue.release(page);
    expect(leases(queue)).toEqual(["page 1", "people 1"]);
  });

  test("that are due again take turns with details, changed ones first", async () => {
    const queue = await queueOf(
      ...details("changed", "people", 1),
      ...details("hydration", "orders", 3),
      listAgain(1),
      listAgain(2),
      listAgain(3),
      { lane: "list", target: "first ever" },
      { lane: "scrub", target: "oldest" },
    );
    expect(leases(queue)).toEqual([
      "first ever",
      "page 1",
      "people 1",
      "page 2",
      "orders 3",
      "page 3",
      "orders 2",
      "orders 1",
      "oldest",
    ]);
  });
});

// Fault: clock | the clock is set back while items wait | the queue's due times, in each lane | what lies too far in the future is due now
describe("a clock that was set back", () => {
  const yearMs = 365 * 24 * hourMs;

  test.each(["webhook", "list", "changed", "hydration", "scrub", "files"] as const)(
    "holds up nothing in lane %s: what is due further away than the longest delay is due now",
    async (lane) => {
      const queue = await queueOf({ lane, target: "one", dueAtMs: yearMs + longestDelayMs });
      expect(queue.lease(yearMs - 1, everything)?.target).toBe("one");
      const again = await queueOf({ lane, target: "two", dueAtMs: yearMs + longestDelayMs });
      expect(again.lease(yearMs, everything)).toBeNull();
      expect(again.lease(yearMs + longestDelayMs, everything)?.target).toBe("two");
    },
  );
});

test("a lease finds its item among 20,000 without reading them", async () => {
  const mirror = await openHasty();
  const queue = new WorkQueue(mirror.db);
  mirror.apply(() => {
    for (const lane of ["list", "changed", "hydration", "scrub"] as const)
      for (const item of details(lane, "people", 5_000))
        queue.add({
          kind: "detail",
          resource: "people",
          reason: "r",
          dirtySeq: 1,
          ...item,
          target: `${lane}${item.target}`,
        });
  });
  const before = process.cpuUsage();
  expect(leases(queue, 500)).toHaveLength(500);
  // To read them each time would take minutes of work.
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});
