import { describe, expect, test } from "vitest";
import { processCommands, type CommandLoopParts } from "../../src/daemon/commands/command-loop.ts";
import { emptyReport, type RunRequest } from "../../src/runs/company-run.ts";
import { formatSyncCommand } from "../../src/daemon/commands/sync-command.ts";
import { DaemonCommands } from "../../src/state/daemon-commands.ts";
import { openShop, resourceOf } from "../support/mirror/mirror.ts";
import { recordingLog, view } from "../support/terminal/terminal.ts";
import { WoundClock } from "../support/sandbox/sandbox.ts";

const asker = { atMs: 0, pid: process.pid };

function asks(more: Partial<RunRequest> = {}) {
  const closed = new AbortController().signal;
  const usual = {
    quick: false,
    full: true,
    allowMassDelete: true,
    acceptIdentity: false,
    scrub: false,
    mostRequests: 7,
    closed,
  };
  return { resources: [resourceOf("people")], ...usual, ...more };
}

/** A command loop on a wound clock; each run lasts until it is released. */
async function startLoop(parts: Partial<CommandLoopParts> = {}) {
  const mirror = await openShop();
  const commands = new DaemonCommands(mirror.db);
  const clock = new WoundClock();
  const close = new AbortController();
  const asked: RunRequest[] = [];
  const held = { release: () => undefined as void };
  const scrubs = { ended: 0 };
  const run = async (request: RunRequest) => {
    asked.push(request);
    await new Promise<void>((resolve) => {
      held.release = resolve;
    });
    return emptyReport(clock, "2026-11-20T09:00:00.000Z", close.signal.aborted ? "stopped" : "complete");
  };
  const ended = processCommands({
    manifest: mirror.manifest,
    commands,
    runQueue: { run, current: { endScrub: () => void (scrubs.ended += 1) } },
    context: { clock, log: recordingLog().log },
    closed: close.signal,
    replay: () => ({ queued: 1 }),
    prune: () => Promise.reject(new Error("none is asked for")),
    progressOf: () => null,
    ...parts,
  });
  const tick = async (ms = 1_000) => {
    clock.wind(ms);
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  return { commands, clock, close, asked, held, scrubs, ended, tick, mirror };
}

function failing(): never {
  throw new Error("no inbox");
}

describe("commands of other processes", () => {
  test("a sync that waits ends the scrub of the one under way, which would else keep it waiting", async () => {
    const { commands, close, held, scrubs, ended, tick } = await startLoop();
    commands.add("sync", formatSyncCommand(asks(), null), asker);
    await tick();
    await tick();
    expect(scrubs.ended).toBe(0);
    commands.add("sync", formatSyncCommand(asks(), null), asker);
    await tick();
    expect(scrubs.ended).toBeGreaterThan(0);
    close.abort();
    held.release();
    await tick();
    await ended;
  });

  test("a sync is made as it was asked for, one after another, and each gets its report", async () => {
    const { commands, close, asked, held, ended, tick } = await startLoop();
    const first = commands.add("sync", formatSyncCommand(asks(), null), asker);
    const second = commands.add(
      "sync",
      formatSyncCommand(asks({ full: false, mostRequests: undefined, shard: "2/3" }), null),
      asker,
    );
    await tick();
    expect([commands.find(first)?.state, commands.find(second)?.state]).toEqual(["running", "waiting"]);
    held.release();
    await tick();
    await tick();
    expect(commands.find(first)).toMatchObject({ state: "done", report: { outcome: "complete" } });
    expect(commands.find(second)?.state).toBe("running");
    held.release();
    await tick();
    expect(
      asked.map(({ full, allowMassDelete, mostRequests, shard }) => [
        full,
        allowMassDelete,
        mostRequests,
        shard,
      ]),
    ).toEqual([
      [true, true, 7, null],
      [false, true, undefined, "2/3"],
    ]);
    expect(asked[0]?.resources.map(({ name }) => name)).toEqual(["people"]);
    close.abort();
    await ended;
  });

  test("progress is shown while the run is made", async () => {
    const { commands, close, held, ended, tick } = await startLoop({ progressOf: () => view({ queued: 5 }) });
    const id = commands.add("sync", formatSyncCommand(asks(), null), asker);
    await tick();
    await tick();
    expect(commands.find(id)).toMatchObject({ state: "running", report: { queued: 5 } });
    held.release();
    await tick();
    close.abort();
    await ended;
  });

  test("a replay does not wait for a run", async () => {
    const { commands, close, held, ended, tick } = await startLoop();
    commands.add("sync", formatSyncCommand(asks(), null), asker);
    await tick();
    const id = commands.add("replay", { ids: ["a"] }, asker);
    await tick();
    expect(commands.find(id)).toMatchObject({ state: "done", report: { queued: 1 } });
    held.release();
    close.abort();
    await ended;
  });

  test("what cannot be done says why", async () => {
    const { commands, close, ended, tick } = await startLoop({ replay: failing });
    const id = commands.add("replay", {}, asker);
    const strange = commands.add("sync", { resources: ["no_such_table"] }, asker);
    await tick();
    expect(commands.find(id)).toMatchObject({ state: "failed", report: { error: "no inbox" } });
    expect(commands.find(strange)).toMatchObject({ state: "done", report: { outcome: "failed" } });
    close.abort();
    await ended;
  });

  // Fault: disk | the database cannot be written when a command's answer is ready | the daemon's commands | written as soon as it can be
  test("an answer is written as soon as the database can be written again", async () => {
    const { commands, close, held, ended, tick, mirror } = await startLoop();
    const id = commands.add("sync", formatSyncCommand(asks(), null), asker);
    await tick();
    mirror.db.pragma("query_only = ON");
    held.release();
    await tick();
    expect(commands.find(id)?.state).toBe("running");
    mirror.db.pragma("query_only = OFF");
    await tick();
    expect(commands.find(id)?.state).toBe("done");
    close.abort();
    await ended;
  });

  test("its time is over when the asker's is", async () => {
    const { commands, clock, close, asked, held, ended, tick } = await startLoop();
    commands.add("sync", formatSyncCommand(asks(), clock.nowMs() + 90_000), asker);
    await tick();
    await tick(80_000);
    expect(asked[0]?.closed.aborted).toBe(false);
    await tick(10_000);
    expect(asked[0]?.closed.aborted).toBe(true);
    held.release();
    close.abort();
    await ended;
  });

  test("one that our own end cuts off is left to the next writer; without its asker it is dropped", async () => {
    const { commands, clock, close, held, ended, tick } = await startLoop();
    const id = commands.add("sync", formatSyncCommand(asks(), null), asker);
    await tick();
    close.abort();
    held.release();
    await ended;
    expect(commands.find(id)?.state).toBe("running");
    expect(commands.dropStale(() => true, clock.nowMs())).toBe(0);
    expect(commands.find(id)?.state).toBe("waiting");
    expect(commands.dropStale(() => false, clock.nowMs())).toBe(1);
    expect(commands.find(id)).toBeNull();
  });
});
