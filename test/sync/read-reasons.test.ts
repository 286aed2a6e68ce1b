import { describe, expect } from "vitest";
import type { Resource } from "../../src/connector/resource.ts";
import type { WorkItem } from "../../src/state/work-item.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import {
  queueOrphans,
  queueOverlapped,
  queueQuarantined,
  queueRecheck,
  queueRecord,
  queueScrub,
} from "../../src/sync/plan/read-reasons.ts";
import { withdrawScrub } from "../../src/sync/plan/scrub.ts";
import { openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { note, person } from "../support/mirror/shop-records.ts";
import { put, remove, rows, stampOf, startMs, texts } from "../support/mirror/store.ts";
import { answered, runContextOf, waiting } from "../support/mirror/run.ts";

const aRun = async (more: Partial<RunContext> = {}) => runContextOf(await openHasty(), more);

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
    const answer = answered(run, { ...event, ...more }, { receivedAtMs: startMs + 5_000 });
    queueRecheck(answer, completed);
    return texts(run.mirror, "SELECT kind, reason, due_ms FROM _work");
  };
  const second = `detail recheck ${startMs + 65_000}`;

  test.each(["recheck", "route probe", "repair", "new", "changed", "closed", "full", "absent", "no parent"])(
    "follows from a read for another reason only where that completed an event: %s",
    async (reason) => {
      expect(recheck(await aRun(), { reason }, 0)).toEqual([]);
      expect(recheck(await aRun(), { reason }, 1)).toEqual([second]);
    },
  );

  test("follows from reads of other lanes only where these completed an event, so that a run revived it", async () => {
    const revived = { reason: "orders.updated", lane: "changed" } as const;
    expect(recheck(await aRun(), revived, 0)).toEqual([]);
    expect(recheck(await aRun(), revived, 1)).toEqual([second]);
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
    // A parent's list of several pages was planned as one, and is one.
    const pages = { kind: "child", resource: "notes", lane: "scrub", reason: "scrub", dirtySeq: 1 } as const;
    for (const page of [2, 3]) run.queue.add({ ...pages, target: `child:people:9:${page}` });
    expect(withdrawScrub(run.queue, run.mirror.meta)).toBe(2);
    expect(waiting(run)).toEqual(["orders id:1 detail new"]);
  });
});

test("what is in quarantine is read again where no list shows it in full", async () => {
  const names = ["people", "colours", "orders", "notes"];
  const selected = (...more: Resource[]) =>
    new Map([...names.map(resourceOf), ...more].map((one) => [one.name, one]));
  const run = await aRun({ selected: selected() });
  const add = (resource: string, id: number | null) =>
    run.mirror.quarantine.add(stampOf(run.mirror), { resource, id, reason: "odd", json: "{}" });
  for (const resource of [...names, "receipts"]) add(resource, 1);
  add("orders", null);
  queueQuarantined(run);
  expect(waiting(run)).toEqual(["notes id:1 detail quarantined", "orders id:1 detail quarantined"]);
  expect(next(run)).toBe("detail changed");
  add("memos", 1);
  const { detail: _none, ...memos } = { ...resourceOf("notes"), name: "memos" };
  queueQuarantined({ ...run, selected: selected({ ...resourceOf("people"), fullWhen: ["score"] }, memos) });
  expect(waiting(run)).toContain("people id:1 detail quarantined");
  expect(waiting(run)).toHaveLength(3);
});

test("records that no parent's list can show are asked for once the parents' list is complete", ({
  mirror,
  run,
}) => {
  for (const id of [1, 2]) put(mirror, "people", person(id));
  for (const id of [5, 6, 7]) put(mirror, "notes", note(id, id - 4), { source: "detail" });
  remove(mirror, "people", 2);
  put(mirror, "notes", { ...note(8, 1), personId: null });
  const page = { kind: "list", target: "page::1", lane: "list", reason: "sweep" } as const;
  queueOrphans(answered(run, { ...page, resource: "orders" }));
  expect(waiting(run)).toEqual([]);
  queueOrphans(answered(run, { ...page, resource: "people" }));
  const orphans = [6, 7, 8].map((id) => `notes id:${id} confirm no parent`);
  expect(waiting(run).toSorted()).toEqual(orphans);
});
