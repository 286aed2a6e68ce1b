import { describe, expect, onTestFinished, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import type { OpenCompany } from "../../src/host/host-context.ts";
import { createPruner, isPruneDue } from "../../src/host/pruner.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { changeDaily, pruneMs } from "../support/mirror/prune.ts";
import { allChanges } from "../support/mirror/store.ts";
import { endRun } from "../support/mirror/state-rows.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { recordingLog } from "../support/terminal/terminal.ts";

const due = (runEndedMs: number | null, nowMs: number) => isPruneDue(0, runEndedMs, nowMs);

test("a prune follows a run, at most one an hour; without runs it is made once a day", () => {
  expect(due(1, hourMs - 1)).toBe(false);
  expect(due(1, hourMs)).toBe(true);
  expect(due(-1, hourMs)).toBe(false);
  expect(due(null, 24 * hourMs - 1)).toBe(false);
  expect(due(null, 24 * hourMs)).toBe(true);
  // Set back, nobody knows how long ago the last one was.
  expect(due(null, -hourMs)).toBe(true);
});

/** A pruner over a mirror with 30 days of changes, of which 3 are kept; `tick` lets minutes pass. */
async function startPruner(before: (mirror: Mirror) => void = () => undefined) {
  const mirror = await openHasty();
  changeDaily(mirror, 30);
  before(mirror);
  const clock = new DrivenClock(pruneMs);
  const close = new AbortController();
  onTestFinished(() => close.abort());
  const { log, lines } = recordingLog();
  const runQueue = { isListing: false };
  const retention = { runsMs: null, inboxBodiesMs: null, changesMs: 74 * hourMs };
  const pruner = createPruner({
    context: { clock, log },
    settings: { config: { retention } },
    mirror,
    runQueue,
    closed: close.signal,
    // Only what a pruner needs of a company.
  } as unknown as OpenCompany);
  const ended = pruner.follow();
  const tick = (minutes: number) => clock.advance(minutes * minuteMs);
  const run = () => endRun(mirror.db, pruneMs, { endedMs: clock.nowMs() });
  return { mirror, pruner, runQueue, close, ended, tick, run, lines };
}

const runLastNight = ({ db }: Mirror) => endRun(db, pruneMs - 20 * hourMs);

describe("in the daemon", () => {
  // Fault: fleet | a company is held for minutes only, for its run | a pruner that begins just before the run | pruned after the run: the last prune is judged by the run before
  test("it follows the first run of a process, where the run before was long ago", async () => {
    const { mirror, tick, run } = await startPruner(runLastNight);
    await tick(1);
    expect(allChanges(mirror)).toHaveLength(90);
    run();
    await tick(2);
    expect(allChanges(mirror)).toHaveLength(9);
  });

  test("it is made after a run, not while one reads what lists show, and ends with the runtime", async () => {
    const { mirror, runQueue, close, ended, tick, run, lines } = await startPruner();
    runQueue.isListing = true;
    await tick(90);
    expect(allChanges(mirror)).toHaveLength(90);
    run();
    await tick(2);
    expect(allChanges(mirror)).toHaveLength(90);
    runQueue.isListing = false;
    await tick(2);
    expect(allChanges(mirror)).toHaveLength(9);
    expect(JSON.stringify(lines)).toContain("pruned what is older than the config keeps");
    close.abort();
    await ended;
  });

  test("one that is asked for waits for the one under way; one that fails stops nothing", async () => {
    const { mirror, pruner, tick, lines } = await startPruner();
    const [first, second] = [pruner.prune(), pruner.prune()];
    await tick(3);
    expect((await first).changes.rows + (await second).changes.rows).toBe(81);
    mirror.db.exec("ALTER TABLE _runs RENAME TO _elsewhere");
    mirror.db.exec("ALTER TABLE _reads RENAME TO _away");
    await expect(pruner.prune()).rejects.toThrow("_reads");
    mirror.db.exec("ALTER TABLE _elsewhere RENAME TO _runs");
    await tick(25 * 60);
    expect(JSON.stringify(lines)).toContain("could not be pruned");
    mirror.db.exec("ALTER TABLE _away RENAME TO _reads");
  });
});
