import { once } from "node:events";
import { describe, expect, test } from "vitest";
import type { CompanyRun, RunRequest } from "../../src/runs/company-run.ts";
import { createRunPlaces, RunQueue, usualRun } from "../../src/runs/run-queue.ts";
import { emptySummary } from "../../src/sync/context/run-summary.ts";
import { jumpingClock, recordingLog } from "../support/terminal/terminal.ts";

const clock = jumpingClock(Date.UTC(2026, 10, 21));
const startedAt = "2026-11-21T00:00:00.000Z";
const listed = { ...emptySummary(clock, startedAt, "complete"), listed_at: startedAt };

function request(full = false): RunRequest {
  return { ...usualRun, resources: [], full, scrub: true, closed: new AbortController().signal };
}

const transport = { close: async () => undefined };

function queueWith(parts: Partial<QueueParts> = {}) {
  const story: string[] = [];
  const { log, records } = recordingLog();
  const runQueue = new RunQueue({
    context: { clock, log },
    places: createRunPlaces(),
    closed: new AbortController().signal,
    begin: (asked) => ({ request: asked, transport }) as unknown as CompanyRun,
    perform: async ({ request: { full } }) => {
      const mode = full ? "full" : "incremental";
      story.push(`begin ${mode}`);
      await clock.sleep(1);
      story.push(`end ${mode}`);
      return emptySummary(clock, startedAt, "complete");
    },
    onEnd: (_, { outcome }) => story.push(outcome),
    afterRun: async () => void story.push("after"),
    ...parts,
  });
  return { runQueue, story, records };
}

type QueueParts = ConstructorParameters<typeof RunQueue>[0];

/** A queue of runs whose scrub lasts until it is ended, `endless` of them. */
function scrubbingQueue(endless: number) {
  const places = createRunPlaces(1, 1);
  const scrubbing = Promise.withResolvers<void>();
  const begun: RunRequest[] = [];
  const { runQueue } = queueWith({
    places,
    perform: async ({ request: asked }, { onListed, scrubClosed }) => {
      begun.push(asked);
      if (!asked.scrub || begun.length > endless) return listed;
      await onListed(listed, true);
      scrubbing.resolve();
      if (!scrubClosed.aborted) await once(scrubClosed, "abort");
      return { ...listed, scrub: { total: 9, planned: 9, read: 1, changed: 0, left: 8 } };
    },
  });
  const kinds = () =>
    begun.map(({ scrub, continues }) => (continues ? "the rest" : scrub ? "with a scrub" : "without one"));
  return { runQueue, places, scrubbing: scrubbing.promise, begun, kinds };
}

describe("the runs of one company", () => {
  test("go one at a time, each with what follows it, in the order they were asked for", async () => {
    const { runQueue, story } = queueWith();
    await Promise.all([runQueue.run(request(), "one"), runQueue.run(request(true), "two")]);
    await runQueue.idle();
    const one = "begin incremental, end incremental, after, complete";
    expect(story.join(", ")).toBe(`${one}, begin full, end full, after, complete`);
    expect(runQueue.current).toBeNull();
  });

  test("what fails after a run is logged, and the next run is made all the same", async () => {
    const full = new Error("the disk of reports is full");
    const { runQueue, records } = queueWith({ afterRun: () => Promise.reject(full) });
    expect((await runQueue.run(request(), "one"))?.outcome).toBe("complete");
    expect((await runQueue.run(request(), "two"))?.outcome).toBe("complete");
    await runQueue.idle();
    const errors = records().filter(({ level }) => level === "error");
    expect(errors.map(({ error }) => error)).toEqual(Array(2).fill("the disk of reports is full"));
  });

  // Fault: process | an unforeseen error in a run | the run's function | the run's outcome, not the daemon's end
  test("a bug in a run is its outcome, not the daemon's end", async () => {
    const [kind, message] = ["runtime", "x is not a function"];
    const { runQueue, records } = queueWith({ perform: () => Promise.reject(new TypeError(message)) });
    const report = await runQueue.run(request(), "one");
    expect(report).toMatchObject({ outcome: "failed", error: { kind, message } });
    expect(records().map(({ level }) => level)).toContain("error");
  });

  test("what follows a run comes before its scrub, and again only where the scrub changed something", async () => {
    const scrub = { total: 9, planned: 5, read: 5, changed: 0, left: 0 };
    const { runQueue, story } = queueWith({
      perform: async ({ request: { full } }, { onListed }) => {
        await onListed(listed, true);
        story.push("scrub");
        return { ...listed, scrub: { ...scrub, changed: full ? 3 : 0 } };
      },
    });
    await runQueue.run(request(), "one");
    await runQueue.run(request(true), "two");
    await runQueue.idle();
    expect(story).toEqual(["after", "scrub", "complete", "after", "scrub", "after", "complete"]);
  });

  test("a scrub gives its place to runs of other companies, and ends for a run that waits; another one makes up for it", async () => {
    const { runQueue, places, scrubbing, begun, kinds } = scrubbingQueue(1);
    const first = runQueue.run({ ...request(), allowMassDelete: true, mostRequests: 9 }, "night");
    await scrubbing;
    const place = await places.take(new AbortController().signal);
    place?.release();
    await runQueue.run({ ...request(), scrub: false }, "a person");
    expect((await first)?.outcome).toBe("complete");
    await runQueue.idle();
    expect(kinds()).toEqual(["with a scrub", "without one", "the rest"]);
    // What a person allowed was for one run.
    expect(begun[2]).toMatchObject({ allowMassDelete: false, mostRequests: undefined });
  });

  test("of several runs that wait none waits for the scrub of another; the last makes up for all", async () => {
    const { runQueue, scrubbing, kinds } = scrubbingQueue(2);
    const first = runQueue.run(request(), "night");
    await scrubbing;
    const second = runQueue.run(request(), "a person");
    const third = runQueue.run({ ...request(), scrub: false }, "quick");
    await Promise.all([first, second, third]);
    await runQueue.idle();
    expect(kinds()).toEqual(["with a scrub", "with a scrub", "without one", "the rest"]);
  });

  test("a scrub that ended for a run that was not needed any more when it could begin is made up for", async () => {
    const { runQueue, scrubbing, kinds } = scrubbingQueue(1);
    const first = runQueue.run(request(), "night");
    await scrubbing;
    expect(await runQueue.run(request(), "gap", () => runQueue.current !== null)).toBeNull();
    await first;
    await runQueue.idle();
    expect(kinds()).toEqual(["with a scrub", "the rest"]);
  });

  test("none begins once the queue is closed", async () => {
    const { runQueue, story } = queueWith({ closed: AbortSignal.abort() });
    expect(await runQueue.run(request(), "one")).toBeNull();
    expect(story).toEqual([]);
  });
});
