import { rmSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { dayMs, systemClock } from "../../src/base/clock.ts";
import { describe, expect } from "vitest";
import { parsePosition } from "../../src/base/ids.ts";
import { firstNumber, noteGiven, readLog, seqAt } from "../../src/state/log-identity.ts";
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import { Changes } from "../../src/store/apply/change-log.ts";
import { errorOf } from "../support/errors.ts";
import { manifestOf, openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put } from "../support/mirror/store.ts";

const nowMs = Date.UTC(2026, 10, 24);

/** Makes a mirror, reads so many people into it, and closes it. */
async function aLog(file: string, atMs: number, people = 3) {
  const mirror = await openMirror(file, manifestOf(), { clock: { ...systemClock, nowMs: () => atMs } });
  for (let id = 1; id <= people; id++) put(mirror, "people", person(id));
  const found = { ...readLog(mirror.db), last: new Changes(mirror.db).lastSeq() };
  mirror.close();
  return found;
}

const removeMirror = (file: string) => {
  for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
};

const holds = (each: { readonly ms: number; readonly share: number }) => {
  // Fewer numbers than microseconds.
  const last = firstNumber(nowMs, 0) + Math.floor(each.ms * 1_000 * each.share * 0.99);
  expect(firstNumber(nowMs + each.ms, 0)).toBeGreaterThan(last);
};

describe("the change log of a mirror that is made anew", () => {
  test("has another identity, and numbers above those of the log before", async () => {
    const file = path.join(tempFolder(), "acme.db");
    const one = await aLog(file, nowMs);
    expect(await aLog(file, nowMs + dayMs)).toMatchObject({ id: one.id, first: one.first });
    removeMirror(file);
    const other = await aLog(file, nowMs + 1_000);
    expect(other.id).not.toBe(one.id);
    expect(other.first).toBeGreaterThan(one.last);
    expect(other.last).toBe(other.first + 2);
  });

  // Fault: clock | the clock is set back by a year, and the mirror's file is removed | a mirror that is made anew | its numbers follow those that are noted beside the mirror
  test("has higher numbers also where the clock was set back, by any time", async () => {
    const file = path.join(tempFolder(), "acme.db");
    let last = 0;
    for (const atMs of [nowMs, nowMs - 365 * dayMs, nowMs - 365 * dayMs, nowMs - 1, 0]) {
      const log = await aLog(file, atMs);
      expect(log.first).toBeGreaterThan(last);
      last = log.last;
      removeMirror(file);
    }
  });

  test("has higher numbers where only the time is left of the log before", () => {
    const lives = fc.record({
      ms: fc.integer({ min: 1, max: 365 * dayMs }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(fc.property(lives, holds));
  });

  test("has numbers that are safe integers, whatever the clock shows", () => {
    const farMs = Date.UTC(9999, 0, 1);
    expect(Number.isSafeInteger(firstNumber(farMs, firstNumber(farMs, 0)) + 10 ** 12)).toBe(true);
  });

  test("follows a number that is noted, however high; a damaged note counts for nothing", async () => {
    const file = path.join(tempFolder(), "acme.db");
    noteGiven(file, 10 ** 15);
    noteGiven(file, 5);
    expect((await aLog(file, nowMs)).first).toBeGreaterThan(10 ** 15);
  });

  test("numbers its first change again where its transaction was rolled back", async ({ mirror }) => {
    mirror.meta.set("log", { id: "a1", from: 7_000, first: 7_000 });
    mirror.close();
    const again = await openShop({ path: mirror.db.name });
    expect(() =>
      again.apply(() => {
        put(again, "people", person(1));
        throw new Error("no");
      }),
    ).toThrow("no");
    for (const id of [1, 2]) put(again, "people", person(id));
    expect(new Changes(again.db).factsAfter(0, 9).map(({ seq }) => seq)).toEqual([7_000, 7_001]);
  });
});

/** A log of which 1 to 3 are from a backup, 4 to 6 were lost, and 7 to 9 came after its restore. */
async function aRestoredLog(): Promise<Mirror> {
  const mirror = await openShop();
  for (const id of [1, 2, 3]) put(mirror, "people", person(id));
  mirror.meta.set("log", { id: "b2", from: 1, first: 7 });
  mirror.close();
  const restored = await openShop({ path: mirror.db.name });
  for (const id of [4, 5, 6]) put(restored, "people", person(id, "Bob"));
  return restored;
}

describe("a position", () => {
  test("of this log is taken, with its identity or without", async () => {
    const { db } = await aRestoredLog();
    for (const seq of [0, 1, 3, 7, 9])
      for (const log of ["b2", null]) expect(seqAt(db, { log, seq })).toBe(seq);
  });

  test("that this log never had is refused, with what to do", async () => {
    const { db } = await aRestoredLog();
    for (const [log, seq, message] of [
      ["a1", 3, "another change log"],
      ["a1", 0, "another change log"],
      [null, 4, "no position 4"],
      ["b2", 6, "no position 6"],
      ["b2", 10, "it ends at 9"],
      [null, 50_000, "it ends at 9"],
    ] as const) {
      const { kind, message: said, hint } = errorOf(() => seqAt(db, { log, seq }));
      expect([kind, said]).toEqual(["usage", expect.stringContaining(message)]);
      expect(hint).toContain("Begin anew");
    }
  });

  test("below the first number of a log that was never pruned is refused; its beginning is 0", async () => {
    const file = path.join(tempFolder(), "acme.db");
    const { first } = await aLog(file, nowMs);
    const { db } = await openShop({ path: file });
    expect(seqAt(db, { log: null, seq: 0 })).toBe(first - 1);
    expect(errorOf(() => seqAt(db, { log: null, seq: 120 })).kind).toBe("usage");
  });

  test("is written as LOG:SEQ or SEQ", () => {
    expect(parsePosition("3f9a2c718b1d:28346876123001")).toEqual({
      log: "3f9a2c718b1d",
      seq: 28_346_876_123_001,
    });
    expect(parsePosition("120")).toEqual({ log: null, seq: 120 });
    for (const text of ["", "a:", ":1", "-1", "1.5", "a:b", "99999999999999999", "9999999999999999", "a:1:2"])
      expect(parsePosition(text)).toBeNull();
  });
});
