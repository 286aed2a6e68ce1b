import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { openBudgetFile } from "../../src/state/budget-file.ts";
import { coldState, type RateLimitState } from "../../src/rate-limit/state.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { stubLog } from "../support/http/http-client.ts";
import { tempFolder } from "../support/temporary-folder.ts";

let folder = "";
beforeEach(() => {
  folder = tempFolder();
});

const clock = new DrivenClock();
const path = () => join(folder, "data", "acme.budget.db");

function opened(log = stubLog()) {
  const store = openBudgetFile({ path: path(), clock, bootId: "boot-a", log });
  onTestFinished(() => store.close());
  return store;
}

const withLimit = (limit: number) => (state: RateLimitState) => ({
  state: { ...state, limit },
  result: state.limit,
});

const sent = (more: number) => (state: RateLimitState) => ({
  state: { ...state, nextId: state.nextId + more },
  result: null,
});

const failing = () => {
  throw new Error("step failed");
};

describe("the budget's file", () => {
  test("counts requests and refusals by minute, of all who share it, for a day", async () => {
    const [first, second] = [opened(), opened()];
    const refused = (state: RateLimitState) => ({
      state: { ...state, refusals: { ...state.refusals, lastAt: clock.monotonicMs() } },
      result: null,
    });
    const startMs = clock.nowMs();
    first.transact(sent(3));
    second.transact(sent(2));
    second.transact(refused);
    second.transact(withLimit(120));
    const counts = () => first.spentSince(startMs).map(({ requests, refused: no }) => [requests, no]);
    expect(counts()).toEqual([[5, 1]]);
    await clock.advance(minuteMs);
    second.transact(sent(1));
    expect(counts()).toEqual([
      [5, 1],
      [1, 0],
    ]);
    await clock.advance(24 * 60 * minuteMs);
    first.transact(sent(1));
    expect(counts()).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });

  test("shows each process what the other wrote", () => {
    const [one, other] = [opened(), opened()];
    one.transact(withLimit(1));
    expect([other.transact(withLimit(2)), one.transact(withLimit(3)), one.shared]).toEqual([1, 2, true]);
  });

  test("takes a few megabytes of disk, however many steps are made", () => {
    const store = opened();
    for (let i = 0; i < 1_000; i++) store.transact(sent(1));
    expect(statSync(`${path()}-wal`).size).toBeLessThan(5_000_000);
  });

  test("is not written by a step that changes nothing", () => {
    const store = opened();
    store.transact(withLimit(5));
    const before = readFileSync(`${path()}-wal`).length;
    for (let i = 0; i < 10; i++) store.transact((state) => ({ state, result: null }));
    expect(readFileSync(`${path()}-wal`)).toHaveLength(before);
  });

  test("is left as it was by a step that throws", () => {
    const store = opened();
    store.transact(withLimit(5));
    expect(() => store.transact(failing)).toThrow("step failed");
    expect(store.read()).toMatchObject({ limit: 5 });
    expect(store.transact(withLimit(6))).toBe(5);
  });

  // Fault: files | the budget's file is damaged | text or noise in its place | moved away with a warning, and started anew
  test.each(["not a database, but text ".repeat(400), "SQLite format 3\0".padEnd(4096, "x")])(
    "is moved away when damaged, with a warning, and started anew",
    (damage) => {
      opened().close();
      writeFileSync(path(), damage);
      const log = stubLog();
      const store = opened(log);
      expect(store.transact(withLimit(7))).toBeNull();
      expect(store.read()).toMatchObject({ limit: 7 });
      expect(log.lines).toMatchObject([{ level: "warn", fields: { path: path() } }]);
      expect(readdirSync(join(folder, "data")).filter((name) => name.includes(".damaged-"))).not.toEqual([]);
    },
  );

  // Fault: data | the budget's row has impossible numbers | its row | it counts as empty
  test("with nonsense in its row counts as empty", () => {
    opened().transact(() => ({ state: { ...coldState, nextId: -4 }, result: null }));
    expect(opened().read()).toBe(coldState);
  });

  // Fault: files | the budget's path is a folder, or below a file | its path | an error with a hint
  test.each([
    ["is a folder", () => folder],
    ["lies in what is no folder", () => join(folder, "file", "acme.budget.db")],
  ])("that %s is an error with a hint", (_, where) => {
    writeFileSync(join(folder, "file"), "");
    const expected = { kind: "database", hint: expect.any(String) as string };
    expect(() => openBudgetFile({ path: where(), clock, bootId: null })).toThrow(
      expect.objectContaining(expected) as Error,
    );
  });
});
