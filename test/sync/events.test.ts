import { describe, expect } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import type { ConnectorDeclaration } from "../../src/connector/connector-declaration.ts";
import { dailyRemovals, routeProofs, runRemovals } from "../../src/sync/deletion/deletion.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { declarationOf, openHasty } from "../support/mirror/mirror.ts";
import { test as shopTest } from "../support/mirror/shop-test.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { work } from "../support/mirror/state-rows.ts";
import { note, order, person } from "../support/mirror/shop-records.ts";
import { put, stampOf, startMs, texts } from "../support/mirror/store.ts";
import { detail, leased, removeProven, runContextOf, waiting } from "../support/mirror/run.ts";

const events = ["people", "orders", "receipts"].map((resource) => {
  return { type: `${resource}.updated`, resourceType: resource, resource, action: "refetch" as const };
});
const declaration: ConnectorDeclaration = { ...declarationOf(), events };

const receipt = { id: 5, documentType: "order", documentId: 7, amount: 1 };

async function openEvents(shop = declaration): Promise<RunContext> {
  return runContextOf(await openHasty({ declaration: shop }), { runId: null, share: "events" });
}

const test = shopTest.extend("run", () => openEvents());

function read(run: RunContext, resource: string, record: { readonly id: number }, reason: string): void {
  const item = leased(run, { ...work({ resource, lane: "webhook", reason }), target: `id:${record.id}` });
  detail(run, resource, record, item, stampOf(run.mirror, { cause: "webhook" }));
}

/** Notes and a counter change with people, by one rule each. */
const pointing = { kind: "pointing", column: "body", is: "b", idColumn: "person_id" } as const;
const counting = { kind: "counting", column: "document_type", is: "order" } as const;
const invalidationRules = [
  { resource: "people", dependent: "notes", by: pointing },
  { resource: "people", dependent: "counters", by: counting },
];

async function openWithRules(): Promise<RunContext> {
  const run = await openEvents({ ...declaration, invalidationRules });
  for (const [i, documentType] of ["order", "credit-note"].entries())
    put(run.mirror, "counters", { id: i + 1, documentType, next: 1 });
  for (const one of [note(1, 1), note(2, 2), note(3, 1, "c")]) put(run.mirror, "notes", one);
  return run;
}

const dependents = (run: RunContext) => waiting(run).filter((row) => row.includes("changed with another"));

const lanes = ({ mirror }: RunContext) =>
  texts(mirror, "SELECT resource, lane, due_ms FROM _work ORDER BY id");

describe("after an event's read", () => {
  // Fault: webhook | an event is sent before its own change is committed | the read of an event's record | the record is read once more a minute later, and then no more
  test("the record is read once more, a minute later, and then no more", ({ run }) => {
    read(run, "people", person(1), "people.updated");
    expect(waiting(run)).toEqual(["people id:1 detail recheck"]);
    expect(lanes(run)).toEqual([`people 0 ${startMs + 60_000}`]);
    run.mirror.db.exec("UPDATE _work SET due_ms = 0");
    read(run, "people", person(1), "recheck");
    expect(waiting(run)).toEqual([]);
  });

  test("a payment's document is read as well; after a recheck only if that found a change", ({ run }) => {
    read(run, "receipts", receipt, "receipts.updated");
    expect(waiting(run)).toEqual(["orders id:7 detail changed with another", "receipts id:5 detail recheck"]);
    run.mirror.db.exec("DELETE FROM _work");
    read(run, "receipts", receipt, "recheck");
    expect(waiting(run)).toEqual([]);
    const changed = { ...receipt, amount: 2 };
    read(run, "receipts", changed, "recheck");
    expect(waiting(run)).toEqual(["orders id:7 detail changed with another"]);
  });

  test("records that point to it are read, and counters when it is new", async () => {
    const run = await openWithRules();
    read(run, "people", person(1), "people.updated");
    const named = "notes id:1 detail changed with another";
    expect(dependents(run)).toEqual(["counters id:1 detail changed with another", named]);
    run.mirror.db.exec("DELETE FROM _work");
    read(run, "people", person(1, "B"), "people.updated");
    expect(dependents(run)).toEqual([named]);
  });

  test("an event's own read goes before all that changed with another", async () => {
    const run = await openWithRules();
    read(run, "people", person(1), "people.updated");
    run.queue.add(work({ target: "id:9", lane: "webhook", reason: "people.updated" }));
    const names = ["people", "notes", "counters"];
    expect(run.queue.lease(Date.now() + 60_000, names)).toMatchObject({ target: "id:9" });
  });

  test("an item whose reason was replaced is still its event's", async () => {
    const run = await openWithRules();
    const sql = `INSERT INTO _inbox (event_id, type, received_at, body, state, resource, target, dirty_seq)
      VALUES ('e', 'people.updated', '', '', 'waiting', 'people', 'id:1', ?)`;
    run.mirror.db.prepare(sql).run(run.mirror.sequence.next());
    read(run, "people", person(1), "changed with another");
    expect(dependents(run)).toContain("notes id:1 detail changed with another");
    run.mirror.db.exec("DELETE FROM _work");
    read(run, "people", person(1, "B"), "changed with another");
    expect(dependents(run)).toEqual([]);
  });

  test("what follows from it stays in its lane; what follows from a run's read does not", ({ run }) => {
    put(run.mirror, "colours", { id: 3, label: "red" });
    put(run.mirror, "orders", order(1, { colourId: 3 }));
    for (const cause of ["webhook", "sweep"] as const) {
      run.mirror.db.exec("DELETE FROM _work");
      put(run.mirror, "colours", { id: 3, label: cause });
      removeProven(run, "colours", 3, stampOf(run.mirror, { cause }));
      expect(lanes(run)).toEqual([cause === "webhook" ? "orders 0 0" : "orders 2 0"]);
    }
  });
});

describe("I5: what counts against the limit", () => {
  test("in the event worker, the last 24 hours do", async () => {
    const clock = new DrivenClock();
    const { db } = await openHasty();
    const removals = dailyRemovals(db, clock);
    removals.add("people", 3);
    await clock.advance(dayMs / 2);
    removals.add("people", 2);
    expect([removals.count("people"), removals.count("orders")]).toEqual([5, 0]);
    await clock.advance(dayMs / 2);
    expect(removals.count("people")).toBe(2);
  });

  test("in the change log only what events removed is counted, and only lately", async () => {
    const clock = new DrivenClock();
    const run = await openEvents();
    const { mirror } = run;
    for (const [id, ago] of [0, dayMs - 1, dayMs + 1, 0].entries()) {
      put(mirror, "people", person(id + 1));
      const cause = id === 3 ? "confirm" : "webhook";
      removeProven(run, "people", id + 1, stampOf(mirror, { cause, receivedAtMs: clock.nowMs() - ago }));
    }
    expect(dailyRemovals(mirror.db, clock).count("people")).toBe(2);
    expect(runRemovals().count("people")).toBe(0);
  });

  test("a route that answered one worker of the queue is proven to the others, for ten minutes", async () => {
    const clock = new DrivenClock();
    const { queue } = await openEvents();
    const [run, worker] = [routeProofs(queue, clock), routeProofs(queue, clock, null)];
    worker.add("people");
    run.add("orders");
    expect([run.has("people"), worker.has("orders"), run.has("notes")]).toEqual([true, true, false]);
    await clock.advance(600_001);
    expect([run.has("people"), run.has("orders"), worker.has("orders")]).toEqual([false, true, false]);
    expect(routeProofs((await openEvents()).queue, clock).has("people")).toBe(false);
  });
});
