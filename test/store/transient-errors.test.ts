import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { MirrorError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/logger.ts";
import { inTransaction, isBusy, openDatabase, type Db } from "../../src/store/database.ts";
import {
  createBusyRetry,
  createErrorGuard,
  LoopTurns,
  retryInTurn,
  retryWhileBusy,
  shareTurns,
} from "../../src/store/transient-errors.ts";
import { rejectionOf } from "../support/errors.ts";
import { fastClock } from "../support/company/company.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { loggingTo } from "../support/company/open-company.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

const signal = new AbortController().signal;

function busy(): never {
  throw new MirrorError("database", "it is busy");
}

/** A mirror whose lock another connection holds; where that is known, SQLite itself does not wait a second for it. */
async function held(isKnown = true): Promise<{ readonly db: Db; readonly release: () => void }> {
  const { db } = await openShop();
  const other = openDatabase(db.name);
  onTestFinished(() => void other.close());
  other.exec("BEGIN IMMEDIATE");
  if (isKnown) expect(() => createBusyRetry(db)(busy)).toThrow("it is busy");
  return { db, release: () => void other.exec("ROLLBACK") };
}

const write = (db: Db) => () => inTransaction(db, () => db.prepare("DELETE FROM _work").run().changes);

// Fault: disk | another program holds the lock for a while | a step of the run, on a driven clock | waited for, and the step is made once
test("a lock of another program is waited for, and the step is made once", async () => {
  const { db, release } = await held();
  const said: string[] = [];
  const clock = fastClock();
  let slept = 0;
  const sleep: typeof clock.sleep = async (ms, until) => {
    if (++slept === 40) release();
    await clock.sleep(ms, until);
  };
  let steps = 0;
  const step = () => inTransaction(db, () => ++steps);
  const wait = { clock: { ...clock, sleep }, log: loggingTo(said), signal };
  expect([await retryWhileBusy(db, step, wait), slept]).toEqual([1, 40]);
  expect(said).toEqual([expect.stringContaining("another program holds the database")]);
});

// Fault: disk | another program holds the lock for more than 30 s | a step of the run, on a driven clock | an error that says what to do
test("after 30 s it is an error that says what to do", async () => {
  const { db } = await held();
  const clock = fastClock();
  const begunMs = clock.monotonicMs();
  const { kind, hint } = await rejectionOf(retryWhileBusy(db, write(db), { clock, log: silentLog, signal }));
  expect([kind, hint]).toEqual(["database", expect.stringContaining("Another program holds a lock")]);
  expect(clock.monotonicMs() - begunMs).toBeGreaterThanOrEqual(30_000);
  expect(clock.monotonicMs() - begunMs).toBeLessThan(35_000);
});

test("a stop ends the wait", async () => {
  const { db } = await held();
  const stopped = { clock: systemClock, log: silentLog, signal: AbortSignal.abort() };
  await expect(retryWhileBusy(db, write(db), stopped)).rejects.toSatisfy(isBusy);
});

test("many waiting steps leave the thread to others, and a receiver's step fails at once", async () => {
  const { db, release } = await held(false);
  const { promise: slept, resolve: wake } = Promise.withResolvers<undefined>();
  /** So long SQLite itself would wait, ms, and block the thread. */
  const blocking = () => db.pragma("busy_timeout", { simple: true });
  const blocked: unknown[] = [];
  const sleep = () => {
    blocked.push(blocking());
    return slept;
  };
  const store = createBusyRetry(db);
  const wait = { clock: { ...systemClock, sleep }, log: silentLog, signal };
  const steps = Array.from({ length: 6 }, () => retryWhileBusy(db, write(db), wait));
  expect(() => store(write(db))).toThrow("busy");
  expect([...blocked, blocking()]).toEqual([20, 20, 20, 20, 20, 20, 20]);
  release();
  wake(undefined);
  await Promise.all(steps);
  expect(blocking()).toBe(1_000);
});

test("of mirrors that share turns, one that waits long for the disk holds back no turn of the event loop for the others", async () => {
  let nowMs = 0;
  let [turn, open] = [0, false];
  const turns = new LoopTurns(() => nowMs);
  const madeIn: number[] = [];
  const step = () => {
    if (!open) setImmediate(() => ((open = false), turn++));
    open = true;
    madeIn.push(turn);
    nowMs += 30;
  };
  const mirrors = await Promise.all([openShop(), openShop(), openShop()]);
  const steps = mirrors.map(({ db }) => {
    shareTurns(db, turns);
    return retryInTurn(db, step, { clock: systemClock, log: silentLog, signal });
  });
  await Promise.all(steps);
  expect(madeIn).toEqual([0, 1, 2]);
});

test("steps of many share a turn of the event loop for 20 ms, first come, first served", async () => {
  let [nowMs, turn] = [0, 0];
  const madeIn: string[] = [];
  const turns = new LoopTurns(() => nowMs);
  const steps = Array.from({ length: 7 }, async (_, i) => {
    await turns.next();
    if (!madeIn.at(-1)?.startsWith(`${turn} `)) setImmediate(() => turn++);
    madeIn.push(`${turn} ${i}`);
    nowMs += 7;
  });
  await Promise.all(steps);
  expect(madeIn).toEqual(["0 0", "0 1", "0 2", "1 3", "1 4", "1 5", "2 6"]);
});

function full(): never {
  throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
}

// Fault: disk | a loop's step finds the disk full, for a moment and for longer than a minute | the guard of a daemon's loops | one line when it begins and one when it is over; after a minute an error
test("a loop goes on past a database that fails for up to a minute, and says when that is over", async () => {
  const clock = new DrivenClock(0);
  const said: string[] = [];
  const guard = createErrorGuard(clock, loggingTo(said));
  expect([full, full, () => 1, () => 2].map(guard)).toEqual([null, null, 1, 2]);
  const lines = ["the disk is full", "the mirror can be used again"];
  expect(said).toEqual(lines.map((line) => expect.stringContaining(line) as string));
  expect(guard(full)).toBeNull();
  clock.wind(60_001);
  expect(() => guard(full)).toThrow("the disk is full");
});
