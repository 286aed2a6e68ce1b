import { describe, expect, test } from "vitest";
import type { Mirror } from "../../src/state/mirror.ts";
import { scrubAgeMs } from "../../src/sync/context/limits.ts";
import { addInitialWork } from "../../src/sync/plan/initial-work.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { openShop } from "../support/mirror.ts";
import { put, reading, remove, rows, startMs } from "../support/store.ts";
import { childPage, page, sessionOf, waiting } from "../support/sync.ts";

const person = (id: number) => ({ id, name: `n${id}`, email: null, score: null });
const order = (id: number) => ({ id, number: "1", total: 1, lines: [], receipts: [] });

function orderReadAt(mirror: Mirror, id: number, receivedAtMs: number): void {
  put(mirror, "orders", order(id), { source: "detail", reading: reading(mirror, { receivedAtMs }) });
}

function seed(session: RunContext, scrubAllowance = 0): string[] {
  session.mirror.apply(() => addInitialWork(session, null, scrubAllowance));
  return waiting(session);
}

describe("the scrub", () => {
  test("picks the details read longest ago, as many as the budget gives, in the last lane of reads", async () => {
    const mirror = await openShop();
    const old = startMs - scrubAgeMs;
    for (const [id, agoMs] of [
      [1, 10],
      [2, 30],
      [3, 20],
    ] as const) {
      orderReadAt(mirror, id, old - agoMs);
    }
    const session = sessionOf(mirror, {}, ["orders"]);
    expect(seed(session, 2)).toEqual([
      "orders page::1 list sweep",
      "orders id:2 detail scrub",
      "orders id:3 detail scrub",
    ]);
    expect(rows(mirror, "SELECT DISTINCT lane FROM _work WHERE reason = 'scrub'")).toEqual([{ lane: 3 }]);
  });

  test("leaves alone what is younger than a day's rest, what is deleted, and everything when there is no budget", async () => {
    const mirror = await openShop();
    orderReadAt(mirror, 1, startMs - scrubAgeMs + 1);
    orderReadAt(mirror, 2, startMs - scrubAgeMs);
    orderReadAt(mirror, 3, startMs - scrubAgeMs - 1);
    remove(mirror, "orders", 3, reading(mirror, { receivedAtMs: startMs - scrubAgeMs }));
    expect(seed(sessionOf(mirror, {}, ["orders"]), 9)).toEqual([
      "orders page::1 list sweep",
      "orders id:2 detail scrub",
    ]);
    const none = await openShop();
    orderReadAt(none, 1, 0);
    expect(seed(sessionOf(none, {}, ["orders"]), 0)).toEqual(["orders page::1 list sweep"]);
  });

  test("has nothing to do in a full run, nor where lists give full records", async () => {
    const mirror = await openShop();
    orderReadAt(mirror, 1, 0);
    put(mirror, "people", person(1), { reading: reading(mirror, { receivedAtMs: 0 }) });
    expect(seed(sessionOf(mirror, { full: true }, ["orders"]), 9)).toEqual(["orders page::1 list sweep"]);
    expect(seed(sessionOf(mirror, {}, ["people"]), 9)).not.toContain("people id:1 detail scrub");
  });
});

describe("parents' lists", () => {
  test("of parents whose own list this run reads come with that list, not before", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1));
    expect(seed(sessionOf(mirror, {}, ["people", "notes"]))).toEqual(["people page::1 list sweep"]);
  });

  test("of parents that are not selected are taken from the mirror", async () => {
    const mirror = await openShop();
    for (const id of [1, 2]) put(mirror, "people", person(id));
    remove(mirror, "people", 2);
    expect(seed(sessionOf(mirror, {}, ["notes"]))).toEqual(["notes child:people:1:1 child parent"]);
  });

  test("spread over runs: every parent gets its turn, the stalest first, a new one while there is room", async () => {
    const mirror = await openShop();
    for (const id of [1, 2, 3]) put(mirror, "people", person(id));
    const turns: string[][] = [];
    for (let night = 0; night < 4; night++) {
      mirror.db.exec("DELETE FROM _work");
      const session = sessionOf(mirror, { parentBudget: { left: 2 } }, ["people", "notes"]);
      const chosen = seed(session).filter((row) => row.startsWith("notes"));
      turns.push(chosen.map((row) => row.split(":")[2] ?? ""));
      const at = reading(mirror, { receivedAtMs: startMs + night * 1_000 });
      for (const row of chosen) childPage(session, Number(row.split(":")[2]), [], { at });
    }
    expect(turns).toEqual([
      ["1", "2"],
      ["3", "1"],
      ["2", "1"],
      ["3", "1"],
    ]);
  });

  test("spread over runs: listing the parents asks for known ones no more, for new ones within the budget", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1));
    const session = sessionOf(mirror, { parentBudget: { left: 2 } }, ["people", "notes"]);
    seed(session);
    await page(session, "people", [person(1), person(2), person(3)], { perPage: 5 });
    expect(waiting(session).filter((row) => row.startsWith("notes"))).toEqual([
      "notes child:people:1:1 child parent",
      "notes child:people:2:1 child parent",
    ]);
  });
});

test("dead letters and held rows of this run's resources get another chance, those of others wait", async () => {
  const mirror = await openShop();
  const session = sessionOf(mirror, {}, ["people"]);
  const dead = { kind: "detail", target: "id:1", lane: "hydration", reason: "new", dirtySeq: 1 } as const;
  for (const resource of ["people", "orders"]) {
    session.queue.add({ ...dead, resource });
    session.queue.hold(resource, "403");
  }
  seed(session);
  expect(session.queue.isReady("people", "id:1")).toBe(true);
  expect(session.queue.isReady("orders", "id:1")).toBe(false);
});

test("a page left by a run that ended is dropped with its listing before the list is begun anew", async () => {
  const mirror = await openShop();
  const session = sessionOf(mirror, {}, ["people"]);
  await page(session, "people", [person(1), person(2)], { total: 6 });
  expect(rows(session.mirror, "SELECT * FROM _listings")).toHaveLength(1);
  expect(seed(session)).toEqual(["people page::1 list sweep"]);
  expect(rows(session.mirror, "SELECT * FROM _listings")).toEqual([]);
});

test("an interrupted run's open list is gone on with, page by page", async () => {
  const mirror = await openShop();
  const session = sessionOf(mirror, {}, ["people"]);
  await page(session, "people", [person(1), person(2)], { total: 6 });
  const unfinished = { run: 1, startedAtMs: startMs - 1_000, sweptAtMs: {} };
  mirror.apply(() => addInitialWork(session, unfinished, 0));
  expect(waiting(session)).toEqual(["people page::3 list sweep", "people page::2 list sweep"]);
  expect(rows(session.mirror, "SELECT * FROM _listings")).toHaveLength(1);
});
