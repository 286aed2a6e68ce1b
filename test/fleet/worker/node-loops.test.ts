import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { MirrorError } from "../../../src/base/errors.ts";
import { NodeLoops } from "../../../src/fleet/worker/node-loops.ts";
import { recordingLog } from "../../support/terminal/terminal.ts";

/** Repeats steps for a moment; each fails while `isAway` names it. */
async function repeating(steps: readonly { readonly what: string; readonly needsStore?: boolean }[]) {
  const { log, records } = recordingLog();
  const loops = new NodeLoops(systemClock, log);
  const isAway = new Set<string>();
  const closing = new AbortController();
  const ended = steps.map(({ what, needsStore }) =>
    loops.repeat(
      what,
      () => 5,
      () => stepOf(isAway, what),
      closing.signal,
      needsStore,
    ),
  );
  const end = async () => {
    closing.abort();
    await Promise.all(ended);
    return records().map(({ msg }) => msg);
  };
  return { loops, isAway, end };
}

async function stepOf(isAway: ReadonlySet<string>, what: string): Promise<void> {
  if (isAway.has(what)) throw new MirrorError("unavailable", `${what}: away`);
}

// Fault: disk | the store is away, while Postgres is there | a node's steps | the node stays ready to store deliveries, and says what fails and when it succeeds again
test("a step that fails for want of the store makes the node no less ready", async () => {
  const { loops, isAway, end } = await repeating([
    { what: "noting", needsStore: true },
    { what: "taking jobs" },
  ]);
  isAway.add("noting");
  await pause(50);
  expect(loops.problem).toBeNull();
  isAway.clear();
  await pause(50);
  expect(await end()).toEqual(["noting failed; it is tried again", "noting succeeds again"]);
});

test("steps that fail for want of Postgres are one line, a problem while it is away, and a line when it is back", async () => {
  const { loops, isAway, end } = await repeating([{ what: "taking jobs" }, { what: "the heartbeat" }]);
  isAway.add("taking jobs").add("the heartbeat");
  await pause(50);
  expect(loops.problem).toMatch(/away/);
  isAway.clear();
  await pause(50);
  expect(loops.problem).toBeNull();
  expect(await end()).toEqual([
    expect.stringContaining("failed; it is tried again"),
    "Postgres is reached again",
  ]);
});
