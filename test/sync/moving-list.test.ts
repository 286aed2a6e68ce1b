import { describe, expect } from "vitest";
import { mostDeadEnds, mostSweeps } from "../../src/sync/lists/listing.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { outcomeOfWork } from "../../src/sync/run/sync-run.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { test as shopTest } from "../support/mirror/shop-test.ts";
import { note, people, person } from "../support/mirror/shop-records.ts";
import { put, rows, startMs } from "../support/mirror/store.ts";
import { childPage, page, removeProven, runContextOf, waiting } from "../support/mirror/run.ts";

const test = shopTest.extend("run", ({ mirror }) => runContextOf(mirror, {}, ["people"]));

const aRun = async () => runContextOf(await openHasty(), {}, ["people"]);

const again = "people page::1 list sweep";

// Fault: pagination | a list that changes in every reading | a list's answers | read three times at most, then named; missing records are asked for
test("a changing list is read three times, then unsettled; absences are checked", async ({ mirror, run }) => {
  put(mirror, "people", person(9));
  for (let attempt = 1; attempt <= mostSweeps; attempt++) {
    await page(run, "people", [person(1)], { total: 2, attempt });
  }
  expect(run.tally.allTroubles()).toMatchObject([{ resource: "people", kind: "unsettled" }]);
  expect(waiting(run)).toEqual(["people id:9 confirm absent"]);
  expect(mirror.records.counts("people").live).toBe(2);
});

async function shuffled(run: RunContext, attempt: number, first: number[], second: number[]) {
  await page(run, "people", people(...first), { total: 3, attempt });
  await page(run, "people", people(...second), { page: 2, total: 3, attempt });
}

/** What is queued when one of the records is gone that two such readings showed. */
async function queuedWithout(run: RunContext, gone: number): Promise<string[]> {
  await shuffled(run, 1, [1, 2], [2]);
  await shuffled(run, 2, [3, 2], [2]);
  removeProven(run, "people", gone);
  return waiting(run);
}

describe("repeated readings", () => {
  // Fault: pagination | ties that are shuffled from reading to reading | a list's answers | readings count together
  test("count together: a list that shuffles ties is complete once each was shown", async ({ run }) => {
    await shuffled(run, 1, [1, 2], [2]);
    expect(waiting(run)).toEqual([again]);
    await shuffled(run, 2, [3, 2], [2]);
    expect(run.tally.swept).toContain("people");
    expect(waiting(run)).toEqual([]);
    expect(run.tally.allTroubles()).toEqual([]);
    expect(rows(run.mirror, "SELECT * FROM _listings")).toEqual([]);
  });

  test("that count together begin anew, once, where a record is gone that only an earlier one showed", async () => {
    const [run, other] = [await aRun(), await aRun()];
    expect(await queuedWithout(run, 1)).toEqual([again]);
    expect(await queuedWithout(run, 1)).toEqual([]);
    expect(await queuedWithout(other, 2)).toEqual([]);
  });

  test("go on while each of them shows records not shown before, and no longer", async ({ run }) => {
    const read = async (attempt: number, id: number) => {
      for (const number of [1, 2, 3])
        await page(run, "people", people(id, id), { page: number, total: 5, attempt });
    };
    for (const attempt of [1, 2, 3, 4]) {
      await read(attempt, attempt);
      expect(waiting(run)).toEqual([again]);
    }
    await read(5, 4);
    const [trouble] = run.tally.allTroubles();
    expect(trouble?.message).toBe("the list showed 4 of 5 records in 5 readings");
    expect(waiting(run)).toEqual([]);
  });

  test("I5: a record that came after the first began is not absent, an older is", async ({ mirror, run }) => {
    put(mirror, "people", person(8));
    await page(run, "people", people(1, 2), { total: 3 });
    put(mirror, "people", person(9));
    await page(run, "people", people(2), { page: 2, total: 3 });
    await shuffled(run, 2, [3, 2], [2]);
    expect(waiting(run)).toEqual(["people id:8 confirm absent"]);
  });
});

describe("an append while a list is read", () => {
  // Fault: pagination | records are added at the end while a list is read | a list's answers | the tail is read again, not the whole list
  test("costs the tail, not the sweep: pages before it are kept", async ({ run }) => {
    await page(run, "people", people(1, 2), { total: 5 });
    await page(run, "people", people(5), { page: 3, total: 5 });
    await page(run, "people", people(3, 4), { page: 2, total: 7 });
    expect(waiting(run)).toEqual(["people page::4 list sweep", "people page::3 list sweep"]);
    await page(run, "people", people(7), { page: 4, total: 7 });
    await page(run, "people", people(5, 6), { page: 3, total: 7, again: true });
    expect(waiting(run)).toEqual([]);
    expect(run.tally.swept).toContain("people");
    expect(run.tally.of("people")).toMatchObject({ listed: 7, inserted: 7 });
  });

  // Fault: pagination | a record is added and one deleted while a list is read | a list's answers | the whole list is read again
  test("with a deletion before it is none: the whole list is read again", async ({ run }) => {
    await page(run, "people", people(1, 2), { total: 5 });
    await page(run, "people", people(5), { page: 3, total: 5 });
    await page(run, "people", people(4, 5), { page: 2, total: 6 });
    await page(run, "people", people(6, 7), { page: 3, total: 6, again: true });
    expect(waiting(run)).toEqual([again]);
    expect(run.tally.swept).not.toContain("people");
  });
});

describe("a paginator that does not lead on", () => {
  const bigTotal = 2_000;
  const deadEnd = async (run: RunContext, others: readonly object[], came?: number) => {
    await page(run, "people", people(1, 2), { total: bigTotal });
    expect(waiting(run)).toHaveLength(bigTotal / 2 - 1);
    for (let number = bigTotal / 2; number > bigTotal / 2 - 3; number--)
      await page(run, "people", others, { page: number, total: bigTotal, ...(came && { came }) });
  };

  // Fault: pagination | a large total with repeated or empty pages, another page than the one asked for, a next page for ever | a list's answers | the reading ends after three of them, nothing is asked for or deleted, the list is named as unsettled
  test.each([
    ["it always shows the same records", [person(1), person(2)], undefined],
    ["its pages are empty", [], undefined],
    ["it always answers page 1", [person(1), person(2)], 1],
    ["every page is the next one", [person(8), person(9)], bigTotal],
  ])("ends the sweep as unsettled, and asks for no record: %s", async (_case, others, came) => {
    const run = await aRun();
    put(run.mirror, "people", person(7));
    await deadEnd(run, others, came === bigTotal ? bigTotal + 1 : came);
    expect(waiting(run)).toEqual([]);
    expect(run.tally.allTroubles()).toMatchObject([{ resource: "people", kind: "unsettled" }]);
    // One that was in flight.
    await page(run, "people", [person(3)], { page: 5, total: bigTotal });
    expect(waiting(run)).toEqual([]);
    expect(rows(run.mirror, "SELECT * FROM _listings")).toEqual([]);
  });

  // Fault: pagination | a total that grows with each page | a list's answers | at most ten requests more, the list is named as unsettled
  test("ends it where the total grows with each page, after a few tails", async ({ run }) => {
    let requests = 0;
    for (let total = 3; requests < 30; requests++) {
      const next = run.queue.lease(startMs, ["people"]);
      if (!next && requests > 0) break;
      const payload = (next?.payload ?? { page: 1 }) as { page: number; again?: true };
      if (next) run.queue.release(next);
      const first = payload.page * 2 - 1;
      total = Math.max(total, payload.page * 2 + 1);
      const options = { page: payload.page, total, ...(payload.again && { again: payload.again }) };
      await page(run, "people", people(first, first + 1), options);
    }
    expect(requests).toBeLessThanOrEqual(2 + 10);
    expect(run.tally.allTroubles()).toMatchObject([{ resource: "people", kind: "unsettled" }]);
  });

  test("of parents' lists costs the first page of further parents only", async () => {
    const run = runContextOf(await openHasty(), {}, ["people", "notes"]);
    for (let parent = 1; parent <= mostDeadEnds; parent++) {
      await childPage(run, parent, [note(1, parent), note(2, parent)], { total: 100 });
      for (const number of [50, 49, 48]) await childPage(run, parent, [], { page: number, total: 100 });
    }
    await childPage(run, 9, [note(7, 9), note(8, 9)], { total: 100 });
    expect(waiting(run)).toEqual([]);
    expect(run.tally.allTroubles()).toMatchObject([{ resource: "notes", kind: "unsettled" }]);
  });
});

// Fault: data | a record without an id in a list | a list's answer | the list is complete, and the record kept (I12)
test("I12: a record without an id counts as shown: the list is complete, and it is kept", async ({ run }) => {
  await page(run, "people", [person(1), { name: "nobody" }], { total: 3 });
  await page(run, "people", [{ name: "nobody" }], { page: 2, total: 3 });
  expect(run.tally.swept).toContain("people");
  expect(run.mirror.quarantine.all()).toHaveLength(1);
});

test("I12: a record without an id that an earlier run met stays where this one goes on", async ({ run }) => {
  const { mirror } = run;
  await page(run, "people", [person(1), person(2)], { total: 4 });
  await page(run, "people", [person(4), { name: "nobody" }], { page: 2, total: 4 });
  expect(outcomeOfWork(runContextOf(mirror, { full: true }), true)).toBe("partial");
  // The list's end was read by the run before, its beginning by this one.
  await page(run, "people", [person(1), person(2)], { total: 5, perPage: 2 });
  await page(run, "people", [{ name: "nobody" }], { page: 3, total: 5 });
  const next = runContextOf(mirror, {}, ["people"]);
  await page(next, "people", [person(3), person(4)], { page: 2, total: 5 });
  expect(outcomeOfWork(next, false)).toBe("partial");
});

test("I12: a record without an id of a parent's list stays until that list shows it no more, or its parent is gone", async ({
  mirror,
}) => {
  const run = runContextOf(mirror, {}, ["people", "notes"]);
  const kept = () => mirror.quarantine.all().length;
  for (const parent of [1, 2]) {
    put(mirror, "people", person(parent));
    await childPage(run, parent, [note(parent, parent), { body: "whose?" }], { total: 2 });
  }
  await childPage(run, 1, [note(1, 1)], { total: 9 });
  expect(kept()).toBe(2);
  await childPage(run, 1, [note(1, 1)], { total: 1 });
  expect(kept()).toBe(1);
  removeProven(run, "people", 2);
  expect(kept()).toBe(0);
});
