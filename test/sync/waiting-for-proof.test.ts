import { describe, expect, test } from "vitest";
import { NotFoundError } from "../../src/connector/service-errors.ts";
import type { WorkItem } from "../../src/state/work-item.ts";
import { handleFailure } from "../../src/sync/apply/handle-failure.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put, stampOf, startMs } from "../support/mirror/store.ts";
import { detail, runContextOf, stillClock } from "../support/mirror/run.ts";

const deleted = 200;
const atOnce = 4;
const missing = new NotFoundError("404", { serviceMessage: "No query results for model [Person] 7" });

/** Events said that people 1 to 200 are gone; nothing has proved their route lately. */
async function deletedByEvents(live: number) {
  const mirror = await openHasty();
  for (let id = 1; id <= deleted + live; id++) put(mirror, "people", person(id));
  let passedMs = 0;
  const clock = { ...stillClock, nowMs: () => startMs + passedMs };
  const run = runContextOf(mirror, { clock, runId: null, share: "events", allowMassDelete: true });
  const asked = { resource: "people", kind: "confirm", lane: "webhook", reason: "people.deleted" } as const;
  for (let id = 1; id <= deleted; id++) run.queue.add({ ...asked, target: `id:${id}`, dirtySeq: 1 });
  return { run, wait: (ms: number) => (passedMs += ms) };
}

/** Lists fail, and are tried again later. */
function answer(run: RunContext, item: WorkItem): void {
  if (item.kind === "list") {
    run.queue.retry(item, "the service is away", run.clock.nowMs() + 30_000);
    return run.queue.release(item);
  }
  const id = Number(item.target.slice("id:".length));
  const stamp = stampOf(run.mirror, { cause: "webhook" });
  if (id > deleted) return detail(run, "people", person(id), item, stamp);
  const read = { run, resource: resourceOf("people"), item, stamp };
  run.mirror.apply(() => handleFailure(read, missing, { kind: "missing" }));
  run.queue.release(item);
}

/** Answers what is due now, a few requests at once. Returns what was asked. */
function answerAll(run: RunContext, most = 2_000): string[] {
  const asked: string[] = [];
  for (;;) {
    const items = Array.from({ length: atOnce }, () =>
      run.queue.lease(run.clock.nowMs(), ["people"], "all"),
    ).filter((item) => item !== null);
    asked.push(...items.map(({ target }) => target));
    for (const item of items) answer(run, item);
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
    const { run, wait } = await deletedByEvents(100);
    let count = 0;
    for (let passedS = 0; passedS < 500; passedS++, wait(1_000))
      for (let item; (item = run.queue.lease(run.clock.nowMs(), ["people"])); count++)
        if (Number(item.target.slice("id:".length)) <= deleted) answer(run, item);
    expect(count).toBeLessThan(12 * deleted);
  });

  test("are not asked for while they wait for a list that is tried again later", async () => {
    const { run } = await deletedByEvents(0);
    run.begunLists.set("people", { resource: "people", variant: "", begunMs: startMs - 1 });
    expect(answerAll({ ...run, runId: 1 }).length).toBeLessThan(deleted + 5);
  });
});
