import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/store/migrations/migrate.ts";
import { DaemonCommands, type DaemonCommand } from "../../src/state/daemon-commands.ts";
import { openDatabase } from "../../src/store/database.ts";
import { replayByOrder, type OrderedReplay } from "../../src/webhook/ingest/remote-replay.ts";
import { tempFolder } from "../support/mirror.ts";
import { jumpingClock } from "../support/company-status.ts";

let orders: DaemonCommands;

beforeEach(async () => {
  const db = openDatabase(join(tempFolder(), "shop.db"));
  onTestFinished(() => void db.close());
  await migrate(db);
  orders = new DaemonCommands(db);
});

/** As seen by someone who looks again only after the other side had its turn. */
function parts(daemon: () => void, more: Partial<OrderedReplay> = {}): OrderedReplay {
  const clock = jumpingClock();
  const sleep: typeof clock.sleep = async (ms, signal) => {
    await clock.sleep(ms, signal);
    daemon();
  };
  return {
    orders,
    clock: { nowMs: () => clock.nowMs(), monotonicMs: () => clock.monotonicMs(), sleep },
    signal: new AbortController().signal,
    holds: () => true,
    patienceMs: 30_000,
    ...more,
  };
}

function answering(answer: (order: DaemonCommand) => void): () => void {
  return () => {
    const order = orders.next("replay");
    if (order && orders.start(order.id)) answer(order);
  };
}

const idsIn = ({ options }: DaemonCommand) => (options as { ids: readonly string[] }).ids;
const many = Array.from({ length: 2500 }, (_, index) => `evt_${index}`);

describe("a replay by order", () => {
  test("goes in portions, one after the other, and its answers are summed", async () => {
    const sizes: number[] = [];
    const daemon = answering((order) => {
      sizes.push(idsIn(order).length);
      orders.finish(order.id, "done", { queued: 1, unread: 2, missing: idsIn(order).slice(0, 1) }, 0);
    });
    expect(await replayByOrder(parts(daemon), many)).toEqual({
      queued: 3,
      unread: 6,
      missing: ["evt_0", "evt_1000", "evt_2000"],
    });
    expect(sizes).toEqual([1000, 1000, 500]);
    expect(orders.open()).toEqual([]);
  });

  test("of nothing asks for nothing", async () => {
    expect(
      await replayByOrder(
        parts(() => undefined),
        [],
      ),
    ).toEqual({ queued: 0, unread: 0, missing: [] });
  });

  test("that the daemon cannot do says why", async () => {
    const daemon = answering((order) => orders.finish(order.id, "failed", { error: "the disk is full" }, 0));
    await expect(replayByOrder(parts(daemon), ["a"])).rejects.toThrow("the disk is full");
  });

  test("that nobody answers is withdrawn in time", async () => {
    const waiting = parts(() => undefined);
    await expect(replayByOrder(waiting, ["a"])).rejects.toMatchObject({ kind: "locked", retryable: true });
    expect(waiting.clock.monotonicMs()).toBe(30_000);
    expect(orders.open()).toEqual([]);
  });

  test("is withdrawn when the daemon ends, or whoever asked", async () => {
    const stop = new AbortController();
    const gone = parts(() => undefined, { holds: () => false });
    await expect(replayByOrder(gone, ["a"])).rejects.toMatchObject({ kind: "locked" });
    const stopped = parts(() => stop.abort(), { signal: stop.signal });
    await expect(replayByOrder(stopped, ["a"])).rejects.toMatchObject({ kind: "stopped" });
    expect(orders.open()).toEqual([]);
  });
});
