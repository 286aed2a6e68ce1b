import { describe, expect, test } from "vitest";
import { dayMs, minuteMs } from "../../src/base/clock.ts";
import type { WorkItem } from "../../src/state/work-item.ts";
import { handleFailure } from "../../src/sync/apply/handle-failure.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { note, person } from "../support/mirror/shop-records.ts";
import { put, row, stampOf, startMs } from "../support/mirror/store.ts";
import { notFound } from "../support/errors.ts";
import { childPage, detail, leased, runContextOf, stillClock, waiting } from "../support/mirror/run.ts";

const deleted = 60;
const atOnce = 4;
const mostProbes = 3;
const missing = notFound("No query results for model [Person] 7");

const deletion = { resource: "people", kind: "confirm", lane: "webhook", reason: "people.deleted" } as const;

/** Events said that people 1 to 60 are gone; nothing has proved their route lately. */
async function deletedByEvents(live: number) {
  const mirror = await openHasty();
  for (let id = 1; id <= deleted + live; id++) put(mirror, "people", person(id));
  const time = { passedMs: 0, setMs: 0 };
  const nowMs = () => startMs + time.passedMs + time.setMs;
  const clock = { ...stillClock, nowMs, monotonicMs: () => time.passedMs };
  const run = runContextOf(mirror, { clock, runId: null, share: "events", allowMassDelete: true });
  for (let id = 1; id <= deleted; id++) run.queue.add({ ...deletion, target: `id:${id}`, dirtySeq: 1 });
  return { run, time };
}

/** Lists fail, and are tried again later. */
function answerOne(run: RunContext, item: WorkItem, isMissing = (id: number) => id <= deleted): void {
  if (item.kind === "list") {
    run.queue.retry(item, "the service is away", run.clock.nowMs() + 30_000);
    return run.queue.release(item);
  }
  const id = Number(item.target.slice("id:".length));
  const stamp = stampOf(run.mirror, { cause: "webhook" });
  if (!isMissing(id)) return detail(run, "people", person(id), item, stamp);
  const read = { run, resource: resourceOf("people"), item, stamp };
  run.mirror.apply(() => handleFailure(read, missing, { kind: "missing" }));
  run.queue.release(item);
}

/** Answers what is due now, a few requests at once. Returns what was asked. */
function answerAll(run: RunContext, isMissing?: (id: number) => boolean, most = 2_000): string[] {
  const asked: string[] = [];
  for (;;) {
    const items = Array.from({ length: atOnce }, () =>
      run.queue.lease(run.clock.nowMs(), ["people"], "all"),
    ).filter((item) => item !== null);
    asked.push(...items.map(({ target }) => target));
    for (const item of items) answerOne(run, item, isMissing);
    if (items.length === 0 || asked.length > most) return asked;
  }
}

describe("records that events deleted, on a route that nothing proved lately", () => {
  test("cost a request each and a few more: the route is proved before the rest is asked", async () => {
    const { run } = await deletedByEvents(100);
    const asked = answerAll(run);
    expect(run.mirror.records.counts("people").live).toBe(100);
    expect(asked.length).toBeGreaterThan(deleted);
    expect(asked.length).toBeLessThan(deleted + 20);
  });

  test("wait while their probe has no answer, each longer than before", async () => {
    const { run, time } = await deletedByEvents(100);
    let count = 0;
    for (let passedS = 0; passedS < 500; passedS++, time.passedMs += 1_000)
      for (let item; (item = run.queue.lease(run.clock.nowMs(), ["people"])); count++)
        if (Number(item.target.slice("id:".length)) <= deleted) answerOne(run, item);
    expect(count).toBeLessThan(12 * deleted);
  });

  test("have a new trial ten minutes after one that failed, also where the clock was set back", async () => {
    const { run, time } = await deletedByEvents(mostProbes);
    answerAll(run, () => true);
    expect(run.mirror.records.counts("people").live).toBe(deleted + mostProbes);
    Object.assign(time, { passedMs: 11 * minuteMs, setMs: -dayMs });
    run.queue.add({ ...deletion, target: "id:1", dirtySeq: run.mirror.sequence.next() });
    answerAll(run);
    expect(run.mirror.records.isLive("people", 1)).toBe(false);
  });

  test("are not asked for while they wait for a list that is tried again later", async () => {
    const { run } = await deletedByEvents(0);
    run.begunLists.set("people", { resource: "people", variant: "", begunMs: startMs - 1 });
    expect(answerAll({ ...run, runId: 1 }).length).toBeLessThan(deleted + 5);
  });
});

/** The note's own route answers 404. */
function ask(run: RunContext, id: number, reason: string): void {
  const target = `id:${id}`;
  const item = leased(run, { kind: "confirm", resource: "notes", lane: "changed", reason, target });
  const error = notFound(`No query results for model [Note] ${id}`);
  const answer = { run, resource: resourceOf("notes"), item, stamp: stampOf(run.mirror) };
  run.mirror.apply(() => handleFailure(answer, error, { kind: "missing" }));
  run.queue.release(item);
}

function isGone(run: RunContext, id: number): boolean {
  return row(run.mirror, "notes", id)?.["_deleted_at"] !== null;
}

/** Each note is of a person of its own; note 1 is asked for, and note 2 as its probe: both answer 404. */
async function afterProbe() {
  const mirror = await openHasty();
  for (const id of [1, 2]) {
    put(mirror, "people", person(id));
    put(mirror, "notes", note(id, id));
  }
  const run = runContextOf(mirror);
  ask(run, 1, "recheck");
  expect(waiting(run)).toContain("notes id:2 confirm route probe");
  ask(run, 2, "route probe");
  run.queue.drop("notes", "id:2");
  ask(run, 1, "recheck");
  return run;
}

describe("route probes of records that only the lists of their parents show", () => {
  test("lead to those lists once more; what they show is probed next (I5)", async () => {
    const run = await afterProbe();
    const lists = ["notes child:people:1:1 child parent", "notes child:people:2:1 child parent"];
    expect(waiting(run)).toEqual(expect.arrayContaining(lists));
    await childPage(run, 1, []);
    await childPage(run, 2, [note(2, 2)]);
    ask(run, 1, "absent");
    expect([isGone(run, 1), isGone(run, 2)]).toEqual([false, false]);
    expect(waiting(run)).toContain("notes id:2 confirm route probe");
  });

  test("where those show neither, none of them should exist, and the service's message counts (I11)", async () => {
    const run = await afterProbe();
    await childPage(run, 1, []);
    await childPage(run, 2, []);
    expect(waiting(run)).toEqual(["notes id:1 confirm absent", "notes id:2 confirm absent"]);
    for (const id of [1, 2]) ask(run, id, "absent");
    expect([isGone(run, 1), isGone(run, 2)]).toEqual([true, true]);
  });

  test("a record of which no list was doubted waits for proof by those that no list shows (I5)", async () => {
    const run = await afterProbe();
    await childPage(run, 1, []);
    await childPage(run, 2, []);
    put(run.mirror, "notes", note(3, 2));
    ask(run, 3, "changed");
    expect(isGone(run, 3)).toBe(false);
  });
});
