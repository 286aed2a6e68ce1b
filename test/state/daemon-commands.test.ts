import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/store/migrations/migrate.ts";
import { isAlive, DaemonCommands } from "../../src/state/daemon-commands.ts";
import { openDatabase, type Db } from "../../src/store/database.ts";
import { tempFolder } from "../support/mirror.ts";
import { startMs } from "../support/store.ts";

const dayMs = 86_400_000;
const asker = { atMs: startMs, pid: process.pid };
let path: string;
let orders: DaemonCommands;

function connect(): Db {
  const db = openDatabase(path);
  onTestFinished(() => void db.close());
  return db;
}

beforeEach(async () => {
  path = join(tempFolder(), "shop.db");
  const db = connect();
  await migrate(db);
  orders = new DaemonCommands(db);
});

describe("an order", () => {
  test("reaches another connection as it was given, and its answer comes back", () => {
    const asking = new DaemonCommands(connect());
    const id = asking.add("replay", { ids: ["a"] }, asker);
    expect(orders.next()).toEqual({
      id,
      kind: "replay",
      askedAt: "2026-03-01T00:00:00.000Z",
      pid: process.pid,
      options: { ids: ["a"] },
      state: "waiting",
      report: null,
      settledAt: null,
    });
    expect(orders.start(id)).toBe(true);
    expect(asking.get(id)?.state).toBe("running");
    orders.finish(id, "done", { replayed: 1 }, startMs + 1000);
    expect(asking.get(id)).toMatchObject({
      state: "done",
      report: { replayed: 1 },
      settledAt: "2026-03-01T00:00:01.000Z",
    });
  });

  test("is begun once, the oldest first, and by its kind where asked", () => {
    const [sync, replay] = [orders.add("sync", {}, asker), orders.add("replay", {}, asker)];
    expect(orders.next()?.id).toBe(sync);
    expect(orders.next("replay")?.id).toBe(replay);
    expect(orders.start(sync)).toBe(true);
    expect(orders.start(sync)).toBe(false);
    expect(orders.next()?.id).toBe(replay);
    expect(orders.open().map(({ id }) => id)).toEqual([sync, replay]);
  });

  test("can be withdrawn while it waits, and no longer once it is begun", () => {
    const [first, second] = [orders.add("sync", {}, asker), orders.add("sync", {}, asker)];
    expect(orders.withdraw(first)).toBe(true);
    expect(orders.get(first)).toBeNull();
    expect(orders.start(first)).toBe(false);
    orders.start(second);
    expect(orders.withdraw(second)).toBe(false);
  });

  test("an id is never given twice, so that nobody reads another one's answer", () => {
    const first = orders.add("sync", {}, asker);
    orders.withdraw(first);
    expect(orders.add("sync", {}, asker)).toBeGreaterThan(first);
  });
});

describe("a writer that begins", () => {
  test("drops the orders of the dead and begins those that were left running again", () => {
    const dead = orders.add("sync", {}, { atMs: startMs, pid: 4_000_000 });
    const left = orders.add("sync", { full: true }, asker);
    orders.start(left);
    expect(orders.dropStale((pid) => pid === process.pid, startMs)).toBe(1);
    expect(orders.get(dead)).toBeNull();
    expect(orders.next()).toMatchObject({ id: left, state: "waiting", options: { full: true } });
  });

  test("keeps answers for a week, whoever asked", () => {
    const [old, young] = [orders.add("sync", {}, asker), orders.add("sync", {}, asker)];
    orders.finish(old, "done", null, startMs);
    orders.finish(young, "failed", null, startMs + 2 * dayMs);
    expect(orders.dropStale(() => false, startMs + 8 * dayMs)).toBe(0);
    expect([orders.get(old), orders.get(young)?.state]).toEqual([null, "failed"]);
  });
});

test("answers are forgotten after a week, also where the one who gives them never restarts", () => {
  const old = orders.add("sync", {}, asker);
  orders.finish(old, "done", {}, startMs);
  const young = orders.add("sync", {}, asker);
  orders.finish(young, "done", {}, startMs + 8 * dayMs);
  expect(orders.get(old)).toBeNull();
  expect(orders.get(young)?.state).toBe("done");
});

test("what waits is found without a look at what is answered", () => {
  const sql = "SELECT * FROM _orders WHERE state = 'waiting' AND kind = ifnull(?, kind) ORDER BY id LIMIT 1";
  const plan = connect().prepare(`EXPLAIN QUERY PLAN ${sql}`).all("sync") as { detail: string }[];
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining("_orders_waiting")]);
});

test("alive is a process of this machine, whoever's it is", () => {
  expect(isAlive(process.pid)).toBe(true);
  expect(isAlive(1)).toBe(true);
  expect(isAlive(4_000_000)).toBe(false);
});
