import { describe, expect, test } from "vitest";
import { AfterRunQueue } from "../../src/host/after-run-queue.ts";
import { isRepublishDue, isStepOwed } from "../../src/host/company-after-run.ts";
import type { StepRecord } from "../../src/status/after-run-record.ts";

/** A queue whose work ends when the test says so. */
function aQueue(limit = 1) {
  const story: string[] = [];
  const ends = new Map<string, () => void>();
  let most = 0;
  let running = 0;
  const queue = new AfterRunQueue(async (company, scope) => {
    story.push(`${company} ${scope}`);
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => ends.set(company, resolve));
    running--;
  });
  queue.limit = limit;
  const end = async (company: string) => {
    ends.get(company)?.();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { queue, story, end, most: () => most };
}

describe("what follows runs", () => {
  // Fault: process | the runs of forty companies end together | the queue of what follows | one at a time, each company once
  test("is made for one company at a time, whatever ends together, in the order of the requests", async () => {
    const { queue, story, end, most } = aQueue();
    const names = Array.from({ length: 40 }, (_, index) => `c${index}`);
    const all = names.map((name) => queue.add(name, "all"));
    for (const name of names) await end(name);
    await Promise.all(all);
    expect([most(), story]).toEqual([1, names.map((name) => `${name} all`)]);
  });

  test("is made for more at a time where the config says so, but never twice at once for a company", async () => {
    const { queue, story, end, most } = aQueue(2);
    for (const name of ["a", "a", "b", "c"]) void queue.add(name, "all");
    expect([most(), story]).toEqual([2, ["a all", "b all"]]);
    await end("a");
    expect(story.slice(2)).toEqual(["a all"]);
  });

  test("a company that waits is asked for once, with all that was asked", async () => {
    const { queue, story, end } = aQueue();
    void queue.add("a", "all");
    const waits = [queue.add("b", "report"), queue.add("b", "all"), queue.add("b", "report")];
    await end("a");
    await end("b");
    await Promise.all(waits);
    expect(story).toEqual(["a all", "b all"]);
  });

  test("a backup is a job of its own, after what waits, and never beside it", async () => {
    const { queue, story, end, most } = aQueue(2);
    void queue.add("a", "all");
    const waits = [queue.add("a", "backup"), queue.add("a", "report"), queue.add("a", "backup")];
    for (let turn = 0; turn < 3; turn++) await end("a");
    await Promise.all(waits);
    expect([most(), story]).toEqual([1, ["a all", "a backup", "a report"]]);
  });

  test("files come last: what they wait for is made first, of whatever company", async () => {
    const { queue, story, end } = aQueue();
    void queue.add("a", "files");
    const waits = [
      queue.add("a", "files"),
      queue.add("b", "files"),
      queue.add("c", "all"),
      queue.add("a", "report"),
    ];
    for (const name of ["a", "c", "a", "a", "b"]) await end(name);
    await Promise.all(waits);
    expect(story).toEqual(["a files", "c all", "a report", "a files", "b files"]);
  });

  test("nobody waits for it longer than his signal, and what is dropped or stopped is not made", async () => {
    const { queue, story, end } = aQueue();
    void queue.add("a", "all");
    await queue.add("b", "all", AbortSignal.abort());
    const dropped = queue.add("c", "all");
    queue.drop("c");
    await dropped;
    const stopped = queue.stop();
    await end("a");
    await stopped;
    expect(story).toEqual(["a all"]);
  });
});

const at = "2026-11-21T08:00:00.000Z";
const everyMs = 15 * 60_000;
const madeMs = Date.parse(at);
const made: StepRecord = {
  outcome: "written",
  at,
  duration_ms: 900,
  error: null,
  last_success_at: at,
  seq: 7,
};
const failed: StepRecord = { ...made, outcome: "failed", error: "no room" };

// Fault: clock | the last report was made by a clock that was ahead | the record of the report | written again at once
test.each([
  ["when something changed and the last attempt is long enough ago", made, 8, everyMs, true],
  ["not before that", made, 8, everyMs - 1, false],
  ["not where nothing changed", made, 7, everyMs, false],
  ["also after a failure", failed, 7, everyMs, true],
  ["not soon after a failure", failed, 7, everyMs - 1, false],
  ["not before a run has tried the first one", null, 8, everyMs, false],
  ["at once where the last one was made by a clock that was ahead", made, 8, -3_600_000, true],
])("the report is written again after events: %s", (_, last, seq, afterMs, isDue) => {
  expect(isRepublishDue(last, seq, everyMs, madeMs + afterMs)).toBe(isDue);
});

test("a step is owed after a run where it was never made, or before its changes; one that was tried since is not", () => {
  expect(isStepOwed(null, 7, madeMs + 1)).toBe(true);
  expect(isStepOwed(made, 8, madeMs + 1)).toBe(true);
  expect(isStepOwed(made, 7, madeMs + 1)).toBe(false);
  expect(isStepOwed(made, 8, madeMs)).toBe(false);
});
