import type { Clock } from "../base/clock.ts";
import { messageOf, MirrorError } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import { retries } from "../retry/retry-limits.ts";
import { onceFor } from "../base/once-for.ts";
import { databaseError, isBusy, type Db } from "./database.ts";

/** A database that fails for longer than this is opened again. */
const maxFailingMs = 60_000;

/**
 * Guards the steps of a loop against a database that is busy or full for a moment. The guard gives what the
 * step gives, and null when it failed so: the loop waits before it goes on. Throws what is no database error, and what lasts over 60 s.
 * `onChange` gets why steps fail, and null when one succeeds.
 */
export function createErrorGuard(
  clock: Clock,
  log: Log,
  onChange: (problem: string | null) => void = () => undefined,
): <T>(step: () => T) => T | null {
  let failingSinceMs: number | null = null;
  return (step) => {
    try {
      const result = step();
      if (failingSinceMs !== null) log.info("the mirror can be used again");
      failingSinceMs = null;
      onChange(null);
      return result;
    } catch (thrown) {
      const error = databaseError("the mirror", thrown);
      if (!(error instanceof MirrorError) || error.kind !== "database") throw error;
      if (failingSinceMs === null) log.warn(messageOf(error), { hint: error.hint });
      failingSinceMs ??= clock.monotonicMs();
      onChange(messageOf(error));
      if (clock.monotonicMs() - failingSinceMs > maxFailingMs) throw error;
      return null;
    }
  };
}

/** How long SQLite waits for another program's lock; the service gives up on a delivery after 10 s. */
const busyTimeoutMs = 1_000;
const failingTimeoutMs = 20;

/** What is known of each connection: the timeout that was set, and how many steps wait. */
const connectionOf = onceFor((db: Db) => {
  if (db.open) db.pragma(`busy_timeout = ${busyTimeoutMs}`);
  return { timeoutMs: busyTimeoutMs, waiting: 0 };
});

/** Sets how long SQLite itself waits: it blocks the only thread there is, so not long after a step failed. */
function setBusyTimeout(db: Db, timeoutMs: number): void {
  const known = connectionOf(db);
  if (!db.open || known.timeoutMs === timeoutMs) return;
  db.pragma(`busy_timeout = ${timeoutMs}`);
  known.timeoutMs = timeoutMs;
}

/**
 * Lets SQLite retry the steps of a receiver while another program holds the database: for 1 s, and for 20 ms only
 * after a step that waited in vain, until one succeeds. Deliveries are refused at once meanwhile. Throws what the step
 * throws.
 */
export function createBusyRetry(db: Db): <T>(step: () => T) => T {
  connectionOf(db);
  return (step) => {
    try {
      const result = step();
      setBusyTimeout(db, busyTimeoutMs);
      return result;
    } catch (error) {
      const isDatabaseError = error instanceof MirrorError && error.kind === "database";
      if (isDatabaseError) setBusyTimeout(db, failingTimeoutMs);
      throw error;
    }
  };
}

interface LockWait {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Repeats a step, a transaction as a whole, while another program holds the database: for 30 s, without blocking the
 * thread. Throws what the step throws; the error of the lock when the time is over or the signal aborts.
 */
export async function retryWhileBusy<T>(
  db: Db,
  step: () => T | Promise<T>,
  { clock, log, signal }: LockWait,
): Promise<T> {
  const connection = connectionOf(db);
  let sinceMs: number | null = null;
  const end = () => (connection.waiting -= Number(sinceMs !== null));
  for (;;) {
    try {
      const result = await step();
      setBusyTimeout(db, busyTimeoutMs);
      end();
      return result;
    } catch (error) {
      const isOver = sinceMs !== null && clock.monotonicMs() - sinceMs >= retries.mirrorLock.longestMs;
      if (!isBusy(error) || isOver || signal.aborted) {
        end();
        throw error;
      }
      setBusyTimeout(db, failingTimeoutMs);
      if (sinceMs === null && connection.waiting++ === 0)
        log.warn("another program holds the database: waiting for it", {
          path: db.name,
          for_at_most_ms: retries.mirrorLock.longestMs,
        });
      sinceMs ??= clock.monotonicMs();
    }
    await clock.sleep(retries.mirrorLock.everyMs, signal);
  }
}

/** Of connections that share the thread with those of other mirrors. */
const sharedTurns = new WeakMap<Db, LoopTurns>();

/** From now on `retryInTurn` and `onNextTurn` of this connection wait for a turn of their own. */
export function shareTurns(db: Db, turns: LoopTurns): void {
  sharedTurns.set(db, turns);
}

/** As `retryWhileBusy`; each attempt waits for its turn first. */
export function retryInTurn<T>(db: Db, step: () => T | Promise<T>, wait: LockWait): Promise<T> {
  const turns = sharedTurns.get(db);
  return retryWhileBusy(db, turns ? () => turns.next().then(step) : step, wait);
}

/** Calls `step`, which never throws, after this turn of the event loop: in the next one that is free. */
export function onNextTurn(db: Db, step: () => void): void {
  const turns = sharedTurns.get(db);
  if (turns) void turns.next().then(step);
  else setImmediate(step);
}

/** Time of work between two turns of the event loop, unless one step takes longer. */
const sliceMs = 20;

/**
 * Gives callers their turn, first come, first served: in one turn of the event loop as many as fit into 20 ms. Steps
 * that wait for the disk then hold back nobody for long, however many companies have one to make.
 */
export class LoopTurns {
  private readonly nowMs: () => number;
  private readonly waiting: (() => void)[] = [];
  /** Null: nobody had a turn since the event loop went round. */
  private sliceEndMs: number | null = null;

  /** @param nowMs monotonic */
  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  /** Resolves at the begin of the caller's turn. */
  next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push(resolve);
    setImmediate(() => this.give());
    return promise;
  }

  private give(): void {
    const nowMs = this.nowMs();
    if (this.sliceEndMs === null) {
      this.sliceEndMs = nowMs + sliceMs;
      setImmediate(() => (this.sliceEndMs = null));
    } else if (nowMs >= this.sliceEndMs) {
      setImmediate(() => this.give());
      return;
    }
    this.waiting.shift()?.();
  }
}
