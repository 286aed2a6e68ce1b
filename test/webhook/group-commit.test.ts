import { describe, expect, test } from "vitest";
import { GroupCommit } from "../../src/webhook/ingest/group-commit.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Trial {
  readonly group: GroupCommit<string, string>;
  readonly commits: string[][];
  /** `a: A`, or `a: the error`, in the order of the answers. */
  readonly results: string[];
  readonly add: (item: string, sizeBytes?: number) => boolean;
  readonly pass: (ms: number) => void;
}

function aGroup(commit = (item: string) => item.toUpperCase(), failsForAll = false, commitMs = 1): Trial {
  const commits: string[][] = [];
  const results: string[] = [];
  let nowMs = 0;
  const group = new GroupCommit<string, string>({
    commit: (items) => {
      commits.push([...items]);
      nowMs += commitMs;
      return items.map(commit);
    },
    maxItems: 600,
    maxBytes: 1_000,
    failsForAll: () => failsForAll,
    nowMs: () => nowMs,
  });
  const add = (item: string, sizeBytes = 1) =>
    group.add(item, sizeBytes, (result, error) => {
      results.push(`${item}: ${result ?? (error instanceof Error ? error.message : "nothing")}`);
    });
  const pass = (ms: number) => void (nowMs += ms);
  return { group, commits, results, add, pass };
}

function failing(item: string): string {
  if (item === "bad") throw new Error("spoiled");
  return item.toUpperCase();
}

describe("waiting for the disk is shared", () => {
  test("what comes in one turn of the loop is committed together, and each is answered after it, in order", async () => {
    const { commits, results, add } = aGroup();
    for (const item of ["a", "b", "c"]) expect(add(item)).toBe(true);
    expect([commits, results]).toEqual([[], []]);
    await turn();
    expect(commits).toEqual([["a", "b", "c"]]);
    expect(results).toEqual(["a: A", "b: B", "c: C"]);
  });

  test("one that is alone waits for nobody", async () => {
    const { commits, add, pass } = aGroup();
    add("a");
    await turn();
    pass(1);
    add("b");
    await turn();
    expect(commits).toEqual([["a"], ["b"]]);
  });

  test("right after a commit, a group waits for those who come one by one, and no longer than that commit took", async () => {
    const { commits, add, pass } = aGroup();
    const inTurns = async (items: string) => {
      for (const item of items) {
        add(item);
        pass(0.2);
        await turn();
      }
      await turn();
    };
    await inTurns("abc");
    expect(commits.splice(0)).toEqual([["a"], ["b", "c"]]);
    await inTurns("defghijk");
    expect(commits.splice(0)).toEqual([
      ["d", "e", "f", "g", "h"],
      ["i", "j", "k"],
    ]);
    pass(1);
    await inTurns("l");
    expect(commits).toEqual([["l"]]);
  });

  test("a long queue is committed in parts, with turns of others in between", async () => {
    const { commits, results, add } = aGroup();
    for (let i = 0; i < 600; i++) add(String(i));
    await turn();
    expect(commits.map(({ length }) => length)).toEqual([512]);
    await turn();
    await turn();
    expect(commits.map(({ length }) => length)).toEqual([512, 88]);
    expect(results).toHaveLength(600);
  });
});

describe("there is room for so many", () => {
  test("what comes beyond that is not taken, and is again after the next commit", async () => {
    const { results, add } = aGroup();
    const taken = Array.from({ length: 700 }, (_, i) => add(String(i))).filter(Boolean);
    expect(taken).toHaveLength(600);
    await turn();
    expect(add("late")).toBe(true);
    await turn();
    await turn();
    expect(results).toHaveLength(601);
  });

  test("bytes count, too", async () => {
    const { add } = aGroup();
    expect([add("a", 600), add("b", 401), add("c", 400)]).toEqual([true, false, true]);
    await turn();
    expect(add("d", 1_000)).toBe(true);
  });
});

describe("a commit that fails", () => {
  // Fault: disk | a group's commit fails | the store function of the group | the failure is the answer to all, tried once
  test("for all is the answer to all, and tried once", async () => {
    const { commits, results, add } = aGroup(failing, true);
    for (const item of ["a", "bad", "c"]) add(item);
    await turn();
    expect(commits).toHaveLength(1);
    expect(results).toEqual(["a: spoiled", "bad: spoiled", "c: spoiled"]);
  });

  test("for one spoils nothing for the others", async () => {
    const { results, add } = aGroup(failing);
    for (const item of ["a", "bad", "c"]) add(item);
    await turn();
    expect(results).toEqual(["a: A", "bad: spoiled", "c: C"]);
    add("d");
    await turn();
    await turn();
    expect(results.at(-1)).toBe("d: D");
  });
});
