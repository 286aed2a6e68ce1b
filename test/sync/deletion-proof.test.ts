import { describe, expect, test } from "vitest";
import { NotFoundError } from "../../src/connector/service-errors.ts";
import { judgeDeletion, deletionVerdict } from "../../src/sync/deletion/deletion-proof.ts";
import { massDeleteLimit } from "../../src/sync/context/limits.ts";
import { mayRemove, type RunContext } from "../../src/sync/context/run-context.ts";
import { openHasty, openShop, resourceOf } from "../support/mirror.ts";
import { put, row } from "../support/store.ts";
import { childPage, detail, detailWork, page, sessionOf, waiting } from "../support/sync.ts";

const missing = "No query results for model [Person] 7";
const person = (id: number) => ({ id, name: `n${id}`, email: null, score: null });

const counter = (id: number, documentType: string) => ({ id, documentType, next: 1 });
const note = (id: number, personId: number) => ({ id, body: "b", personId, attachments: [] });

/** A run over a mirror that holds so many people. */
async function withPeople(count: number): Promise<RunContext> {
  const mirror = await openHasty();
  for (let id = 1; id <= count; id++) put(mirror, "people", person(id));
  return sessionOf(mirror, {}, ["people", "colours", "counters"]);
}

describe("I5: what a 404 proves", () => {
  test.each([
    ["on a route that answered 200 in this run: the record is gone", missing, true, [], "gone"],
    ["with other words, on a proven route: gone too", "Not Found", true, [], "gone"],
    ["without the service's JSON: nothing, it may be a proxy's page", null, true, [], "unproven"],
    [
      "on an unproven route, with a record the list has just shown: that one is asked first",
      missing,
      false,
      [3],
      "ask",
    ],
    ["of a record that the list of this very run shows", missing, false, [7], "unproven"],
    [
      "on an unproven route with nobody left to ask: the service's own words count",
      missing,
      false,
      [],
      "gone",
    ],
    [
      "on an unproven route in the words for a missing route: nothing",
      "The route could not be found.",
      false,
      [],
      "unproven",
    ],
    ["on an unproven route without words: nothing", "", false, [], "unproven"],
  ] as const)("%s", (_case, message, proven, canaries, kind) => {
    expect(judgeDeletion(message, proven, [...canaries], 7).kind).toBe(kind);
  });

  test("the canary is never the record in question", () => {
    expect(judgeDeletion(missing, false, [7, 9], 7)).toEqual({ kind: "ask", canaries: [9] });
  });

  test("a detail that came proves its route for the run, and for that resource only", async () => {
    const mirror = await openShop();
    const session = sessionOf(mirror);
    const error = new NotFoundError("404", { serviceMessage: "Not Found" });
    expect(deletionVerdict(session, resourceOf("people"), error, 7).kind).toBe("unproven");
    detail(session, "people", person(1), detailWork(session, "people", 1));
    expect(deletionVerdict(session, resourceOf("people"), error, 7).kind).toBe("gone");
    expect(deletionVerdict(session, resourceOf("notes"), error, 7).kind).toBe("unproven");
  });
});

describe("I5: a run that would remove too much stops and asks", () => {
  test.each([
    [0, 20],
    [400, 20],
    [401, 20],
    [420, 21],
    [1_000, 50],
    [99_999, 4_999],
  ])("of %i records, %i may go in one run", (live, limit) => {
    expect(massDeleteLimit(live)).toBe(limit);
  });

  test("counts over the whole run, each resource for itself, and not what it refused", async () => {
    const session = sessionOf(await openShop());
    expect(mayRemove(session, "people", 15)).toBe(true);
    expect(mayRemove(session, "people", 6)).toBe(false);
    expect(mayRemove(session, "people", 5)).toBe(true);
    expect(mayRemove(session, "people", 1)).toBe(false);
    expect(mayRemove(session, "orders", 20)).toBe(true);
  });

  test("--allow-mass-delete lifts it", async () => {
    const session = sessionOf(await openShop(), { allowMassDelete: true });
    expect(mayRemove(session, "people", 10_000)).toBe(true);
  });
});

describe("I5: absence is a reason to ask, never to delete", () => {
  test("who is not in a whole list is asked for on the own route, and nobody else", async () => {
    const session = await withPeople(4);
    await page(session, "people", [person(1), person(3)], { perPage: 10 });
    expect(waiting(session)).toEqual(["people id:2 confirm absent", "people id:4 confirm absent"]);
    expect(session.mirror.records.liveCount("people")).toBe(4);
  });

  test("a record that came while the list was read is not missed", async () => {
    const session = await withPeople(2);
    await page(session, "people", [person(1)], { perPage: 1, total: 3 });
    detail(session, "people", person(3), detailWork(session, "people", 3));
    await page(session, "people", [person(4)], { page: 3, perPage: 1, total: 3 });
    await page(session, "people", [person(2)], { page: 2, perPage: 1, total: 3 });
    expect(waiting(session)).toEqual([]);
  });

  test("an empty list of many asks for none of them: too many at once", async () => {
    const session = await withPeople(25);
    await page(session, "people", []);
    expect(waiting(session)).toEqual([]);
    const [trouble] = session.tally.allTroubles();
    expect(trouble).toMatchObject({ resource: "people", kind: "held" });
    expect(trouble?.message).toContain("25 of 25");
    expect(trouble?.hint).toContain("--allow-mass-delete");
  });

  test("an empty list of few asks for each", async () => {
    const session = await withPeople(3);
    await page(session, "people", []);
    expect(waiting(session)).toHaveLength(3);
    expect(session.mirror.records.liveCount("people")).toBe(3);
  });

  test("a lookup without a route of its own goes when its whole list no longer shows it", async () => {
    const session = await withPeople(0);
    for (const id of [1, 2]) put(session.mirror, "colours", { id, label: "x" });
    await page(session, "colours", [{ id: 1, label: "x" }]);
    expect(row(session.mirror, "colours", 2)?.["_deleted_at"]).not.toBeNull();
    expect(session.tally.of("colours").deleted).toBe(1);
  });

  test("but not on the word of an empty list", async () => {
    const session = await withPeople(0);
    put(session.mirror, "colours", { id: 1, label: "x" });
    await page(session, "colours", []);
    expect(session.mirror.records.liveCount("colours")).toBe(1);
  });

  test.each([
    [
      "shows one twice",
      [
        { id: 1, label: "x" },
        { id: 1, label: "x" },
      ],
    ],
    [
      "holds one without a usable id",
      [
        { id: 1, label: "x" },
        { id: "2", label: "x" },
      ],
    ],
  ])("nor on that of a list that is not whole: it %s", async (_case, shown) => {
    const session = await withPeople(0);
    for (const id of [1, 2]) put(session.mirror, "colours", { id, label: "x" });
    for (const attempt of [1, 2, 3]) await page(session, "colours", shown, { attempt });
    expect(session.mirror.records.liveCount("colours")).toBe(2);
    expect(session.tally.allTroubles().map(({ kind }) => kind)).toContain("unsettled");
  });

  test("of a list in variants, each speaks for its own records only", async () => {
    const session = await withPeople(0);
    for (const one of [counter(1, "order"), counter(2, "order"), counter(3, "credit-note")]) {
      put(session.mirror, "counters", one);
    }
    await page(session, "counters", [counter(1, "order")], { variant: "order" });
    expect(session.mirror.records.liveIds("counters")).toEqual([1, 3]);
  });

  test("a child missing from its parent's list is asked for, those of other parents are not", async () => {
    const mirror = await openHasty();
    const session = sessionOf(mirror);
    for (const one of [note(1, 1), note(2, 1), note(3, 2)]) put(mirror, "notes", one);
    childPage(session, 1, [note(1, 1)]);
    expect(waiting(session)).toEqual(["notes id:2 confirm absent"]);
  });
});
