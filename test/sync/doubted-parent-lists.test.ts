import { describe, expect, test } from "vitest";
import { NotFoundError } from "../../src/connector/service-errors.ts";
import { handleFailure } from "../../src/sync/apply/handle-failure.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { note, person } from "../support/mirror/shop-records.ts";
import { put, row, stampOf } from "../support/mirror/store.ts";
import { childPage, leased, runContextOf, waiting } from "../support/mirror/run.ts";

/** The note's own route answers 404. */
function ask(run: RunContext, id: number, reason: string): void {
  const item = leased(run, {
    kind: "confirm",
    resource: "notes",
    lane: "changed",
    reason,
    target: `id:${id}`,
  });
  const error = new NotFoundError("404", { serviceMessage: `No query results for model [Note] ${id}` });
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
