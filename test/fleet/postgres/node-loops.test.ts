import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { MirrorError } from "../../../src/base/errors.ts";
import { createNodeLoops } from "../../../src/fleet/postgres/node-loops.ts";
import { eventually } from "../../support/eventually.ts";
import { recordingLog } from "../../support/terminal/terminal.ts";

/** Repeats steps until `end`; each fails while `isAway` names it, and then is in `failed`. */
function repeating(...steps: readonly { readonly what: string; readonly needsStore?: boolean }[]) {
  const { log, records } = recordingLog();
  const loops = createNodeLoops(systemClock, log);
  const ofStore = createNodeLoops(systemClock, log, "the store is reached again");
  const [isAway, failed] = [new Set<string>(), new Set<string>()];
  const closing = new AbortController();
  const ended = steps.map(({ what, needsStore }) => {
    const step = async () => {
      if (!isAway.has(what)) return;
      failed.add(what);
      throw new MirrorError("unavailable", `${what}: away`);
    };
    return (needsStore ? ofStore : loops).repeat(what, 5, step, closing.signal);
  });
  const end = async () => {
    closing.abort();
    await Promise.all(ended);
  };
  return { loops, isAway, failed, said: () => records().map(({ msg }) => msg), end };
}

// Fault: disk | the store is away, while Postgres is there | a node's steps | the node stays ready to store deliveries, and says what fails and when it succeeds again
test("a step that fails for want of the store makes the node no less ready", async () => {
  const noting = { what: "noting", needsStore: true };
  const { loops, isAway, said, end } = repeating(noting, { what: "taking jobs" });
  isAway.add("noting");
  await eventually(() => said().length === 1, "a failure that is said");
  expect(loops.problem()).toBeNull();
  isAway.clear();
  await eventually(() => said().length === 2, "a success that is said");
  await end();
  expect(said()).toEqual(["noting failed; it is tried again", "the store is reached again"]);
});

test("steps that fail for want of Postgres are one line, a problem while it is away, and a line when it is back", async () => {
  const { loops, isAway, failed, said, end } = repeating({ what: "taking jobs" }, { what: "the heartbeat" });
  isAway.add("taking jobs").add("the heartbeat");
  await eventually(() => failed.size === 2 && loops.problem() !== null, "both failures");
  expect(loops.problem()).toMatch(/away/);
  isAway.clear();
  await eventually(() => loops.problem() === null, "no problem");
  await end();
  expect(said()).toEqual([expect.stringContaining("failed; it is tried again"), "Postgres is reached again"]);
});
