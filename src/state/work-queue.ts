import { recordId, type RecordId } from "../base/ids.ts";
import { laneRank, lanes, type Lane, type WorkKind } from "../base/lane.ts";
import type { OwnRow } from "../store/own-tables/mirror-tables.ts";
import {
  among,
  count,
  countRows,
  hasRow,
  highest,
  parseStored,
  removeRows,
  Repository,
  statement,
  updateRows,
} from "../store/own-tables/statement.ts";
import { quoted } from "../store/sql-text.ts";
import type { Records } from "../store/tables/stored-records.ts";
import { LeaseOrder, type LaneShare } from "./lease-order.ts";
import { idInTarget, isUrgent, recordTarget, type NewWorkItem, type WorkItem } from "./work-item.ts";

const quickRank = laneRank("quick");
const detailRanks = [laneRank("changed"), laneRank("hydration")];
const ranks = lanes.map((_lane, rank) => rank).filter((rank) => rank !== quickRank);
const ranksOf: Readonly<Record<LaneShare, readonly number[]>> = {
  quick: [quickRank],
  all: ranks,
  events: ranks.filter((rank) => rank === laneRank("webhook")),
  others: ranks.filter((rank) => rank !== laneRank("webhook")),
  asked: [laneRank("list")],
};

const recordKinds: readonly WorkKind[] = ["detail", "child", "confirm"];
const allKinds: readonly WorkKind[] = ["list", ...recordKinds];

type WorkState = OwnRow<"_work">["state"];

export type QueueCount = Pick<OwnRow<"_work">, "resource" | "kind" | "state"> & { readonly count: number };

const insert = `INSERT INTO _work (resource, target, kind, lane, due_ms, rank, reason, payload, dirty_seq)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource, target)`;

/** A quick run takes over what its lists show as changed, and no missing details, from the backlog of other runs. */
const insertOrMerge = `${insert} DO UPDATE SET
  kind = CASE WHEN excluded.reason = 'route probe' OR (kind = 'confirm' AND reason <> 'route probe') THEN kind ELSE excluded.kind END,
  lane = iif(excluded.lane = ${quickRank} AND lane >= ${laneRank("changed")} AND excluded.reason <> 'new', ${quickRank}, min(lane, excluded.lane)),
  due_ms = min(due_ms, excluded.due_ms), rank = min(rank, excluded.rank),
  reason = CASE WHEN excluded.reason = 'route probe' THEN reason ELSE excluded.reason END,
  payload = coalesce(excluded.payload, payload), dirty_seq = max(dirty_seq, excluded.dirty_seq),
  attempts = 0, state = 'ready', error = NULL`;

/**
 * What is still to be read, one row per (resource, target), coalesced: ten events on one invoice are one read.
 *
 * Guarantee: items are added and removed in the transactions of the data they are about (I1). An item is removed only
 * by a read that was sent after its last reason (`dirty_seq`), so an event that arrives during the read of its record
 * causes another read (I4).
 * Source of truth: table `_work`; it is the only checkpoint. Leases are in memory only.
 * Worst outcome of a crash: what was leased is read again.
 */
export class WorkQueue extends Repository {
  readonly leased = new Map<number, WorkItem>();
  private readonly watchers = new Set<() => void>();
  private readonly order = new LeaseOrder(this.db);

  /** Adds an item, or a newer reason to the one that is queued. */
  add(item: NewWorkItem): void {
    if (item.payload === undefined && isUrgent(item) && this.isQueuedAlready(item)) return;
    this.execute(insertOrMerge, ...valuesOf(item));
    this.notify();
  }

  /** Adds an item unless its target is queued: that read answers this reason, too. True: it was added. */
  addIfAbsent(item: NewWorkItem): boolean {
    return this.execute(`${insert} DO NOTHING`, ...valuesOf(item)).changes > 0;
  }

  /** Adds the details of all live records of a resource, unless their reads are queued; ranked as `newestFirst` says. */
  addDetails(
    resource: string,
    { lane, reason, dirtySeq }: Pick<NewWorkItem, "lane" | "reason" | "dirtySeq">,
  ): void {
    const sql = `INSERT INTO _work (resource, target, kind, lane, due_ms, rank, reason, dirty_seq)
      SELECT ?, 'id:' || id, 'detail', ?, 0, -min(id, ${Number.MAX_SAFE_INTEGER}), ?, ? FROM ${quoted(resource)}
      WHERE _deleted_at IS NULL ON CONFLICT DO NOTHING`;
    this.execute(sql, resource, laneRank(lane), reason, dirtySeq);
  }

  /**
   * Is the very same item queued, due, and not leased? Its read will be sent after this reason, too, so nothing is
   * written: a burst of events about few records costs what the records cost.
   */
  private isQueuedAlready({ resource, target, lane, reason, kind }: NewWorkItem): boolean {
    const id = sameItem.value(this.db, { resource, target, lane: laneRank(lane), reason, kind });
    return id !== undefined && !this.leased.has(id);
  }

  /** Calls `watcher` when items may be due or free, added ones before their commit. Returns the end of it. */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private notify(): void {
    for (const watcher of this.watchers) watcher();
  }

  /** The next item of these resources that is due and not leased, in the order of `LeaseOrder`. */
  lease(nowMs: number, resources: readonly string[], share: LaneShare = "all"): WorkItem | null {
    const row = this.order.next({ nowMs, resources, share, leased: this.leased });
    if (!row) return null;
    const payload = row.payload === null ? undefined : parseStored(this.db, row.payload);
    const item = { ...row, lane: lanes[row.lane] as Lane, payload };
    this.leased.set(item.id, item);
    return item;
  }

  /** Ends a lease. The item, if it is still queued, may be leased by another worker: watchers are called. */
  release(item: WorkItem): void {
    this.unlease(item);
    this.notify();
  }

  /** Ends a lease without calling watchers: nothing was done with the item. */
  unlease(item: WorkItem): void {
    this.leased.delete(item.id);
  }

  /** When the next item that is not leased is due, epoch milliseconds, rechecks included; null: there is none. */
  nextDueMs(resources: readonly string[], share: LaneShare = "all"): number | null {
    const asked = { resources, leased: this.leased };
    const due = ranksOf[share].flatMap((rank) => this.order.firstDue(rank, asked)?.dueAtMs ?? []);
    return due.length === 0 ? null : Math.min(...due);
  }

  /** When the next item that failed is due again, epoch milliseconds; null: there is none. */
  nextRetryMs(resources: readonly string[], share: LaneShare = "all"): number | null {
    return nextRetry.value(this.db, { lanes: ranksOf[share], resources }) ?? null;
  }

  /** The read was answered; in the transaction that applies it. An item with a newer reason stays. */
  done(item: WorkItem, sentSeq: number): void {
    this.execute("DELETE FROM _work WHERE id = ? AND dirty_seq <= ?", item.id, sentSeq);
  }

  /** Reads of it overlapped, and one sent after them found the record gone: it is asked for to confirm that. */
  confirmOverlapped(resource: string, target: string, sentSeq: number): void {
    const sql = `UPDATE _work SET kind = 'confirm' WHERE resource = ? AND target = ? AND reason = 'overlapped' AND dirty_seq <= ?`;
    this.execute(sql, resource, target, sentSeq);
  }

  /** The read failed, and is tried again at `dueAtMs`. One with a newer reason is due at once (I4). */
  retry(item: WorkItem, error: string, dueAtMs: number): void {
    this.fail(item, error, "ready", dueAtMs);
  }

  /** The read failed and is given up: kept with the reason. One with a newer reason stays ready (I4). */
  deadLetter(item: WorkItem, error: string): void {
    this.fail(item, error, "dead", 0);
  }

  private fail(item: WorkItem, error: string, state: WorkState, dueAtMs: number): void {
    const sql = `UPDATE _work SET attempts = attempts + 1, due_ms = ?, state = ?, error = ? WHERE id = ? AND dirty_seq <= ?`;
    this.execute(sql, dueAtMs, state, error, item.id, item.dirtySeq);
  }

  /** Not now, for a reason that is not the item's own: no attempt is used up. It is served in no lane before `lane`. */
  postpone(item: WorkItem, why: string, dueAtMs: number, lane: Lane = item.lane): void {
    const sql = `UPDATE _work SET attempts = max(attempts, 1), due_ms = ?, error = ?, lane = max(lane, ?) WHERE id = ? AND dirty_seq <= ?`;
    this.execute(sql, dueAtMs, why, laneRank(lane), item.id, item.dirtySeq);
  }

  /** Items that were postponed for this reason are due now. */
  expedite(resource: string, why: string): void {
    updateRows(this.db, "_work", { due_ms: 0 }, { resource, state: "ready", error: why });
    this.notify();
  }

  /** Takes a resource's items of these lanes out of this run; `revive` brings them back. Returns their number. */
  hold(resource: string, why: string, share: LaneShare = "all", kind = allKinds): number {
    const held = { state: "held", error: why } as const;
    return updateRows(this.db, "_work", held, { resource, state: "ready", lane: ranksOf[share], kind });
  }

  /** The same for all but the pages of its list. */
  holdRecords(resource: string, why: string, share: LaneShare = "all"): number {
    return this.hold(resource, why, share, recordKinds);
  }

  /** The rest of a whole list that several runs read waits for the next of them. */
  holdWholeList(resource: string): void {
    this.holdTargets(resource, "page::", "the list is read over several runs");
  }

  /** Those of which the target begins so. */
  holdTargets(resource: string, prefix: string, why: string): void {
    const sql =
      "UPDATE _work SET state = 'held', error = ? WHERE resource = ? AND state = 'ready' AND instr(target, ?) = 1";
    this.execute(sql, why, resource, prefix);
  }

  /**
   * For a new run: dead letters, held items and, in its own lanes, those that wait for another attempt are ready
   * again. They leave the webhook lane, so that the run reads them. Returns their number.
   */
  revive(resources: readonly string[], share: LaneShare = "all"): number {
    const sql = `UPDATE _work SET state = 'ready', attempts = 0, due_ms = 0, error = NULL,
        lane = CASE lane WHEN ${laneRank("webhook")} THEN ${laneRank("changed")} ELSE lane END
      WHERE resource IN (SELECT value FROM json_each(?)) AND (state <> 'ready'
        OR (attempts > 0 AND lane IN (SELECT value FROM json_each(?))))`;
    return this.execute(sql, JSON.stringify(resources), JSON.stringify(ranksOf[share])).changes;
  }

  /** Removes items of the scrub that were not set aside. Returns their number; the pages of a parent's list are one. */
  withdrawScrub(): number {
    const sql = `DELETE FROM _work WHERE state <> 'dead' AND lane = ${laneRank("scrub")} AND reason = 'scrub'
      RETURNING resource || iif(kind = 'child', rtrim(target, '0123456789'), target)`;
    return new Set(this.selectColumn<string>(sql)).size;
  }

  /** Drops the lists of a quick run that was cut off: the next one begins them again, and reads the records it left. */
  dropQuickLists(): void {
    removeRows(this.db, "_work", { lane: quickRank, kind: "list" });
  }

  /** The same, and its records become those of other runs. */
  endQuick(): void {
    this.dropQuickLists();
    updateRows(this.db, "_work", { lane: laneRank("changed") }, { lane: quickRank });
  }

  /** A quick run could not answer it, and does not ask again. An event that came meanwhile stays in its lane. */
  leaveToWholeRuns({ id }: WorkItem): void {
    updateRows(this.db, "_work", { lane: laneRank("changed") }, { id, lane: quickRank });
  }

  remove(id: number): void {
    removeRows(this.db, "_work", { id });
  }

  drop(resource: string, targetPrefix: string): void {
    this.execute("DELETE FROM _work WHERE resource = ? AND instr(target, ?) = 1", resource, targetPrefix);
  }

  /** Is it queued, and in one of these states? @default to be read, and not given up */
  isQueued(resource: string, target: string, state: readonly WorkState[] = ["ready"]): boolean {
    return hasRow(this.db, "_work", { resource, target, state });
  }

  /** Is a target with this prefix still to be read, and not given up? */
  isAnyReady(resource: string, prefix: string): boolean {
    const sql = "SELECT 1 FROM _work WHERE resource = ? AND target BETWEEN ? AND ? AND state = 'ready'";
    return this.exists(sql, resource, prefix, `${prefix}\u{10ffff}`);
  }

  hasLists(resources: readonly string[]): boolean {
    return hasRow(this.db, "_work", { state: "ready", lane: laneRank("list"), resource: resources });
  }

  /** How many details and parents' lists of these resources were never read and wait. */
  countDetails(resources: readonly string[]): number {
    return countRows(this.db, "_work", { state: "ready", lane: laneRank("hydration"), resource: resources });
  }

  /** Do details of these resources wait that are missing, or of records known to have changed? */
  hasDetails(resources: readonly string[]): boolean {
    return hasRow(this.db, "_work", { state: "ready", lane: detailRanks, resource: resources });
  }

  /** How many of them a resource has in any state: those set aside are read again by the next run. */
  countWaiting(resource: string): number {
    return countRows(this.db, "_work", { resource, kind: recordKinds, lane: detailRanks });
  }

  /** Removes reads of records whose preview differed in these columns only: previews show them differently. */
  dropDiffering(resource: string, columns: ReadonlySet<string>): void {
    const differing = "json_each(payload, '$.listed.differing')";
    const sql = `DELETE FROM _work WHERE resource = ? AND kind = 'detail' AND reason = 'changed' AND lane IN (?, ?)
      AND EXISTS (SELECT 1 FROM ${differing})
      AND NOT EXISTS (SELECT 1 FROM ${differing} d WHERE d.value NOT IN (SELECT value FROM json_each(?)))`;
    this.execute(sql, resource, laneRank("changed"), laneRank("quick"), JSON.stringify([...columns]));
  }

  /** Live records to probe a route with. None whose parent was deleted; for one that no list shows, none like it. */
  routeProbes(records: Records, resource: string, except: RecordId | null): RecordId[] {
    const unqueued = `NOT EXISTS (SELECT 1 FROM _work WHERE resource = '${resource}' AND target = 'id:' || fence.id`;
    const unshown = "reason IN ('parent gone', 'no parent', 'absent')";
    const own = `SELECT 1 FROM _work WHERE resource = ? AND target = ? AND ${unshown}`;
    const doubted = this.exists(own, resource, `id:${except}`) ? unshown : "reason = 'parent gone'";
    const pick = (end: string) => records.spread(resource, except, unqueued + end);
    return [...new Set([...pick(")"), ...pick(` AND ${doubted})`)])];
  }

  /** Number of the newest reason to read; 0: the queue is empty. */
  newestReason(): number {
    return highest(this.db, "_work", "dirty_seq");
  }

  /**
   * Does the record's own read wait, a page of a list that may show it, or the read of any record that was known to have
   * changed when this one was looked at first (`reason`): it may lead to this one? What is due later, as a recheck, does not
   * count.
   */
  mayBeRead(resource: string, id: RecordId, reason: number, nowMs: number): boolean {
    const isReady = "SELECT 1 FROM _work WHERE state = 'ready' AND due_ms <= ?";
    const changed = [laneRank("webhook"), laneRank("changed"), reason];
    return (
      this.exists(`${isReady} AND resource = ? AND target = ?`, nowMs, resource, recordTarget(id)) ||
      this.exists(`${isReady} AND resource = ? AND kind IN ('list', 'child')`, nowMs, resource) ||
      this.exists(`${isReady} AND lane IN (?, ?) AND dirty_seq <= ?`, nowMs, ...changed)
    );
  }

  /** Why a target from `first` to `last` in the lane of lists, or put off, is not answered; null: all of them are. */
  whyUnanswered(resource: string, first: string, last = first): string | null {
    const sql = `SELECT coalesce(error, 'it was not answered') FROM _work
      WHERE resource = ? AND target BETWEEN ? AND ? AND (lane = ${laneRank("list")} OR error IS NOT NULL) LIMIT 1`;
    return this.selectColumn<string>(sql, resource, first, last)[0] ?? null;
  }

  /** The records of a resource whose own read is queued, in whatever state. */
  queuedRecords(resource: string): RecordId[] {
    const sql = "SELECT substr(target, 4) FROM _work WHERE resource = ? AND target BETWEEN 'id:' AND 'id;'";
    return this.selectColumn<string>(sql, resource).flatMap((text) => recordId(text) ?? []);
  }

  /** @param resources @default all, excluded ones too, whose items wait until they are mirrored again */
  counts(resources?: readonly string[]): QueueCount[] {
    const all = counts.all(this.db);
    return resources ? all.filter(({ resource }) => resources.includes(resource)) : all;
  }

  /** What was set aside, by resource, the oldest first: it waits for the next run, or an event that asks for it. */
  deadLetters(most = 1_000) {
    return deadLetters.all(this.db, { most }).map((row) => ({ ...row, id: idInTarget(row.target) }));
  }
}

type SameItem = Pick<OwnRow<"_work">, "resource" | "target" | "lane" | "reason" | "kind">;
const sameItem = statement((db, { resource, target, lane, reason, kind }: SameItem) => {
  const urgent = { resource, target, lane, reason, due_ms: 0, state: "ready", attempts: 0 } as const;
  const items = db
    .selectFrom("_work")
    .select("id")
    .where((w) => w.and(urgent));
  return items.where("kind", "in", [kind, "confirm"]).where("error", "is", null);
});
const nextRetry = statement((db, p: { lanes: readonly number[]; resources: readonly string[] }) => {
  const failed = db.selectFrom("_work").where("state", "=", "ready").where("attempts", ">", 0);
  const asked = failed.where("lane", "in", among(p.lanes)).where("resource", "in", among(p.resources));
  return asked.select(db.fn.min<number | null>("due_ms").as("due"));
});
const counts = statement((db) =>
  db.selectFrom("_work").select(["resource", "kind", "state", count]).groupBy(["resource", "kind", "state"]),
);
const deadLetters = statement((db, p: { most: number }) => {
  const dead = db.selectFrom("_work").where("state", "=", "dead").orderBy("resource").orderBy("id");
  return dead
    .select(["resource", "target", "error as reason", "attempts"])
    .limit(p.most)
    .$narrowType<{ reason: string }>();
});

function valuesOf(item: NewWorkItem) {
  const { resource, target, kind, lane, dueAtMs = 0, rank = 0, reason, payload, dirtySeq } = item;
  const json = payload === undefined ? null : JSON.stringify(payload);
  return [resource, target, kind, laneRank(lane), dueAtMs, rank, reason, json, dirtySeq];
}
