import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/connector/connector-manifest.ts";
import { dailyRemovals, runRemovals } from "../../src/sync/deletion/mass-delete-guard.ts";
import { lateRouteProofs, runRouteProofs, sharedRouteProofs } from "../../src/sync/deletion/route-proofs.ts";
import { removeRecord } from "../../src/sync/deletion/removal.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { manifestOf, openShop, resourceOf } from "../support/mirror.ts";
import { createDrivenClock } from "../support/rate-limit.ts";
import { put, reading, startMs } from "../support/store.ts";
import { detail, leased, sessionOf, waiting } from "../support/sync.ts";

const manifest: Manifest = {
  ...manifestOf(),
  events: ["people", "orders", "receipts"].map((resource) => ({
    type: `${resource}.updated`,
    resourceType: resource,
    resource,
    action: "refetch" as const,
  })),
};

const person = (id: number, name = "A") => ({ id, name, email: null, score: null });
const receipt = { id: 5, documentType: "order", documentId: 7, amount: 1 };

async function openEvents(): Promise<RunContext> {
  return sessionOf(await openShop({ manifest }), { run: null, share: "events" });
}

function read(session: RunContext, resource: string, record: { readonly id: number }, reason: string): void {
  const work = leased(session, {
    kind: "detail",
    resource,
    target: `id:${record.id}`,
    lane: "webhook",
    reason,
  });
  detail(session, resource, record, work, reading(session.mirror, { cause: "webhook" }));
}

/** People whom notes and a counter hang on, in ways of their own. */
const rippling: Manifest = {
  ...manifest,
  invalidationRules: [
    {
      resource: "people",
      reaches: "notes",
      by: { kind: "pointing", column: "body", is: "b", idColumn: "person_id" },
    },
    {
      resource: "people",
      reaches: "counters",
      by: { kind: "counting", column: "document_type", is: "order" },
    },
  ],
};

async function openRippling(): Promise<RunContext> {
  const session = sessionOf(await openShop({ manifest: rippling }), { run: null, share: "events" });
  put(session.mirror, "counters", { id: 1, documentType: "order", next: 1 });
  put(session.mirror, "counters", { id: 2, documentType: "credit-note", next: 1 });
  for (const [id, personId, body] of [
    [1, 1, "b"],
    [2, 2, "b"],
    [3, 1, "c"],
  ] as const)
    put(session.mirror, "notes", { id, body, personId, attachments: [] });
  return session;
}

const rippled = (session: RunContext) =>
  waiting(session).filter((row) => row.includes("changed with another"));

const lanes = ({ mirror }: RunContext) =>
  mirror.db.prepare("SELECT resource || ' ' || lane || ' ' || due_ms FROM _work ORDER BY id").pluck().all();

describe("after an event's read", () => {
  test("the record is looked at once more, a minute later, and then no more", async () => {
    const session = await openEvents();
    read(session, "people", person(1), "people.updated");
    expect(waiting(session)).toEqual(["people id:1 detail second look"]);
    expect(lanes(session)).toEqual([`people 0 ${startMs + 60_000}`]);
    session.mirror.db.exec("UPDATE _work SET due_ms = 0");
    read(session, "people", person(1), "second look");
    expect(waiting(session)).toEqual([]);
  });

  test("a payment's document is read, too; after a second look only if that found something", async () => {
    const session = await openEvents();
    read(session, "receipts", receipt, "receipts.updated");
    expect(waiting(session)).toEqual([
      "orders id:7 detail changed with another",
      "receipts id:5 detail second look",
    ]);
    session.mirror.db.exec("DELETE FROM _work");
    read(session, "receipts", receipt, "second look");
    expect(waiting(session)).toEqual([]);
    const changed = { ...receipt, amount: 2 };
    read(session, "receipts", changed, "second look");
    expect(waiting(session)).toEqual(["orders id:7 detail changed with another"]);
  });

  test("who names it is read again, and who counts its like when it is new", async () => {
    const session = await openRippling();
    read(session, "people", person(1), "people.updated");
    const named = "notes id:1 detail changed with another";
    expect(rippled(session)).toEqual(["counters id:1 detail changed with another", named]);
    session.mirror.db.exec("DELETE FROM _work");
    read(session, "people", person(1, "B"), "people.updated");
    expect(rippled(session)).toEqual([named]);
  });

  test("an event's own read goes before all that changed with another", async () => {
    const session = await openRippling();
    read(session, "people", person(1), "people.updated");
    const dirtySeq = session.mirror.sequence.next();
    session.queue.add({
      kind: "detail",
      resource: "people",
      target: "id:9",
      lane: "webhook",
      reason: "people.updated",
      dirtySeq,
    });
    const names = ["people", "notes", "counters"];
    expect(session.queue.lease(Date.now() + 60_000, names)).toMatchObject({ target: "id:9" });
  });

  test("a row that got another reason since is its event's all the same", async () => {
    const session = await openRippling();
    const { mirror } = session;
    const dirtySeq = mirror.sequence.next();
    mirror.db
      .prepare(
        "INSERT INTO _inbox (event_id, type, received_at, body, state, resource, target, dirty_seq) VALUES ('e', 'people.updated', '', '', 'waiting', 'people', 'id:1', ?)",
      )
      .run(dirtySeq);
    read(session, "people", person(1), "changed with another");
    expect(rippled(session)).toContain("notes id:1 detail changed with another");
    session.mirror.db.exec("DELETE FROM _work");
    read(session, "people", person(1, "B"), "changed with another");
    expect(rippled(session)).toEqual([]);
  });

  test("what follows from it stays in its lane; from a run's read it does not", async () => {
    const session = await openEvents();
    put(session.mirror, "colours", { id: 3, label: "red" });
    put(session.mirror, "orders", {
      id: 1,
      number: "A",
      total: 1,
      lines: [],
      receipts: [],
      remark: null,
      colourId: 3,
    });
    for (const cause of ["webhook", "sweep"] as const) {
      session.mirror.db.exec("DELETE FROM _work");
      put(session.mirror, "colours", { id: 3, label: cause });
      session.mirror.apply(() =>
        removeRecord(session, resourceOf("colours"), 3, reading(session.mirror, { cause })),
      );
      expect(lanes(session)).toEqual([cause === "webhook" ? "orders 0 0" : "orders 2 0"]);
    }
  });
});

describe("I5: what counts against the limit", () => {
  test("without an end, the last 24 hours do, those before a restart among them", async () => {
    const clock = createDrivenClock();
    const { db } = await openShop();
    const removals = dailyRemovals(db, clock);
    removals.add("people", 3);
    await clock.advance(12 * 3_600_000);
    removals.add("people", 2);
    expect([removals.count("people"), removals.count("orders")]).toEqual([5, 0]);
    await clock.advance(12 * 3_600_000);
    expect(removals.count("people")).toBe(2);
  });

  test("in the change log only what events removed is counted, and only lately", async () => {
    const clock = createDrivenClock();
    const session = await openEvents();
    const { mirror } = session;
    const day = 24 * 3_600_000;
    const deaths = [
      ["webhook", 0],
      ["webhook", -day + 1],
      ["webhook", -day - 1],
      ["confirm", 0],
    ] as const;
    for (const [id, [cause, ago]] of deaths.entries()) {
      put(mirror, "people", person(id + 1));
      const at = reading(mirror, { cause, receivedAtMs: clock.nowMs() + ago });
      mirror.apply(() => removeRecord(session, resourceOf("people"), id + 1, at));
    }
    expect(dailyRemovals(mirror.db, clock).count("people")).toBe(2);
    expect(runRemovals().count("people")).toBe(0);
  });

  test("a route that answered speaks for itself for ten minutes", async () => {
    const clock = createDrivenClock();
    const proofs = lateRouteProofs(clock);
    expect(proofs.has("people")).toBe(false);
    proofs.add("people");
    await clock.advance(600_000);
    expect([proofs.has("people"), proofs.has("orders")]).toEqual([true, false]);
    await clock.advance(1);
    expect(proofs.has("people")).toBe(false);
  });

  test("a route that answered one who works on the queue counts for the others, for ten minutes", async () => {
    const clock = createDrivenClock();
    const { queue } = await openEvents();
    const [run, tender] = [runRouteProofs(queue, clock), sharedRouteProofs(queue, clock)];
    tender.add("people");
    run.add("orders");
    expect([run.has("people"), tender.has("orders"), run.has("notes")]).toEqual([true, true, false]);
    await clock.advance(600_001);
    expect([run.has("people"), run.has("orders"), tender.has("orders")]).toEqual([false, true, false]);
    expect(sharedRouteProofs((await openEvents()).queue, clock).has("people")).toBe(false);
  });
});
