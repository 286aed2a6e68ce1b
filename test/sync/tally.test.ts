import { describe, expect, test } from "vitest";
import { applyCounted } from "../../src/sync/context/run-context.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { runContextOf } from "../support/mirror/run.ts";

describe("the tally", () => {
  test("counts each apply result once; stale counts as nothing", () => {
    const tally = new Tally();
    const results = [
      "inserted",
      "updated",
      "hydrated",
      "unchanged",
      "unchanged",
      "stale",
      "quarantined",
    ] as const;
    for (const result of results) tally.count("people", result);
    expect(tally.of("people")).toEqual({
      listed: 0,
      inserted: 1,
      updated: 1,
      hydrated: 1,
      deleted: 0,
      unchanged: 2,
      failed: 1,
      pending: 0,
      provisional: 0,
    });
  });

  test("reports resources in the order they were selected, whichever answers first", async () => {
    const { tally } = runContextOf(await openShop(), {}, ["colours", "people"]);
    tally.count("people", "inserted");
    expect([...tally.resources.keys()]).toEqual(["colours", "people"]);
  });

  test("counts requests by kind and in all", () => {
    const tally = new Tally();
    for (const kind of ["list", "detail", "detail", "confirm"] as const) tally.sent(kind);
    expect(tally.requests).toMatchObject({ total: 4, list: 1, detail: 2, confirm: 1, child: 0 });
  });

  test("keeps one trouble per resource and kind, with the latest message", () => {
    const tally = new Tally();
    tally.trouble({ resource: "people", kind: "dead", message: "first" });
    tally.trouble({ resource: "people", kind: "dead", message: "second" });
    tally.trouble({ resource: "people", kind: "held", message: "third" });
    expect(tally.allTroubles().map(({ message }) => message)).toEqual(["second", "third"]);
  });

  test("I1: what was counted in a transaction that rolled back is taken back", async () => {
    const run = runContextOf(await openShop(), {}, ["people"]);
    run.tally.count("people", "inserted");
    expect(() =>
      applyCounted(run, () => {
        run.tally.count("people", "inserted");
        run.tally.count("orders", "inserted");
        throw new Error("the power went");
      }),
    ).toThrow("the power went");
    expect(run.tally.of("people").inserted).toBe(1);
    expect([...run.tally.resources.keys()]).toEqual(["people"]);
  });
});
