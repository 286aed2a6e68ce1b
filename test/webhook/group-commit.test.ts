import { describe, expect, onTestFinished, test, vi } from "vitest";
import { GroupCommit } from "../../src/webhook/ingest/group-commit.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Trial {
  readonly failsForAll?: boolean;
  readonly maxItems?: number;
  /** A commit ends when the test says so, and takes no time of the clock. @default false */
  readonly isSlow?: boolean;
}

/** A group whose items become capitals. */
function aGroup({ failsForAll = false, maxItems = 600, isSlow = false }: Trial = {}) {
  const commits: string[][] = [];
  /** `a: A`, or `a: the error`, in the order of the answers. */
  const results: string[] = [];
  const pending: { end(): void; fail(why: string): void }[] = [];
  let nowMs = 0;
  const commitSlowly = (items: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const end = () => resolve(items.map((item) => item.toUpperCase()));
    pending.push({ end, fail: (why) => reject(new Error(why)) });
    return promise;
  };
  const group = new GroupCommit<string, string>({
    commit: (items) => {
      commits.push([...items]);
      if (isSlow) return commitSlowly(items);
      nowMs += 1;
      return items.map((item) => item.toUpperCase());
    },
    maxItems,
    maxBytes: 1_000,
    failsForAll: () => failsForAll,
    nowMs: () => nowMs,
  });
  const add = (item: string, sizeBytes = 1) =>
    group.add(item, sizeBytes, (result, error) => {
      results.push(`${item}: ${result ?? (error instanceof Error ? error.message : "nothing")}`);
    });
  const pass = (ms: number) => void (nowMs += ms);
  /** The commit under way ends, or fails for this reason; gives the next one its turn. */
  const next = async (why?: string) => {
    const one = pending.shift();
    if (why === undefined) one?.end();
    else one?.fail(why);
    await turn();
    await turn();
  };
  return { commits, results, add, pass, next };
}

/** A group that has committed three items, and took one more right after it. Timers are the test's. */
async function afterThree() {
  const group = aGroup();
  for (const item of ["a", "b", "c"]) group.add(item);
  await turn();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  group.add("d");
  await turn();
  return group;
}

describe("waiting for the disk is shared", () => {
  test("what comes in one turn of the loop is committed together, and each is answered after it, in order", async () => {
    const { commits, results, add } = aGroup();
    for (const item of ["a", "b", "c"]) expect(item).toSatisfy(add);
    expect([commits, results]).toEqual([[], []]);
    await turn();
    expect(commits).toEqual([["a", "b", "c"]]);
    expect(results).toEqual(["a: A", "b: B", "c: C"]);
  });

  test("right after a commit, a group waits for those who come one by one, as long as that commit took", async () => {
    const { commits, add, pass } = aGroup();
    for (const item of "abcdef") {
      add(item);
      pass(0.25);
      await turn();
    }
    await turn();
    expect(commits.slice(0, 2)).toEqual([["a"], ["b", "c", "d", "e"]]);
  });

  test("right after a commit of several, a group waits until it has as many", async () => {
    const { commits, add } = await afterThree();
    add("e");
    await turn();
    expect(commits).toHaveLength(1);
    for (const item of ["f", "g"]) add(item);
    vi.advanceTimersByTime(1);
    await turn();
    await turn();
    expect(commits.slice(1)).toEqual([["d", "e", "f", "g"]]);
  });

  test("right after a commit of several, a group waits no longer than that commit took; later one that is alone waits for nobody", async () => {
    const { commits, add, pass } = await afterThree();
    pass(1);
    vi.advanceTimersByTime(1);
    await turn();
    await turn();
    expect(commits.slice(1)).toEqual([["d"]]);
    pass(1);
    add("e");
    await turn();
    expect(commits.slice(2)).toEqual([["e"]]);
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

const aSlowGroup = (more: Trial = {}) => aGroup({ maxItems: 5, isSlow: true, ...more });

describe("a commit that takes time", () => {
  test("is the only one: what comes meanwhile waits for the next, and is answered in the order it came", async () => {
    const { commits, results, add, next } = aSlowGroup();
    add("a");
    add("b");
    await turn();
    add("c");
    await turn();
    add("d");
    await turn();
    expect([commits, results]).toEqual([[["a", "b"]], []]);
    await next();
    expect(commits).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    expect(results).toEqual(["a: A", "b: B"]);
    await next();
    expect(results).toEqual(["a: A", "b: B", "c: C", "d: D"]);
    add("e");
    await turn();
    await next();
    expect(results.at(-1)).toBe("e: E");
  });

  test("counts towards the limits until it has ended", async () => {
    const { results, add, next } = aSlowGroup();
    const three = ["a", "b", "c"].map((item) => add(item, 300));
    await turn();
    const more = [add("d", 101), add("e", 50), add("f", 50), add("g", 0)];
    expect([three, more]).toEqual([
      [true, true, true],
      [false, true, true, false],
    ]);
    await next();
    expect([add("h", 900), add("i", 900)]).toEqual([true, false]);
    await next();
    await next();
    expect(results).toEqual(["a: A", "b: B", "c: C", "e: E", "f: F", "h: H"]);
  });

  // Fault: disk | a group's commit fails | the store function of the group | the failure is the answer to all, tried once
  // Fault: disk | a group's commit to another machine fails for all | the store function of the group | the failure is the answer to all; the next group is tried
  test("and fails for all is the answer to all; those that came meanwhile are tried", async () => {
    const { commits, results, add, next } = aSlowGroup({ failsForAll: true });
    add("a");
    add("b");
    await turn();
    add("c");
    await next("away");
    await next();
    expect(commits).toEqual([["a", "b"], ["c"]]);
    expect(results).toEqual(["a: away", "b: away", "c: C"]);
  });

  test("and fails for one spoils nothing for the others, which are tried one after the other", async () => {
    const { commits, results, add, next } = aSlowGroup();
    for (const item of ["a", "bad", "c"]) add(item);
    await turn();
    add("d");
    await next("spoiled");
    expect(commits).toEqual([["a", "bad", "c"], ["a"]]);
    await next();
    await next("spoiled");
    await next();
    await next();
    expect(commits.slice(1)).toEqual([["a"], ["bad"], ["c"], ["d"]]);
    expect(results).toEqual(["a: A", "bad: spoiled", "c: C", "d: D"]);
  });
});
