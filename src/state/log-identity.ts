import { randomUUID } from "node:crypto";
import { readJsonFile, writeFileAtomically } from "../base/files/atomic-file.ts";
import { MirrorError } from "../base/errors.ts";
import type { LogPosition } from "../base/ids.ts";
import { Changes } from "../store/apply/change-log.ts";
import type { Db } from "../store/database.ts";
import { Meta } from "./meta.ts";

/** Which change log a mirror has: positions of another one say nothing here. Kept in table `_meta`. */
interface LogIdentity {
  /** Random; another one when the mirror is made or restored. */
  readonly id: string;
  /** The log's first change has this number, also where a prune has removed it. Of a restored mirror: the backup's. */
  readonly from: number;
  /** No later change of the log has a lower number. */
  readonly first: number;
}

const logKey = "log";
/** No log gives a number in each microsecond: what it gives stays below the first number of a log that begins later. */
const numberedSinceMs = Date.UTC(2026, 0, 1);
const numbersPerMs = 1_000;
/** The year 2248: a clock that is wrong by more leaves numbers that are safe integers. */
const highestByTime = 7e15;
/** More changes than a log has: what else it may have given, where the clock was set back. */
const skippedNumbers = 1_000_000_000;

/** Of a mirror that was never opened for writing, one without changes. */
export function readLog(db: Db): LogIdentity {
  return findLog(db) ?? { id: "none", from: 1, first: 1 };
}

/** The position after which everything follows that comes from now on. */
export function endOfLog(db: Db): { readonly log: string; readonly seq: number } {
  const { id: log, first } = readLog(db);
  return { log, seq: Math.max(new Changes(db).lastSeq(), first - 1) };
}

/** Null: the mirror was never opened for writing. */
export function findLog(db: Db): LogIdentity | null {
  return new Meta(db).get(logKey) as LogIdentity | null;
}

/**
 * Begins the change log of a new mirror; in a transaction. The first number is above any that earlier logs of the company
 * can have given: it is the time, and where the clock was set back it follows the numbers that are noted beside the
 * mirror, which stay when the mirror's file is removed.
 *
 * @param mirror where the mirror's file belongs; `db` may be elsewhere still
 */
export function beginLog(db: Db, mirror: string, nowMs: number): void {
  const before = findLog(db);
  const first = firstNumber(nowMs, Math.max(readGiven(mirror), givenBy(db)));
  noteGiven(mirror, first);
  const id = randomUUID().slice(-12);
  new Meta(db).set(logKey, { id, from: before?.from ?? first, first } satisfies LogIdentity);
}

/** Pure: the first number of a log that begins now, where earlier ones gave numbers up to about `given`; 0: none. */
export function firstNumber(nowMs: number, given: number): number {
  const byTime = Math.floor((nowMs - numberedSinceMs) * numbersPerMs);
  return Math.max(1, Math.min(byTime, highestByTime), given === 0 ? 0 : given + skippedNumbers);
}

/** The highest number that the mirror's log gave, or may give next; 0: none. */
export function givenBy(db: Db): number {
  return Math.max(new Changes(db).lastSeq(), findLog(db)?.first ?? 0);
}

/** Notes beside the mirror that a log of the company may have given numbers up to this one. */
export function noteGiven(mirror: string, seq: number): void {
  if (seq > readGiven(mirror))
    writeFileAtomically(numbersFile(mirror), `${JSON.stringify({ given: seq })}\n`);
}

function readGiven(mirror: string): number {
  const given = readJsonFile<{ given: unknown }>(numbersFile(mirror))?.given;
  return Number.isSafeInteger(given) ? Number(given) : 0;
}

function numbersFile(mirror: string): string {
  return `${mirror.replace(/\.db$/, "")}.numbers.json`;
}

/**
 * The number after which changes follow for somebody who is at this position; 0 is the log's beginning.
 *
 * @throws MirrorError `usage` for a position that this log never had, `not_found` where changes after it were removed
 */
export function seqAt(db: Db, { log, seq }: LogPosition): number {
  const { id, from } = readLog(db);
  const changes = new Changes(db);
  const after = seq === 0 ? from - 1 : seq;
  if (log !== null && log !== id)
    throw notOfLog(`position ${log}:${seq} is of another change log than this mirror's, which is ${id}`);
  if (after < from - 1 || (after >= Math.max(changes.firstSeq(), from) && !changes.has(after)))
    throw notOfLog(`log ${id} has no position ${seq}: it begins at ${from}, it ends at ${changes.lastSeq()}`);
  changes.assertHeldAfter(after);
  return after;
}

function notOfLog(what: string): MirrorError {
  return new MirrorError("usage", what, {
    hint: "The mirror was made anew or restored, or the position is of another company. Begin anew: take all of it (`export` without --since, or the report), and go on from `log` and `next_since` of its manifest.",
  });
}
