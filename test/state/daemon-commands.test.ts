import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/store/migrations/migrate.ts";
import { isAlive, DaemonCommands } from "../../src/state/daemon-commands.ts";
import { openDatabase, type Db } from "../../src/store/database.ts";
import { tempFolder } from "../support/mirror/mirror.ts";
import { startMs } from "../support/mirror/store.ts";

const dayMs = 86_400_000;
const asker = { atMs: startMs, pid: process.pid };
let path: string;
let commands: DaemonCommands;

function connect(): Db {
  const db = openDatabase(path);
  onTestFinished(() => void db.close());
  return db;
}

beforeEach(async () => {
  path = join(tempFolder(), "shop.db");
  const db = connect();
  migrate(db);
  commands = new DaemonCommands(db);
});

describe("a command", () => {
  test("reaches another connection as it was given, and its answer comes back", () => {
    const asking = new DaemonCommands(connect());
    const id = asking.add("replay", { ids: ["a"] }, asker);
    expect(commands.next("replay")).toEqual({
      id,
      kind: "replay",
      askedAt: "2026-03-01T00:00:00.000Z",
      pid: process.pid,
      options: { ids: ["a"] },
      state: "waiting",
      report: null,
    });
    expect(commands.start(id)).toBe(true);
    expect(asking.find(id)?.state).toBe("running");
    commands.finish(id, "done", { replayed: 1 }, startMs + 1000);
    expect(asking.find(id)).toMatchObject({
      state: "done",
      report: { replayed: 1 },
    });
  });

  test("is begun once, the oldest of its kind first", () => {
    const [sync, replay] = [commands.add("sync", {}, asker), commands.add("replay", {}, asker)];
    const later = commands.add("sync", {}, asker);
    expect(commands.next("sync")?.id).toBe(sync);
    expect(commands.next("replay")?.id).toBe(replay);
    expect(commands.start(sync)).toBe(true);
    expect(commands.start(sync)).toBe(false);
    expect(commands.next("sync")?.id).toBe(later);
    expect(commands.open().map(({ id }) => id)).toEqual([sync, replay, later]);
  });

  test("can be withdrawn while it waits, and no longer once it is begun", () => {
    const [first, second] = [commands.add("sync", {}, asker), commands.add("sync", {}, asker)];
    expect(commands.withdraw(first)).toBe(true);
    expect(commands.find(first)).toBeNull();
    expect(commands.start(first)).toBe(false);
    commands.start(second);
    expect(commands.withdraw(second)).toBe(false);
  });

  test("an id is never given twice, so that no asker reads the answer of another command", () => {
    const first = commands.add("sync", {}, asker);
    commands.withdraw(first);
    expect(commands.add("sync", {}, asker)).toBeGreaterThan(first);
  });
});

describe("a writer that begins", () => {
  // Fault: process | the process that asked the daemon has ended | the table of commands | its command is dropped; one that was left running begins again
  test("drops the commands of askers that have ended, and begins again those that were left running", () => {
    const dead = commands.add("sync", {}, { atMs: startMs, pid: 4_000_000 });
    const left = commands.add("sync", { full: true }, asker);
    commands.start(left);
    expect(commands.dropStale((pid) => pid === process.pid, startMs)).toBe(1);
    expect(commands.find(dead)).toBeNull();
    expect(commands.next("sync")).toMatchObject({ id: left, state: "waiting", options: { full: true } });
  });

  test("keeps answers for a week, whoever asked", () => {
    const [old, young] = [commands.add("sync", {}, asker), commands.add("sync", {}, asker)];
    commands.finish(old, "done", null, startMs);
    commands.finish(young, "failed", null, startMs + 2 * dayMs);
    expect(commands.dropStale(() => false, startMs + 8 * dayMs)).toBe(0);
    expect([commands.find(old), commands.find(young)?.state]).toEqual([null, "failed"]);
  });
});

test("answers are forgotten after a week, also where the one who gives them never restarts", () => {
  const old = commands.add("sync", {}, asker);
  commands.finish(old, "done", {}, startMs);
  const young = commands.add("sync", {}, asker);
  commands.finish(young, "done", {}, startMs + 8 * dayMs);
  expect(commands.find(old)).toBeNull();
  expect(commands.find(young)?.state).toBe("done");
});

test("what waits is found without a look at what is answered", () => {
  const sql = "SELECT * FROM _commands WHERE state = 'waiting' AND kind = ? ORDER BY id LIMIT 1";
  const plan = connect().prepare(`EXPLAIN QUERY PLAN ${sql}`).all("sync") as { detail: string }[];
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining("_commands_waiting")]);
});

test("alive is a process of this machine, whoever's it is", () => {
  expect(isAlive(process.pid)).toBe(true);
  expect(isAlive(1)).toBe(true);
  expect(isAlive(4_000_000)).toBe(false);
});
