import { type Clock, dayMs, isoTime } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import { inTransaction, type Db } from "../../store/database.ts";
import { Changes } from "../../store/apply/change-log.ts";
import { unusedBytes } from "./sizes.ts";
import { removeRows } from "../../store/own-tables/statement.ts";
import { Meta } from "../meta.ts";

interface PruneParts {
  /** The mirror; on a dry run any connection to it, otherwise the one of the writer. */
  readonly db: Db;
  /** How long what is kept; null: for ever. */
  readonly retention: Config["retention"];
  readonly clock: Clock;
  /** Ends it between two transactions. */
  readonly signal: AbortSignal;
  /** Finds what would go, and writes nothing. @default false */
  readonly dryRun?: boolean;
}

/** How many rows went, and about how many bytes. */
interface Removed {
  rows: number;
  bytes: number;
}

/** What `prune --json` prints for a company. */
export type PruneReport = Awaited<ReturnType<typeof pruneMirror>>;

/** Between two transactions, so that deliveries and reads take their turn. */
const pauseMs = 20;
/** About a megabyte. */
const pagesAtOnce = 256;

/**
 * Removes what the config keeps no longer, and gives the space back, in small transactions with pauses between.
 *
 * Guarantee: event ids, tombstones, rows, and whatever else is still read stay; each transaction leaves a whole mirror.
 * Source of truth: the mirror.
 * Worst outcome of a crash: the rest is removed by the next prune.
 */
export async function pruneMirror(parts: PruneParts) {
  const { db, retention, clock, signal, dryRun = false } = parts;
  const nowMs = clock.nowMs();
  const remove = (keptMs: number | null, find: (db: Db, limit: AgeLimit) => Iterable<RemovablePart>) =>
    removeAll(
      parts,
      keptMs === null ? [] : find(db, { until: isoTime(nowMs - keptMs), now: isoTime(nowMs) }),
    );
  const runs = await remove(retention.runsMs, oldRuns);
  const inbox_bodies = await remove(retention.inboxBodiesMs, oldInboxBodies);
  const changes = await remove(retention.changesMs, oldChanges);
  const released_bytes = dryRun ? 0 : await giveBack(parts);
  return {
    dry_run: dryRun,
    /** False: it was ended early; the next one goes on. */
    finished: !signal.aborted,
    runs,
    inbox_bodies,
    /** `first_seq`: where the change log begins now. */
    changes: { ...changes, first_seq: new Changes(db).firstSeq(dryRun ? changes.rows : 0) },
    /** Given back to the file system, and free within the file afterwards. */
    released_bytes,
    free_bytes: unusedBytes(db),
  };
}

async function removeAll(
  { db, clock, signal, dryRun = false }: PruneParts,
  parts: Iterable<RemovablePart>,
): Promise<Removed> {
  const total = { rows: 0, bytes: 0 };
  let isFirst = true;
  for (const { rows, bytes, remove } of parts) {
    if (!isFirst) await clock.sleep(pauseMs, signal);
    if (signal.aborted) break;
    isFirst = false;
    if (rows > 0 && !dryRun) inTransaction(db, remove);
    total.rows += rows;
    total.bytes += bytes;
  }
  return total;
}

/** Gives free pages at once back to the file system, some at a time. Returns how many bytes. */
async function giveBack({ db, clock, signal }: PruneParts): Promise<number> {
  const before = unusedBytes(db);
  while (unusedBytes(db) > 0 && !signal.aborted) {
    inTransaction(db, () => db.pragma(`incremental_vacuum(${pagesAtOnce})`));
    await clock.sleep(pauseMs, signal);
  }
  return before - unusedBytes(db);
}

/** What is old, by the times that rows carry. Times are ISO. */
interface AgeLimit {
  readonly until: string;
  /** Rows of after this time were written by a clock that was ahead: nobody knows how old they are. */
  readonly now: string;
}

interface RemovablePart extends Readonly<Removed> {
  readonly remove: () => void;
}

/** Rows of one part: a transaction that removes them takes some milliseconds. */
const rowsAtOnce = 200;

/**
 * Pure: how many of the first rows may go, given their times in the order they were written. The first row that is
 * young ends it. A row without a time that can be true goes with an old one that was written after it.
 */
export function countOld(rows: readonly { readonly at: string | null }[], { until, now }: AgeLimit): number {
  const young = rows.findIndex(({ at }) => at !== null && at >= until && at <= now);
  const first = young === -1 ? rows : rows.slice(0, young);
  return first.findLastIndex(({ at }) => at !== null && at < until) + 1;
}

function partOf(going: readonly { readonly bytes: number | null }[], remove: () => void): RemovablePart {
  return { rows: going.length, bytes: going.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0), remove };
}

interface SelectedRun {
  readonly id: number;
  readonly at: string;
  readonly resumes: number | null;
  readonly bytes: number;
  readonly kind: string;
  /** Lists it read whole, a JSON array. */
  readonly swept: string;
}

/**
 * Old runs, from the last on. Of each kind (the same tables, mode and outcome) the last one stays, so whatever asks
 * for the last run that was complete, failed or read a table finds the same as before; likewise the last that read a
 * list whole, the first whole run, those of open lists, and those that one of these resumes.
 *
 * Guarantee: the answers of Runs, and the number of the next run, stay the same.
 * Source of truth: table `_runs`.
 * Worst outcome of a crash: some old runs stay until the next prune.
 */
function* oldRuns(db: Db, limit: AgeLimit): Generator<RemovablePart> {
  const needed = `SELECT run FROM _listings UNION SELECT min(id) FROM _runs WHERE outcome IN ('complete', 'partial')`;
  const kept = new Set(db.prepare(needed).pluck().all());
  const tables = "SELECT key FROM json_each(report, '$.resources') ORDER BY key";
  const select = db.prepare(`SELECT id, coalesce(finished_at, started_at) AS at, resumes,
      octet_length(report) + octet_length(swept) AS bytes,
      concat_ws(' ', mode, outcome, report ->> 'listed_at' IS NULL, (SELECT group_concat(key) FROM (${tables}))) AS kind,
      (SELECT json_group_array(key) FROM json_each(swept)) AS swept
    FROM _runs WHERE id < ? ORDER BY id DESC LIMIT ${rowsAtOnce}`);
  const found = new Set<string>();
  const mustStay = ({ id, at, resumes, kind, swept }: SelectedRun) => {
    const facts = [kind, ...(JSON.parse(swept) as string[]).map((key) => `swept ${key}`)];
    const isLast = facts.some((fact) => !found.has(fact));
    for (const fact of facts) found.add(fact);
    const stays = isLast || at >= limit.until || kept.has(id);
    if (stays && resumes !== null) kept.add(resumes);
    return stays;
  };
  for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null;) {
    const rows = select.all(before) as SelectedRun[];
    const going = rows.filter((row) => !mustStay(row));
    yield partOf(going, () => removeRows(db, "_runs", { id: going.map(({ id }) => id) }));
    before = rows.length === rowsAtOnce ? (rows.at(-1)?.id ?? null) : null;
  }
}

const bodiesBeginKey = "inbox_bodies_begin";

/**
 * Bodies of old events. The row stays with its event id, so that a delivery repeated years later is known (I7); in
 * place of the body stands its length, a number, which no body is.
 *
 * Guarantee: an event that waits for its read keeps its body.
 * Source of truth: `_inbox`; before `inbox_bodies_begin` of `_meta` there is no body.
 * Worst outcome of a crash: some bodies stay until the next prune.
 */
function* oldInboxBodies(db: Db, limit: AgeLimit): Generator<RemovablePart> {
  const meta = new Meta(db);
  const select = db.prepare(`SELECT seq, received_at AS at, state = 'waiting' AS waits,
      iif(typeof(body) = 'integer', NULL, octet_length(body)) AS bytes
    FROM _inbox WHERE seq >= ? ORDER BY seq LIMIT ${rowsAtOnce}`);
  const shorten = db.prepare(`UPDATE _inbox SET body = octet_length(body)
    WHERE seq BETWEEN ? AND ? AND state <> 'waiting' AND typeof(body) <> 'integer'`);
  /** The first that was left; null: none. */
  let left: number | null = null;
  for (let from: number | null = Number(meta.get(bodiesBeginKey) ?? 0); from !== null;) {
    const first = from;
    const rows = select.all(first) as { seq: number; at: string; waits: number; bytes: number | null }[];
    const old = rows.slice(0, countOld(rows, limit));
    left ??= old.find(({ waits }) => waits === 1)?.seq ?? null;
    const last = old.at(-1)?.seq ?? 0;
    const going = old.filter(({ waits, bytes }) => waits === 0 && bytes !== null);
    yield partOf(going, () => {
      shorten.run(first, last);
      meta.set(bodiesBeginKey, left ?? last + 1);
    });
    from = old.length === rowsAtOnce ? last + 1 : null;
  }
}

/** The event worker counts the deletions of a day by the change log, whatever the config says. */
const guardedMs = dayMs;
const changesBeginKey = "changes_begin";

/** The first `seq` that a prune has left in the change log; 1: none was made. */
export function changesBegin(db: Db): number {
  return Number(new Meta(db).get(changesBeginKey) ?? 1);
}

type OldChange = { readonly seq: number; readonly at: string | null; readonly bytes: number | null };

/**
 * Old changes, from the first on, with their reads.
 *
 * Guarantee: what is left is the end of the log without a gap, its last change included: no `seq` is given twice. A
 * change that is left has its `before` and `after`, because a row keeps the record as it was before.
 * Source of truth: `_change_log`; `changes_begin` of `_meta`, which is written with each removal, shows that it was no damage.
 * Worst outcome of a crash: the log begins at an earlier change than the config asks for.
 */
function* oldChanges(db: Db, limit: AgeLimit): Generator<RemovablePart> {
  const guarded = isoTime(Date.parse(limit.now) - guardedMs);
  const select =
    db.prepare(`SELECT l.seq, iif(l.op = 'delete' AND r.at > ?, ?, r.at) AS at, octet_length(l.before) AS bytes
    FROM _change_log l LEFT JOIN _reads r ON r.id = l.read
    WHERE l.seq >= ? AND l.seq < (SELECT max(seq) FROM _change_log) ORDER BY l.seq LIMIT ${rowsAtOnce}`);
  for (let from: number | null = 0; from !== null;) {
    const rows = select.all(guarded, limit.now, from) as OldChange[];
    const old = rows.slice(0, countOld(rows, limit));
    const last = old.at(-1)?.seq ?? 0;
    yield partOf(old, () => {
      db.prepare("DELETE FROM _change_log WHERE seq <= ?").run(last);
      // Reads are numbered in the order of their changes.
      db.exec("DELETE FROM _reads WHERE id < (SELECT read FROM _change_log ORDER BY seq LIMIT 1)");
      new Meta(db).set(changesBeginKey, last + 1);
    });
    from = old.length === rowsAtOnce ? last + 1 : null;
  }
}
