import { describe, expect, test } from "vitest";
import { emptyReport, type RunRequest } from "../../src/daemon/runs/company-run.ts";
import { RunQueue, type RunQueueParts } from "../../src/daemon/runs/run-queue.ts";
import { createTurns } from "../../src/daemon/runs/run-semaphore.ts";
import type { HttpTransport } from "../../src/http/http-transport.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";
import { jumpingClock, recordingLog } from "../support/company-status.ts";

const clock = jumpingClock(Date.UTC(2026, 10, 21));
const startedAt = "2026-11-21T00:00:00.000Z";

function request(full = false): RunRequest {
  return {
    resources: [],
    full,
    allowMassDelete: false,
    acceptIdentity: false,
    mostRequests: undefined,
    closed: new AbortController().signal,
  };
}

const noTransport = { close: async () => undefined } as unknown as HttpTransport;

function deskWith(parts: Partial<RunQueueParts> = {}) {
  const story: string[] = [];
  const { log, records } = recordingLog();
  const desk = new RunQueue({
    clock,
    log,
    turns: createTurns(4),
    closed: new AbortController().signal,
    connect: () => noTransport,
    perform: async ({ mode }) => {
      story.push(`begin ${mode}`);
      await clock.sleep(1);
      story.push(`end ${mode}`);
      return emptyReport(clock, startedAt, "complete");
    },
    onEnd: (_, { outcome }) => story.push(outcome),
    afterRun: async () => void story.push("after"),
    ...parts,
  });
  return { desk, story, records };
}

describe("the runs of one company", () => {
  test("go one at a time, each with what follows it, in the order they were asked for", async () => {
    const { desk, story } = deskWith();
    await Promise.all([desk.run(request(), "one"), desk.run(request(true), "two")]);
    await desk.idle();
    const one = "begin incremental, end incremental, complete, after";
    expect(story.join(", ")).toBe(`${one}, begin full, end full, complete, after`);
    expect(desk.current).toBeNull();
  });

  test("one whose reason is gone when its turn comes is not made", async () => {
    const { desk, story } = deskWith();
    const first = desk.run(request(), "one");
    expect(await desk.run(request(true), "two", () => story.length === 0)).toBeNull();
    expect((await first)?.outcome).toBe("complete");
    expect(story).not.toContain("begin full");
  });

  test("what fails after a run is told, and the next run is made all the same", async () => {
    const full = new Error("the disk of reports is full");
    const { desk, records } = deskWith({ afterRun: () => Promise.reject(full) });
    expect((await desk.run(request(), "one"))?.outcome).toBe("complete");
    expect((await desk.run(request(), "two"))?.outcome).toBe("complete");
    await desk.idle();
    const told = records().filter(({ level }) => level === "error");
    expect(told.map(({ error }) => error)).toEqual(Array(2).fill("the disk of reports is full"));
  });

  test("a bug in a run is its outcome, not the daemon's end", async () => {
    const { desk, records } = deskWith({
      perform: () => Promise.reject(new TypeError("x is not a function")),
    });
    const report = await desk.run(request(), "one");
    expect(report).toMatchObject({
      outcome: "failed",
      error: { kind: "bug", message: "x is not a function" },
    });
    expect(records().some(({ level }) => level === "error")).toBe(true);
  });

  test("none begins once the desk is closed", async () => {
    const { desk, story } = deskWith({ closed: AbortSignal.abort() });
    expect(await desk.run(request(), "one")).toBeNull();
    expect(story).toEqual([]);
  });
});

describe("turns", () => {
  const never = new AbortController().signal;

  test("so many at once over all companies; who waits longest is next", async () => {
    const turns = createTurns(2);
    const order: string[] = [];
    const enter = async (name: string) => {
      const leave = await turns.take(never);
      order.push(name);
      return leave;
    };
    const first = await enter("a");
    const second = await enter("b");
    const third = enter("c");
    const fourth = enter("d");
    await Promise.resolve();
    expect(order).toEqual(["a", "b"]);
    first?.();
    first?.();
    await third;
    expect(order).toEqual(["a", "b", "c"]);
    second?.();
    await fourth;
    expect(order).toEqual(["a", "b", "c", "d"]);
  });

  test("who is told to stop leaves the line, and takes no turn with it", async () => {
    const turns = createTurns(1);
    const leave = await turns.take(never);
    const stop = new AbortController();
    const waiting = turns.take(stop.signal);
    const next = turns.take(never);
    stop.abort();
    expect(await waiting).toBeNull();
    leave?.();
    expect(await next).not.toBeNull();
  });
});

test("a report of nothing is one", () => {
  const report: CompanyReport = emptyReport(clock, startedAt, "interrupted");
  expect(report.requests.total).toBe(0);
});
