import { readFileSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolders } from "../base/files/atomic-file.ts";
import { type Clock, dayMs, isoTime, minuteMs } from "../base/clock.ts";
import { valueOr } from "../base/errors.ts";
import { silentLog, type Log } from "../base/logger.ts";
import { objectIn } from "../json/literal.ts";
import { monthAt, type MonthCount, type MonthStore } from "../rate-limit/monthly-quota.ts";
import type { SpentMinute } from "../rate-limit/permit.ts";
import { defaultRules, coldState, storedState } from "../rate-limit/state.ts";
import type { RateLimitStore, BudgetStep, RateLimitState } from "../rate-limit/state.ts";
import { guarded, inTransaction, isOfCode, openDatabase, type Db } from "../store/database.ts";

interface BudgetFileOptions {
  /** `<data_dir>/<company>.budget.db` */
  readonly path: string;
  readonly clock: Clock;
  /** Which boot of the machine the monotonic clock counts from; null where that is not known. */
  readonly bootId?: string | null;
  readonly windowMs?: number;
  readonly log?: Log;
}

interface BudgetFile extends RateLimitStore, MonthStore, Disposable {
  /** Requests by minute since then, epoch ms; at most of the last day. Minutes without one are left out. */
  spentSince(sinceMs: number): SpentMinute[];
}

/**
 * Opens the budget that all processes of this company share, kept across restarts.
 *
 * Guarantee: steps of different processes never interleave. Source of truth: the service; the file remembers its
 * answers. Worst outcome of a power cut: the last steps are lost, and a window is waited out after the boot; a damaged
 * file is moved away and started anew. Throws MirrorError `database` when the file cannot be used.
 */
export function openBudgetFile(options: BudgetFileOptions): BudgetFile {
  const { path, clock, log = silentLog, bootId = readBootId(), windowMs = defaultRules.windowMs } = options;
  let file: OpenFile | null = null;
  const here = (): Clocks => ({ bootId, monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() });
  /** What this process read or wrote last: mostly nobody else has changed the file since. */
  let last: { readonly text: string; readonly state: RateLimitState } | null = null;
  const read = ({ select }: OpenFile): RateLimitState => {
    const text = select.get()?.state ?? "";
    if (last?.text !== text) last = { text, state: decodeState(text, here(), windowMs) ?? coldState };
    return last.state;
  };
  const close = () => {
    file?.db.close();
    file = null;
  };
  /** A damaged file is moved away, and the step repeated with a new one, once. */
  const using = <T>(act: (open: OpenFile) => T): T => {
    const attempt = () => guarded(path, () => act((file ??= openFile(path))));
    try {
      return attempt();
    } catch (error) {
      if (!isOfCode(error, /^SQLITE_(NOTADB|CORRUPT)/)) throw error;
      close();
      moveAway(path, clock, log);
      return attempt();
    }
  };
  const transact = <T>(open: OpenFile, step: (state: RateLimitState) => BudgetStep<T>): T => {
    const known = read(open);
    const { state, result } = step(known);
    if (state !== known) {
      const text = encodeState(state, here());
      open.replace.run(text);
      last = { text, state };
      open.count(known, state, clock.nowMs());
    }
    return result;
  };
  using(read);
  return {
    shared: true,
    transact: <T>(step: (state: RateLimitState) => BudgetStep<T>) =>
      using((open) => inTransaction(open.db, () => transact(open, step))),
    read: () => using(read),
    spentSince: (sinceMs) =>
      using(({ minutes }) =>
        minutes
          .all(Math.floor(sinceMs / minuteMs))
          .map(({ minute, ...spent }) => ({ at: isoTime(minute * minuteMs), ...spent })),
      ),
    readMonth: (month) => using(({ readMonth }) => readMonth.get(month) ?? { used: 0, limit: null }),
    noteMonth: (month, { used, limit }) => using(({ noteMonth }) => void noteMonth.run(month, used, limit)),
    close,
    [Symbol.dispose]: close,
  };
}

type OpenFile = ReturnType<typeof openFile>;

const tables = `CREATE TABLE IF NOT EXISTS budget (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS minutes (minute INTEGER PRIMARY KEY, requests INTEGER NOT NULL, refused INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS months (month TEXT PRIMARY KEY, requests INTEGER NOT NULL, quota INTEGER) STRICT`;

function openFile(path: string) {
  makeFolders(dirname(path));
  const db = openDatabase(path, {}, (made) => {
    made.pragma("synchronous = NORMAL");
    // Steps change the same few pages: the log that a mirror may have would take 64 MB of each company's disk.
    made.pragma("wal_autocheckpoint = 1000");
    made.exec(tables);
  });
  return {
    db,
    count: createCounter(db),
    select: db.prepare<[], { state: string }>("SELECT state FROM budget WHERE id = 1"),
    replace: db.prepare<[string]>("INSERT OR REPLACE INTO budget (id, state) VALUES (1, ?)"),
    minutes: db.prepare<[number], MinuteRow>("SELECT * FROM minutes WHERE minute >= ? ORDER BY minute"),
    readMonth: db.prepare<[string], MonthCount>(
      'SELECT requests AS used, quota AS "limit" FROM months WHERE month = ?',
    ),
    noteMonth: db.prepare<[string, number, number | null]>(`INSERT INTO months VALUES (?, ?, ?)
      ON CONFLICT (month) DO UPDATE SET requests = max(requests, excluded.requests), quota = excluded.quota`),
  };
}

const keptMinutes = 24 * 60;

interface MinuteRow extends Omit<SpentMinute, "at"> {
  readonly minute: number;
}

/** Counts what a step did by minute, for people, and by month: each permit has an id of its own, and a refusal its time. */
function createCounter(db: Db) {
  const add = db.prepare<[number, number, number]>(`INSERT INTO minutes VALUES (?, ?, ?) ON CONFLICT (minute)
    DO UPDATE SET requests = requests + excluded.requests, refused = refused + excluded.refused`);
  const addToMonth = db.prepare<[string, number]>(`INSERT INTO months VALUES (?, ?, NULL)
    ON CONFLICT (month) DO UPDATE SET requests = requests + excluded.requests`);
  const forget = db.prepare<[number]>("DELETE FROM minutes WHERE minute < ?");
  let counted = 0;
  return (before: RateLimitState, after: RateLimitState, nowMs: number) => {
    const requests = Math.max(0, after.nextId - before.nextId);
    const { lastAt } = after.refusals;
    const refused = lastAt !== null && lastAt !== before.refusals.lastAt ? 1 : 0;
    if (requests + refused === 0) return;
    const minute = Math.floor(nowMs / minuteMs);
    add.run(minute, requests, refused);
    if (requests > 0) addToMonth.run(monthAt(nowMs), requests);
    if (minute !== counted) forget.run(minute - keptMinutes);
    counted = minute;
  };
}

function moveAway(path: string, clock: Clock, log: Log): void {
  const aside = `${path}.damaged-${clock.nowMs()}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    try {
      renameSync(path + suffix, aside + suffix);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  log.warn("the file of the request budget was damaged: moved away, starting with an empty one", {
    path,
    aside,
  });
}

/** The id of this boot on Linux; null elsewhere, where the clocks are compared. */
function readBootId(): string | null {
  return valueOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), null);
}

/** The clocks of the process that reads or writes a state. The monotonic clock starts anew with each boot. */
interface Clocks {
  /** Which boot of the machine; null where that is not known. */
  readonly bootId: string | null;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The state as JSON, with the clocks that its times belong to. */
export function encodeState(state: RateLimitState, here: Clocks): string {
  return JSON.stringify({ version: 1, ...here, state });
}

const clockErrorMs = 1_000;
/** No pause ends later than this. */
const furthestMs = dayMs;

/**
 * Reads a state. Null for anything implausible: a cold start costs little, a wrong time could block requests for ever.
 *
 * After another boot the times mean nothing, and if the machine lost power the file may lack its last steps: it is a cold
 * start, once the window that they were counted in, whichever that was, is over.
 */
export function decodeState(
  text: string,
  here: Clocks,
  windowMs = defaultRules.windowMs,
): RateLimitState | null {
  const parsed = storedState.safeParse(objectIn(text));
  if (!parsed.success) return null;
  const { state, ...there } = parsed.data;
  if (!isSameClock(there, here)) {
    const refusals = { ...coldState.refusals, pausedUntil: windowMs + clockErrorMs };
    return { ...coldState, limit: state.limit, nextId: state.nextId, refusals };
  }
  const isPlausible =
    there.monotonicMs <= here.monotonicMs + clockErrorMs &&
    lastTimeIn(state) <= here.monotonicMs + furthestMs;
  return isPlausible ? state : null;
}

function lastTimeIn({ window, flights, late, refusals, others }: RateLimitState): number {
  const { pausedUntil, serialUntil } = refusals;
  const ends = [...flights.map(({ deadlineAt }) => deadlineAt), ...late.map(({ endedAt }) => endedAt)];
  return Math.max(window?.deadAt ?? 0, pausedUntil ?? 0, serialUntil ?? 0, others.until ?? 0, ...ends);
}

/** Where boots have no id, both clocks must agree. */
function isSameClock(there: Clocks, here: Clocks): boolean {
  if (there.bootId !== null && here.bootId !== null) return there.bootId === here.bootId;
  return Math.abs(there.wallMs - there.monotonicMs - (here.wallMs - here.monotonicMs)) < clockErrorMs;
}
