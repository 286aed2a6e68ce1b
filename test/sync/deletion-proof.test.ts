import { describe, expect } from "vitest";
import { dayMs, minuteMs } from "../../src/base/clock.ts";
import { handleFailure } from "../../src/sync/apply/handle-failure.ts";
import { deletionVerdict, probeRoute, mayRemove, massDeleteLimit } from "../../src/sync/deletion/deletion.ts";
import { longestDelayMs, type WorkItem } from "../../src/state/work-item.ts";
import type { AnswerContext, RunContext } from "../../src/sync/context/run-context.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { note, person } from "../support/mirror/shop-records.ts";
import { work, workItem } from "../support/mirror/state-rows.ts";
import { put, row, startMs } from "../support/mirror/store.ts";
import { notFound } from "../support/errors.ts";
import {
  answerTo,
  childPage,
  detail,
  detailWork,
  leased,
  page,
  runContextOf,
  stillClock,
  waiting,
} from "../support/mirror/run.ts";

const missing = "No query results for model [Person] 7";

const counter = (id: number, documentType: string) => ({ id, documentType, next: 1 });

async function withPeople(count: number, more: Partial<RunContext> = {}): Promise<RunContext> {
  const mirror = await openHasty();
  for (let id = 1; id <= count; id++) put(mirror, "people", person(id));
  return runContextOf(mirror, more, ["people", "colours", "counters"]);
}

async function withColours(): Promise<RunContext> {
  const run = await withPeople(0);
  for (const id of [1, 2]) put(run.mirror, "colours", { id, label: "x" });
  return run;
}

function asking(run: RunContext, resource: string, id: number, why: Partial<WorkItem> = {}): AnswerContext {
  const asked = { kind: "confirm", lane: "webhook", reason: "absent", ...why } as const;
  return answerTo(run, workItem({ ...asked, resource, target: `id:${id}` }));
}

describe("I5: what a 404 proves", () => {
  const notThere = "The route could not be found.";
  // Fault: service | a record's route answers 404 for every record, with a page or in the service's words | the verdict on a 404 | on a route that nothing proves: no deletion (I5)
  // Fault: service | 404 with an HTML page | the verdict on a 404 | it proves no deletion (I5)
  // Fault: service | one new record is in the list and answers 404 | the verdict on a 404 | unproven: it comes when it answers
  test.each([
    ["on a route that answered 200 in this run: the record is deleted", missing, true, [], "deleted"],
    ["with another message, on a proven route: deleted too", "Not Found", true, [], "deleted"],
    ["without the service's JSON: nothing, it may be a proxy's page", null, true, [], "unproven"],
    ["on an unproven route, with records its list shows: one is read first", missing, false, [7, 3], "probe"],
    ["of a record that the list of the same run shows", missing, false, [7], "unproven"],
    ["on an unproven route with no other record: the message counts", missing, false, [], "deleted"],
    ["there with the message for a missing route: nothing", notThere, false, [], "unproven"],
    ["there with an empty message: nothing", "", false, [], "unproven"],
  ] as const)("%s", async (_case, message, proven, shown, kind) => {
    const run = await withPeople(0);
    if (proven) run.provenRoutes.add("people");
    run.probeCandidates.set("people", [...shown]);
    const verdict = deletionVerdict(asking(run, "people", 7), notFound(message));
    expect(verdict).toMatchObject({ kind, ...(kind === "probe" && { candidates: [3] }) });
  });

  // Fault: service | a record's route answers 200 with a message in place of the record | the verdict on a 404 | nothing is proved: no deletion (I5)
  test("a detail that was read proves its route for the run, and for that resource only", ({ run }) => {
    const verdict = (name: string) => deletionVerdict(asking(run, name, 7), notFound("Not Found")).kind;
    const item = detailWork(run, "people", 1);
    expect(() => detail(run, "people", { message: "wait" }, item)).toThrow("no such record came");
    expect(verdict("people")).toBe("unproven");
    detail(run, "people", person(1), item);
    expect([verdict("people"), verdict("notes")]).toEqual(["deleted", "unproven"]);
  });
});

/** Asks for person 1 until no other record is left to probe with; each probe answers 404. */
function exhaust(run: RunContext, begunMs: number) {
  run.begunLists.set("people", { resource: "people", variant: "", begunMs });
  const item = leased(run, work({ kind: "confirm", lane: "changed", reason: "absent" }));
  const ask = () => {
    for (const id of [2, 3]) run.queue.drop("people", `id:${id}`);
    return probeRoute(answerTo(run, item), [2, 3]);
  };
  for (const probe of [2, 3]) {
    expect(ask()).toBeNull();
    expect(waiting(run)).toContain(`people id:${probe} confirm route probe`);
  }
  return ask;
}

const due = (run: RunContext) =>
  run.mirror.db.prepare("SELECT due_ms FROM _work WHERE target = 'id:1'").pluck().get();

describe("route probes that all answer 404", () => {
  // Fault: service | a run is resumed, and the records that its list showed last were deleted | the answers of their route, after a list of an earlier run | the list is read again, so that their 404 proves something (I5)
  test("lead to the list once more where an earlier run read it; the record waits until it is complete", async () => {
    const run = await withPeople(3);
    const ask = exhaust(run, startMs - 1);
    expect(ask()).toBeNull();
    expect(ask()).toBeNull();
    expect(waiting(run)).toEqual(["people id:1 confirm absent", "people page::1 list sweep"]);
    expect(due(run)).toBe(startMs + longestDelayMs);
    await page(run, "people", [person(1), person(3)], { perPage: 10 });
    expect(due(run)).toBe(0);
    const verdict = deletionVerdict(asking(run, "people", 1), notFound(missing));
    expect(verdict).toEqual({ kind: "probe", candidates: [3] });
  });

  // Fault: service | a run is resumed, and the route is broken for all records | the answers of their route, after a list of an earlier run | the list is read once and none is deleted (I5)
  test("prove nothing where this run read the list, or has read it again", async () => {
    const fresh = await withPeople(3);
    expect(exhaust(fresh, startMs)()).toContain("so 404 proves nothing");
    const again = await withPeople(3);
    exhaust(again, startMs - 1)();
    await page(again, "people", [person(1), person(3)], { perPage: 10 });
    again.queue.drop("people", "id:");
    expect(exhaust(again, startMs - 1)()).toContain("so 404 proves nothing");
  });
});

describe("I5: of the only record that the mirror holds, a 404 on a route that nothing proves", () => {
  const error = notFound(missing);
  const verdict = async (why: Partial<WorkItem>) =>
    deletionVerdict(asking(await withPeople(1), "people", 1, why), error).kind;

  test.each([
    ["probe", "detail", ["people.updated", "recheck", "new", "changed", "scrub", "full"]],
    ["probe", "confirm", ["route probe"]],
    ["deleted", "confirm", ["absent", "people.deleted", "recheck", "parent gone"]],
  ] as const)(
    "proves a deletion only where something else asks for it: %s, of a %s for %j",
    async (...one) => {
      const [expected, kind, reasons] = one;
      for (const reason of reasons) expect(await verdict({ kind, reason }), reason).toBe(expected);
    },
  );

  // Fault: webhook | an event of a record that never existed | the verdict on a 404 | completed as absent, and nothing is written
  test.each(["people.updated", "overlapped"])("of a record that it never had, after %s", async (reason) => {
    const run = await withPeople(0);
    const { kind } = deletionVerdict(asking(run, "people", 7, { kind: "detail", reason }), error);
    expect(kind).toBe(reason === "overlapped" ? "probe" : "deleted");
  });

  test("proves nothing of a record the mirror never had, where it owns one the mirror has", ({ run }) => {
    const updated = { kind: "detail", reason: "orders.updated" } as const;
    const asksFor = (id: number) => deletionVerdict(asking(run, "orders", id, updated), error).kind;
    put(run.mirror, "receipts", { id: 1, documentType: "order", documentId: 4, amount: 1 });
    expect([asksFor(4), asksFor(5)]).toEqual(["probe", "deleted"]);
  });

  test("a route probe makes no question of deletion of what is queued, and is none once there is another reason", async () => {
    for (const first of ["recheck", "route probe"]) {
      const run = await withPeople(1);
      const [one, other] = ["recheck", "route probe"].toSorted((a) => (a === first ? -1 : 1));
      for (const reason of [one, other] as string[])
        run.queue.add(work({ kind: reason === "recheck" ? "detail" : "confirm", lane: "webhook", reason }));
      expect(waiting(run)).toEqual(["people id:1 detail recheck"]);
    }
  });
});

describe("I5: a run that would remove too much needs permission", () => {
  test("one in twenty of a table's records may be removed in one run, and 20 in any case", () => {
    const limits = [0, 400, 401, 420, 1_000, 99_999].map(massDeleteLimit);
    expect(limits).toEqual([20, 20, 20, 21, 50, 4_999]);
  });

  test("counts over a run by resource, without what it refused; --allow-mass-delete lifts it", ({ run }) => {
    expect(mayRemove(run, "people", 15)).toBe(true);
    expect(mayRemove(run, "people", 6)).toBe(false);
    expect(mayRemove(run, "people", 5)).toBe(true);
    expect(mayRemove(run, "people", 1)).toBe(false);
    expect(mayRemove(run, "orders", 20)).toBe(true);
    expect(mayRemove({ ...run, allowMassDelete: true }, "people", 10_000)).toBe(true);
  });

  // Fault: service | the lists of many parents are refused, and the parents answer 404 | the guard against mass deletions | no more are removed than without permission (I5)
  test.each(["child list refused", "repair"])("counts what no list showed as absent: %s", async (reason) => {
    const run = await withPeople(30, { provenRoutes: new Set(["people"]) });
    for (const id of run.mirror.records.liveIds("people")) {
      const asked = { kind: "confirm", lane: "list", reason, target: `id:${id}` } as const;
      answerMissing(answerTo(run, leased(run, work(asked))));
    }
    expect(run.mirror.records.counts("people").live).toBe(10);
    expect(run.tally.allTroubles()).toMatchObject([{ resource: "people", kind: "held" }]);
  });
});

describe("I5: absence is a reason to ask, never to delete", () => {
  // Fault: pagination | a complete list lacks records | a list's answer | each is asked for on its own route, none is deleted (I5)
  test("records missing from a complete list are checked on their own route, and no others", async () => {
    const run = await withPeople(4);
    await page(run, "people", [person(1), person(3)], { perPage: 10 });
    expect(waiting(run)).toEqual(["people id:2 confirm absent", "people id:4 confirm absent"]);
    expect(run.mirror.records.counts("people").live).toBe(4);
  });

  // Fault: pagination | a record is created while the list is read | a list's answer | it does not count as absent (I5)
  test("a record that was created while the list was read is not absent", async () => {
    const run = await withPeople(2);
    await page(run, "people", [person(1)], { perPage: 1, total: 3 });
    detail(run, "people", person(3), detailWork(run, "people", 3));
    await page(run, "people", [person(4)], { page: 3, perPage: 1, total: 3 });
    await page(run, "people", [person(2)], { page: 2, perPage: 1, total: 3 });
    expect(waiting(run)).toEqual([]);
  });

  // Fault: pagination | an empty list where there were many | a list's answer | too many at once: none is asked for or deleted (I5)
  test("an empty list checks each of few records, and none of many: too many at once", async () => {
    const few = await withPeople(3);
    await page(few, "people", []);
    expect([waiting(few).length, few.mirror.records.counts("people").live]).toEqual([3, 3]);
    const run = await withPeople(25);
    await page(run, "people", []);
    expect(run.queue.counts()).toEqual([{ resource: "people", kind: "list", state: "held", count: 1 }]);
    const [trouble] = run.tally.allTroubles();
    expect(trouble).toMatchObject({ resource: "people", kind: "held" });
    expect(trouble?.message).toContain("25 of 25");
    expect(trouble?.hint).toContain("--allow-mass-delete");
  });

  test("a lookup without a route of its own is removed when its complete list no longer shows it", async () => {
    const run = await withColours();
    await page(run, "colours", [{ id: 1, label: "x" }]);
    expect(row(run.mirror, "colours", 2)?.["_deleted_at"]).not.toBeNull();
    expect(run.tally.of("colours").deleted).toBe(1);
  });

  // Fault: pagination | an empty list of a lookup without routes of its own | a list's answer | nothing is removed (I5)
  test.each([
    ["is empty", "held", []],
    ["shows one twice", "unsettled", [1, 1]],
    ["holds one without a usable id", "held", [1, "two"]],
  ])("but not when the list cannot be trusted: it %s", async (_case, kept, ids) => {
    const run = await withColours();
    const shown = ids.map((id) => ({ id, label: "x" }));
    for (const attempt of [1, 2, 3]) await page(run, "colours", shown, { attempt });
    expect(run.mirror.records.counts("colours").live).toBe(2);
    expect(run.tally.allTroubles().map(({ kind }) => kind)).toContain(kept);
  });

  test("of a list in variants, each counts for its own records only", async () => {
    const run = await withPeople(0);
    for (const one of [counter(1, "order"), counter(2, "order"), counter(3, "credit-note")]) {
      put(run.mirror, "counters", one);
    }
    await page(run, "counters", [counter(1, "order")], { variant: "order" });
    expect(run.mirror.records.liveIds("counters")).toEqual([1, 3]);
  });

  test("a child missing from its parent's list is checked, others are not", async ({ mirror, run }) => {
    for (const one of [note(1, 1), note(2, 1), note(3, 2)]) put(mirror, "notes", one);
    await childPage(run, 1, [note(1, 1)]);
    expect(waiting(run)).toEqual(["notes id:2 confirm absent"]);
  });
});

const deleted = 60;
const atOnce = 4;
const mostProbes = 3;

const deletion = { resource: "people", kind: "confirm", lane: "webhook", reason: "people.deleted" } as const;

/** Events said that people 1 to 60 are gone; nothing has proved their route lately. */
async function deletedByEvents(live: number) {
  const time = { passedMs: 0, setMs: 0 };
  // As the system's clocks: whole milliseconds of the day, fractions of the other one.
  const nowMs = () => Math.floor(startMs + time.passedMs + time.setMs);
  const clock = { ...stillClock, nowMs, monotonicMs: () => time.passedMs };
  const worker = { clock, runId: null, share: "events", allowMassDelete: true } as const;
  const run = await withPeople(deleted + live, worker);
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
  const answer = answerTo(run, item, { cause: "webhook" });
  if (!isMissing(id)) return detail(run, "people", person(id), item, answer.stamp);
  answerMissing(answer);
}

function answerMissing(answer: AnswerContext): void {
  const { run, item } = answer;
  run.mirror.apply(() => handleFailure(answer, notFound(missing), { kind: "missing" }));
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
    for (let passedS = 0; passedS < 500; passedS++, time.passedMs += 1_000.1)
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
function askForNote(run: RunContext, id: number, reason: string): void {
  const asked = { kind: "confirm", resource: "notes", lane: "changed", reason } as const;
  answerMissing(answerTo(run, leased(run, { ...asked, target: `id:${id}` })));
}

function isGone(run: RunContext, id: number): boolean {
  return row(run.mirror, "notes", id)?.["_deleted_at"] !== null;
}

/** Each note is of a person of its own; note 1 is asked for, and note 2 as its probe: both answer 404. */
async function afterProbe() {
  const { mirror } = await withPeople(2);
  for (const id of [1, 2]) put(mirror, "notes", note(id, id));
  const run = runContextOf(mirror);
  askForNote(run, 1, "recheck");
  expect(waiting(run)).toContain("notes id:2 confirm route probe");
  askForNote(run, 2, "route probe");
  run.queue.drop("notes", "id:2");
  askForNote(run, 1, "recheck");
  return run;
}

describe("route probes of records that only the lists of their parents show", () => {
  test("lead to those lists once more; what they show is probed next (I5)", async () => {
    const run = await afterProbe();
    const lists = ["notes child:people:1:1 child parent", "notes child:people:2:1 child parent"];
    expect(waiting(run)).toEqual(expect.arrayContaining(lists));
    await childPage(run, 1, []);
    await childPage(run, 2, [note(2, 2)]);
    askForNote(run, 1, "absent");
    expect([isGone(run, 1), isGone(run, 2)]).toEqual([false, false]);
    expect(waiting(run)).toContain("notes id:2 confirm route probe");
  });

  test("where those show neither, none of them should exist, and the service's message counts (I11)", async () => {
    const run = await afterProbe();
    await childPage(run, 1, []);
    await childPage(run, 2, []);
    expect(waiting(run)).toEqual(["notes id:1 confirm absent", "notes id:2 confirm absent"]);
    for (const id of [1, 2]) askForNote(run, id, "absent");
    expect([isGone(run, 1), isGone(run, 2)]).toEqual([true, true]);
  });

  test("a record of which no list was doubted waits for proof by those that no list shows (I5)", async () => {
    const run = await afterProbe();
    await childPage(run, 1, []);
    await childPage(run, 2, []);
    put(run.mirror, "notes", note(3, 2));
    askForNote(run, 3, "changed");
    expect(isGone(run, 3)).toBe(false);
  });
});
