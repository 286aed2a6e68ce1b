import { describe, expect, onTestFinished, test } from "vitest";
import { hourMs, isoTime, minuteMs } from "../../src/base/clock.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { RunScheduler, nextWorkMs, reasonForRun } from "../../src/host/run-scheduler.ts";
import type { RunRequest } from "../../src/runs/company-run.ts";
import { emptySummary, type RunSummary, type Outcome } from "../../src/sync/context/run-summary.ts";
import type { Config } from "../../src/config/config.ts";
import type { OpenCompany } from "../../src/host/host-context.ts";
import type { RunQueue } from "../../src/runs/run-queue.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { Runs } from "../../src/state/runs.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { recordingLog } from "../support/terminal/terminal.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

const noon = Date.UTC(2026, 10, 20, 12);

interface Story {
  readonly schedule?: Partial<Config["schedule"]>;
  readonly runQueue?: Pick<RunQueue, "run" | "isListing">;
  readonly isServiceThere?: () => boolean;
  readonly isOfFleet?: boolean;
}

/** A scheduler over a real mirror; runs end at once as `outcomes` say, the last one for ever. */
async function schedulerWith(
  outcomes: readonly Outcome[],
  { schedule = {}, runQueue, isServiceThere = () => true, isOfFleet = false }: Story = {},
) {
  const mirror = await openShop();
  const clock = new DrivenClock(noon);
  const close = new AbortController();
  onTestFinished(() => close.abort());
  const { log, records } = recordingLog();
  const ran: { readonly why: string; readonly atMs: number }[] = [];
  const run = async (_: RunRequest, why: string, isNeeded: () => boolean = () => true) => {
    if (!isNeeded()) return null;
    const outcome = outcomes[Math.min(ran.length, outcomes.length - 1)] ?? "complete";
    ran.push({ why, atMs: clock.nowMs() - noon });
    return remember(mirror, clock.nowMs(), outcome);
  };
  const config = {
    schedule: { sync: null, quick: null, publish: null, timezone: "UTC", ...schedule },
    backup: { to: "/backups", schedule: "0 * * * *" },
  };
  const company = {
    mirror,
    runQueue: runQueue ?? { run, isListing: false },
    settings: { resources: [], config },
    context: { clock, random: seededRandom(1), log },
    closed: close.signal,
    hooks: isOfFleet ? {} : undefined,
    // Only what a scheduler needs of a company.
  } as unknown as OpenCompany;
  const scheduler = new RunScheduler(company, isServiceThere);
  const pass = (ms: number) => clock.advance(ms);
  return { scheduler, mirror, clock, close, ran, pass, records };
}

function remember(mirror: Mirror, atMs: number, outcome: Outcome, swept: RunSummary["swept"] = {}) {
  const runs = new Runs(mirror.db);
  const report = { ...emptySummary({ nowMs: () => atMs }, isoTime(atMs), outcome), swept };
  const id = runs.begin("incremental", isoTime(atMs), null, swept);
  runs.finish(id, isoTime(atMs), outcome, report);
  return report;
}

describe("why a run is owed at once", () => {
  const receiving = {
    receives: true,
    spans: [{ startedMs: noon, seenMs: noon + hourMs }],
    seesFromMs: noon as number | null,
  };
  const reason = ({ receives, spans, seesFromMs }: typeof receiving, nowMs: number) =>
    reasonForRun(receives, spans, seesFromMs, nowMs);

  test("nothing was read whole yet; nobody ever received; a pause may have cost events", () => {
    const now = noon + hourMs + 60_000;
    expect(reason({ ...receiving, seesFromMs: null }, now)).toContain("read everything yet");
    expect(reason({ ...receiving, spans: [] }, now)).toContain("first received");
    expect(reason({ ...receiving, seesFromMs: noon - 1 }, now)).toContain("first received");
    expect(reason(receiving, now)).toBeNull();
    expect(reason(receiving, noon + 9 * hourMs)).toContain("may have been lost");
    expect(reason({ ...receiving, seesFromMs: noon + 8 * hourMs }, noon + 9 * hourMs)).toBeNull();
  });

  test("a company without a webhook secret has no events to lose", () => {
    const silent = { ...receiving, receives: false };
    expect(reason({ ...silent, spans: [] }, noon + 99 * hourMs)).toBeNull();
    expect(reason({ ...silent, seesFromMs: null }, noon)).toContain("read everything yet");
  });
});

/** A queue that makes no run, and notes which it was asked for. */
function quietQueue() {
  const asked: RunRequest[] = [];
  const run = async (request: RunRequest) => {
    asked.push(request);
    return null;
  };
  return { isListing: false, asked, run };
}

describe("a run that is owed", () => {
  test("is tried again, less and less often, half an hour apart at most, until one is whole, and says so", async () => {
    const failed = Array.from({ length: 4 }, (): Outcome => "failed");
    const tries = ["failed", "database", "stopped", ...failed, "complete"] as const;
    const { scheduler, ran, pass, records } = await schedulerWith(tries);
    const done = scheduler.runUntilWhole(noon, "reason");
    await pass(3 * hourMs);
    await done;
    expect(ran.map(({ atMs }) => Math.round(atMs / 60_000))).toEqual([0, 1, 3, 7, 15, 31, 61, 91]);
    const pauses = records().flatMap(({ in_ms: inMs }) =>
      inMs === undefined ? [] : [Number(inMs) / 60_000],
    );
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  // Fault: service | away for a night | the scheduler's state of the service | the run is made when it is back
  test("waits while the service is away, and begins within a second when it is back", async () => {
    const there = { now: false };
    const { scheduler, ran, pass } = await schedulerWith(["complete"], { isServiceThere: () => there.now });
    const done = scheduler.runUntilWhole(noon, "reason");
    await pass(10 * hourMs);
    expect(ran).toEqual([]);
    there.now = true;
    await pass(2_000);
    await done;
    expect(ran).toHaveLength(1);
  });

  test("of the quick schedule is made once per slot, ends a scrub, waits for no other run and replaces none, nor one while the service is away", async () => {
    const runQueue = quietQueue();
    const there = { now: true };
    const parts = { runQueue, schedule: { quick: "*/10 * * * *" }, isServiceThere: () => there.now };
    const { scheduler, pass } = await schedulerWith(["complete"], parts);
    void scheduler.followQuick();
    await pass(31 * 60_000);
    expect(runQueue.asked.map(({ quick, full, scrub }) => [quick, full, scrub])).toEqual(
      Array.from({ length: 3 }, () => [true, false, false]),
    );
    runQueue.isListing = true;
    await pass(hourMs);
    expect(runQueue.asked).toHaveLength(3);
    Object.assign(runQueue, { isListing: false });
    there.now = false;
    await pass(hourMs);
    expect(runQueue.asked).toHaveLength(3);
    there.now = true;
    await pass(hourMs);
    expect(runQueue.asked).toHaveLength(9);
  });

  test.each([
    ["is made at the start where it was missed before", true, noon - 3 * hourMs, 1],
    ["is not made at the start where a run came after its slot", true, noon - hourMs / 2, 0],
    ["is not made at the start where that is not asked for", false, noon - 3 * hourMs, 0],
  ])("of the quick schedule %s", async (_, isOfFleet, lastRunMs, runs) => {
    const runQueue = quietQueue();
    const parts = { runQueue, schedule: { quick: "15 * * * *" }, isOfFleet };
    const { scheduler, mirror, pass } = await schedulerWith([], parts);
    remember(mirror, lastRunMs, "complete");
    void scheduler.followQuick();
    await pass(5 * 60_000);
    expect(runQueue.asked).toHaveLength(runs);
  });

  test.each([
    ["is not made when somebody else's run came first", "partial", {}, 0],
    ["is made after one that only continued a run", "complete", { invoices: isoTime(noon - hourMs) }, 1],
  ] as const)("%s", async (_, outcome, swept, runs) => {
    const { scheduler, ran, mirror, clock } = await schedulerWith(["complete"]);
    remember(mirror, clock.nowMs(), outcome, swept);
    await scheduler.runUntilWhole(noon, "reason");
    expect(ran).toHaveLength(runs);
  });

  test("ends with the daemon", async () => {
    const { scheduler, ran, close, pass } = await schedulerWith(["failed"]);
    const done = scheduler.runUntilWhole(noon, "reason");
    await pass(30_000);
    close.abort();
    await pass(1_000);
    await done;
    expect(ran).toHaveLength(1);
  });
});

describe("the schedule", () => {
  test("of publishing is followed without a run, and what it took is remembered", async () => {
    const schedule = { publish: "* * * * *" };
    const { scheduler, mirror, ran, pass } = await schedulerWith(["complete"], { schedule });
    let made = 0;
    void scheduler.followPublish(async () => void (made += 1));
    await pass(150_000);
    expect({ made, ran }).toEqual({ made: 3, ran: [] });
    expect(mirror.meta.get("publish_schedule")).toEqual({ slotMs: noon + 2 * 60_000 });
  });

  // Fault: disk | the place of backups cannot be written for minutes | a backup by its schedule | tried again, less and less often, until it is made
  test("of backups is followed once there is a whole run; one that fails is tried again, less and less often", async () => {
    const { scheduler, mirror, clock, pass } = await schedulerWith([]);
    const triedMs: number[] = [];
    void scheduler.followBackup(async () => triedMs.push(clock.nowMs()) > 3);
    await pass(90 * 60_000);
    expect(triedMs).toEqual([]);
    remember(mirror, clock.nowMs(), "complete");
    await pass(35 * 60_000);
    // No node of a fleet waits for the next attempt.
    expect(scheduler.nextMs(clock.nowMs())).toBe(noon + 3 * hourMs);
    await pass(85 * 60_000);
    const minutes = triedMs.map((atMs) => Math.floor((atMs - (triedMs[0] ?? 0)) / 60_000));
    expect(minutes.slice(0, 4)).toEqual([0, 1, 3, 7]);
    // The next slot.
    expect(minutes).toHaveLength(5);
  });

  // Fault: disk | the schedule cannot be noted because another program writes | the scheduler's store | nothing ends, and the slot is not run again
  test("is followed night after night, and what it took is remembered; a slot that cannot be noted, because somebody else writes, ends nothing and is not run again", async () => {
    const schedule = { sync: "15 2 * * *" };
    const { scheduler, mirror, ran, pass } = await schedulerWith(["complete"], { schedule });
    void scheduler.follow("first");
    await pass(60_000);
    mirror.db.exec(
      "CREATE TEMP TRIGGER busy BEFORE INSERT ON main._meta BEGIN SELECT RAISE(ABORT, 'busy'); END",
    );
    await pass(20 * hourMs);
    expect(ran).toHaveLength(2);
    mirror.db.exec("DROP TRIGGER busy");
    await pass(20 * hourMs);
    expect(ran.map(({ why }) => why)).toEqual(["first", "schedule", "schedule"]);
    expect(ran.map(({ atMs }) => Math.floor(atMs / hourMs))).toEqual([0, 14, 38]);
    expect(mirror.meta.get("schedule")).toEqual({ slotMs: Date.UTC(2026, 10, 22, 2, 15) });
  });
});

/** All in ms from now; the service is in this state for so long. */
type Row = readonly [
  what: string,
  dueMs: readonly (number | null)[],
  publishMs: number | null,
  state: Parameters<typeof nextWorkMs>[2]["state"],
  forMs: number,
  nextMs: number | null,
];

test.each<Row>([
  ["nothing that is known", [], null, "working", 0, null],
  ["the first of runs and reads", [null, 9, 5], 7, "working", 0, 5],
  ["the report where that is first", [null, 9], 7, "working", 0, 7],
  ["the report alone", [null, null], 7, "working", 0, 7],
  ["now while the service is away for a moment", [-10], null, "unavailable", 2 * minuteMs, -10],
  ["in five minutes once it is away for two", [-10], null, "unavailable", 2 * minuteMs + 1, 5 * minuteMs],
  ["no sooner where the token was refused", [-10], null, "unauthenticated", 60 * minuteMs, 5 * minuteMs],
  ["later where that is later", [30 * minuteMs], null, "unavailable", 60 * minuteMs, 30 * minuteMs],
  ["not put off where the service works", [0], null, "working", 60 * minuteMs, 0],
  ["not put off where it was not asked yet", [0], null, "starting", 60 * minuteMs, 0],
  ["a report that is never put off", [0], 1, "unavailable", 60 * minuteMs, 1],
  ["nothing, also while it is away", [], null, "unavailable", 60 * minuteMs, null],
])("a company has to do next: %s", (_, dueMs, publishMs, state, forMs, nextMs) => {
  const fromNow = (ms: number | null) => (ms === null ? null : noon + ms);
  const service = { state, sinceMs: noon - forMs };
  expect(nextWorkMs(dueMs.map(fromNow), [fromNow(publishMs)], service, noon)).toBe(fromNow(nextMs));
});
