import { hourMs, isoTime, localDate } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { AskedMoment, LogPosition } from "../../base/ids.ts";
import { Changes } from "../../store/apply/change-log.ts";
import type { Db } from "../../store/database.ts";
import { readLog, seqAt } from "../log-identity.ts";

/** A moment of a mirror: its last change then, the log that this is a number of, and the time, ISO. */
export interface MirrorMoment {
  readonly log: string;
  readonly seq: number;
  readonly at: string;
}

/**
 * Finds the moment in the change log of a mirror.
 *
 * @throws MirrorError `usage`: it has not come yet, or the log does not reach back to it
 */
export function findMoment(db: Db, asked: AskedMoment, nowMs: number, timezone: string): MirrorMoment {
  if (asked.kind === "position") return momentOfPosition(db, asked.position, timezone);
  const today = localDate(nowMs, timezone);
  const isFuture = asked.kind === "day" ? asked.day > today : asked.atMs > nowMs;
  if (isFuture) {
    const what = asked.kind === "day" ? asked.day : isoTime(asked.atMs);
    throw new MirrorError("usage", `${what} has not come yet: today is ${today}`);
  }
  const atMs = asked.kind === "day" ? Math.min(endOfDay(asked.day, timezone), nowMs) : asked.atMs;
  const at = isoTime(atMs);
  // Where the clock was wrong for a while: after the read where the fewest reads stand on the wrong side.
  const read = `SELECT id FROM (SELECT id, sum(iif(at > ?, 1, -1)) OVER (ORDER BY id) AS score FROM _reads)
    WHERE score < 0 ORDER BY score, id DESC LIMIT 1`;
  const sql = `SELECT seq FROM _change_log WHERE read <= (${read}) ORDER BY seq DESC LIMIT 1`;
  const seq = db.prepare(sql).pluck().get(at) as number | undefined;
  if (seq === undefined) throw notReached(db, timezone);
  return { log: readLog(db).id, seq, at };
}

function momentOfPosition(db: Db, position: LogPosition, timezone: string): MirrorMoment {
  const { id, from } = readLog(db);
  const seq = position.log === null || position.log === id ? position.seq : seqAt(db, position);
  const sql = "SELECT r.at FROM _change_log l JOIN _reads r ON r.id = l.read WHERE l.seq = ?";
  const at = db.prepare(sql).pluck().get(seq) as string | undefined;
  if (at !== undefined) return { log: id, seq, at };
  // Throws for a position that no log of this mirror has; its beginning holds nothing.
  if (seq < from || seq >= new Changes(db).firstSeq()) seqAt(db, position);
  throw notReached(db, timezone);
}

function notReached(db: Db, timezone: string): MirrorError {
  const sql = "SELECT r.at FROM _change_log l JOIN _reads r ON r.id = l.read ORDER BY l.seq LIMIT 1";
  const first = db.prepare(sql).pluck().get() as string | undefined;
  if (first === undefined)
    return new MirrorError("usage", "the change log is empty: run `fintoro-mirror sync` first");
  const day = localDate(Date.parse(first), timezone);
  return new MirrorError("usage", `the change log does not reach back that far: it begins at ${first}`, {
    hint: `The first day that can be had is ${day}.`,
  });
}

/** The last millisecond of a day in a time zone: found by halving, so that no rule of summer time is needed. */
function endOfDay(day: string, timezone: string): number {
  let within = Date.parse(`${day}T00:00:00Z`) - 14 * hourMs;
  let after = within + 64 * hourMs;
  while (after - within > 1) {
    const middle = Math.floor((within + after) / 2);
    if (localDate(middle, timezone) <= day) within = middle;
    else after = middle;
  }
  return within;
}
