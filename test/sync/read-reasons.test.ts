import { describe, expect } from "vitest";
import type { Resource } from "../../src/connector/resource.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import type { WorkItem } from "../../src/state/work-item.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { queueOrphans, queueOverlapped } from "../../src/sync/plan/read-reasons.ts";
import { queueQuarantined, queueRecheck, queueRecord, queueScrub } from "../../src/sync/plan/read-reasons.ts";
import { withdrawScrub } from "../../src/sync/plan/scrub.ts";
import { openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { note, person } from "../support/mirror/shop-records.ts";
import { put, remove, rows, stampOf, startMs } from "../support/mirror/store.ts";
import { leased, runContextOf, waiting } from "../support/mirror/run.ts";

async function aRun(more: Partial<RunContext> = {}): Promise<RunContext> {
  return runContextOf(await openHasty(), more);
}

/** `confirm changed`: how the next item is read, and in which lane. */
function next(run: RunContext, share: RunContext["share"] = "all"): string {
  const item = run.queue.lease(startMs + 3_600_000, ["orders", "notes", "people", "receipts"], share);
  return `${item?.kind} ${item?.lane}`;
}

/** By the kind of the read and its lane. */
const reasons = {
  "detail hydration": ["new", "full"],
  "detail changed": ["changed", "closed", "overlapped", "cascade", "changed with another"],
  "confirm changed": ["absent", "no parent", "parent gone"],
  "confirm list": ["child list refused", "route probe"],
} as const;

describe("the read of one record", () => {
  test("has the kind and the lane of its reason", async () => {
    for (const [place, some] of Object.entries(reasons))
      for (const reason of some) {
        const run = await aRun();
        queueRecord({ run, stamp: stampOf(run.mirror) }, reason, { resource: "orders", id: 1 });
        expect(next(run), reason).toBe(place);
      }
  });

  test.each([
    ["after an event", "all", "webhook", "webhook"],
    ["in a quick run", "quick", "sweep", "quick"],
    ["after a repair beside the event worker", "events", "repair", "webhook"],
    ["after a repair in a run", "all", "repair", "changed"],
    ["after another read of the event worker", "events", "hydrate", "changed"],
  ] as const)("is in the lane of what led to it: %s", async (_, share, cause, lane) => {
    const run = await aRun({ share });
    queueRecord({ run, stamp: stampOf(run.mirror, { cause }) }, "changed", { resource: "orders", id: 1 });
    expect(next(run, share === "quick" ? "quick" : "all")).toBe(`detail ${lane}`);
  });

  test("on which reads overlapped is queued where it has a route of its own", ({ run }) => {
    const read = { run, stamp: stampOf(run.mirror) };
    queueOverlapped(read, resourceOf("colours"), 1);
    expect(waiting(run)).toEqual([]);
    queueOverlapped(read, resourceOf("orders"), 1);
    expect(waiting(run)).toEqual(["orders id:1 detail overlapped"]);
  });
});

describe("the second read of an event's record", () => {
  const event = { kind: "detail", resource: "orders", target: "id:1", lane: "webhook" } as const;
  const recheck = (run: RunContext, more: Partial<WorkItem> & { readonly reason: string }, completed = 1) => {
    const item = leased(run, { ...event, ...more });
    const stamp = stampOf(run.mirror, { receivedAtMs: startMs + 5_000 });
    run.queue.done(item, stamp.sentSeq);
    run.queue.release(item);
    queueRecheck({ run, resource: resourceOf("orders"), item, stamp }, completed);
    return rows(run.mirror, "SELECT kind, reason, due_ms AS due FROM _work");
  };

  test("comes a minute after the first", ({ run }) => {
    expect(recheck(run, { reason: "orders.updated" })).toEqual([
      { kind: "detail", reason: "recheck", due: startMs + 65_000 },
    ]);
    expect(run.queue.lease(startMs + 64_999, ["orders"])).toBeNull();
    expect(run.queue.lease(startMs + 65_000, ["orders"])).toMatchObject({ lane: "webhook", target: "id:1" });
  });

  test.each(["recheck", "route probe", "repair", "new", "changed", "closed", "full", "absent", "no parent"])(
    "follows from a read for another reason only where that completed an event: %s",
    async (reason) => {
      expect(recheck(await aRun(), { reason }, 0)).toEqual([]);
      expect(recheck(await aRun(), { reason }, 1)).toMatchObject([{ reason: "recheck" }]);
    },
  );

  test("follows from reads of other lanes only where these completed an event, so that a run revived it", async () => {
    const lane = "changed";
    expect(recheck(await aRun(), { reason: "orders.updated", lane }, 0)).toEqual([]);
    const [follows] = recheck(await aRun(), { reason: "orders.updated", lane }, 1);
    expect(follows).toMatchObject({ reason: "recheck" });
  });
});

describe("the scrub", () => {
  const source = { table: "orders", listOf: null, date: null, referrers: [] };
  const list = { table: "people", listOf: "notes", date: null, referrers: [] };
  const scrub = (run: RunContext, one: typeof source | typeof list, id: number) =>
    queueScrub(run, { source: one, id, readAtMs: 0 });

  test("reads a detail or the first page of a parent's list, after all else, in its own order", ({ run }) => {
    expect([scrub(run, list, 9), scrub(run, source, 7)]).toEqual([true, true]);
    expect(waiting(run)).toEqual(["notes child:people:9:1 child scrub", "orders id:7 detail scrub"]);
    expect(rows(run.mirror, "SELECT DISTINCT rank FROM _work")).toEqual([{ rank: 0 }]);
    queueRecord({ run, stamp: stampOf(run.mirror) }, "new", { resource: "orders", id: 1 });
    expect(next(run)).toBe("detail hydration");
    expect([next(run), next(run)].toSorted()).toEqual(["child scrub", "detail scrub"]);
  });

  test("leaves what is queued for another reason, and takes back only its own", ({ run }) => {
    queueRecord({ run, stamp: stampOf(run.mirror) }, "new", { resource: "orders", id: 1 });
    expect(scrub(run, source, 1)).toBe(false);
    expect(scrub(run, source, 2)).toBe(true);
    expect(withdrawScrub(run)).toBe(1);
    expect(waiting(run)).toEqual(["orders id:1 detail new"]);
  });
});

async function withNotes(): Promise<Mirror> {
  const mirror = await openHasty();
  put(mirror, "people", person(1));
  put(mirror, "people", person(2));
  for (const id of [5, 6, 7]) put(mirror, "notes", note(id, id - 4), { source: "detail" });
  remove(mirror, "people", 2);
  return mirror;
}

test("what is in quarantine is read again where no list shows it in full", async () => {
  const { people, colours } = { people: resourceOf("people"), colours: resourceOf("colours") };
  const some = [people, colours, resourceOf("orders"), resourceOf("notes")];
  const selected = (...more: Resource[]) => new Map([...some, ...more].map((one) => [one.name, one]));
  const run = await aRun({ selected: selected() });
  const stamp = stampOf(run.mirror);
  for (const resource of [...some.map(({ name }) => name), "receipts"])
    run.mirror.quarantine.add(stamp, { resource, id: 1, reason: "odd", json: "{}" });
  run.mirror.quarantine.add(stamp, { resource: "orders", id: null, reason: "odd", json: "{}" });
  queueQuarantined(run);
  expect(waiting(run)).toEqual(["notes id:1 detail quarantined", "orders id:1 detail quarantined"]);
  expect(next(run)).toBe("detail changed");
  queueQuarantined({ ...run, selected: selected({ ...people, fullWhen: ["score"] }) });
  expect(waiting(run)).toContain("people id:1 detail quarantined");
});

test("records that no parent's list can show are asked for once the parents' list is complete", async () => {
  const run = runContextOf(await withNotes());
  put(run.mirror, "notes", { ...note(8, 1), personId: null });
  const answer = (name: string) => {
    const page = { kind: "list", target: "page::1", lane: "list", reason: "sweep" } as const;
    const item = leased(run, { ...page, resource: name });
    run.queue.done(item, run.mirror.sequence.next());
    run.queue.release(item);
    return { run, resource: resourceOf(name), item, stamp: stampOf(run.mirror) };
  };
  queueOrphans(answer("orders"));
  expect(waiting(run)).toEqual([]);
  queueOrphans(answer("people"));
  expect(waiting(run)).toContain("notes id:7 confirm no parent");
  expect(waiting(run)).toContain("notes id:8 confirm no parent");
  expect(waiting(run)).not.toContain("notes id:5 confirm no parent");
});
