import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/store/migrations/migrate.ts";
import { DaemonCommands, type DaemonCommand } from "../../src/state/daemon-commands.ts";
import { openDatabase } from "../../src/store/database.ts";
import { replayRemotely, type RemoteReplay } from "../../src/daemon/commands/remote-replay.ts";
import { tempFolder } from "../support/mirror/mirror.ts";
import { jumpingClock } from "../support/terminal/terminal.ts";

let commands: DaemonCommands;

beforeEach(async () => {
  const db = openDatabase(join(tempFolder(), "shop.db"));
  onTestFinished(() => void db.close());
  migrate(db);
  commands = new DaemonCommands(db);
});

/** The daemon acts while the asker sleeps. */
function parts(daemon: () => void, more: Partial<RemoteReplay> = {}): RemoteReplay {
  const clock = jumpingClock();
  const sleep: typeof clock.sleep = async (ms, signal) => {
    await clock.sleep(ms, signal);
    daemon();
  };
  return {
    commands,
    clock: { nowMs: () => clock.nowMs(), monotonicMs: () => clock.monotonicMs(), sleep },
    signal: new AbortController().signal,
    isDaemonThere: () => true,
    timeoutMs: 30_000,
    ...more,
  };
}

function answering(answer: (command: DaemonCommand) => void): () => void {
  return () => {
    const command = commands.next("replay");
    if (command && commands.start(command.id)) answer(command);
  };
}

const idsIn = ({ options }: DaemonCommand) => (options as { ids: readonly string[] }).ids;
const many = Array.from({ length: 2500 }, (_, index) => `evt_${index}`);

describe("a replay by the daemon", () => {
  test("goes in portions, one after the other, and their answers are summed", async () => {
    const sizes: number[] = [];
    const daemon = answering((command) => {
      sizes.push(idsIn(command).length);
      commands.finish(
        command.id,
        "done",
        { queued: 1, unread: 2, missing: idsIn(command).slice(0, 1), pruned: ["evt_old"] },
        0,
      );
    });
    expect(await replayRemotely(parts(daemon), many)).toEqual({
      queued: 3,
      unread: 6,
      missing: ["evt_0", "evt_1000", "evt_2000"],
      pruned: ["evt_old", "evt_old", "evt_old"],
    });
    expect(sizes).toEqual([1000, 1000, 500]);
    expect(commands.open()).toEqual([]);
  });

  test("of nothing asks for nothing", async () => {
    expect(
      await replayRemotely(
        parts(() => undefined),
        [],
      ),
    ).toEqual({ queued: 0, unread: 0, missing: [], pruned: [] });
  });

  test("that the daemon cannot do says why", async () => {
    const daemon = answering((command) =>
      commands.finish(command.id, "failed", { error: "the disk is full" }, 0),
    );
    await expect(replayRemotely(parts(daemon), ["a"])).rejects.toThrow("the disk is full");
  });

  test("that nobody answers is withdrawn in time", async () => {
    const waiting = parts(() => undefined);
    await expect(replayRemotely(waiting, ["a"])).rejects.toMatchObject({ kind: "locked", retryable: true });
    expect(waiting.clock.monotonicMs()).toBe(30_000);
    expect(commands.open()).toEqual([]);
  });

  test("is withdrawn when the daemon ends, or whoever asked", async () => {
    const stop = new AbortController();
    const gone = parts(() => undefined, { isDaemonThere: () => false });
    await expect(replayRemotely(gone, ["a"])).rejects.toMatchObject({ kind: "locked" });
    const stopped = parts(() => stop.abort(), { signal: stop.signal });
    await expect(replayRemotely(stopped, ["a"])).rejects.toMatchObject({ kind: "stopped" });
    expect(commands.open()).toEqual([]);
  });
});
