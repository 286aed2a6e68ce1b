import { dayMs, elapsedSince, hourMs, isoTime } from "../../base/clock.ts";
import { sourcesOf, type Resource } from "../../connector/resource.ts";
import { Listings } from "../../state/listings.ts";
import { Meta } from "../../state/meta.ts";
import { Runs, type RunRow } from "../../state/runs.ts";
import { pageTarget } from "../../state/work-item.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import { sweepKey, variantsOf, changesOf, changesVariant, newestListed } from "../../state/sweeps.ts";
import type { BegunList, ListRef } from "../../state/sweeps.ts";
import type { Db } from "../../store/database.ts";
import { Records } from "../../store/tables/stored-records.ts";
import type { RunContext, WholeListSettings } from "../context/run-context.ts";
import { childList, queueSweep } from "./list-reads.ts";
import { queueOwners, queueQuarantined } from "./read-reasons.ts";
import { withdrawScrub } from "./scrub.ts";

/** The run before this one, if it was interrupted: when each list was begun that it read whole. */
type Unfinished = Pick<RunRow, "id" | "swept">;

interface PlannedList extends ListRef {
  /** Pages of it wait in the queue: when its reading began, epoch ms; null: none do. */
  readonly openSinceMs: number | null;
  /** Do several runs read it, whether they end early or not? @default false */
  readonly inParts?: boolean;
}

/**
 * Queues what a run begins with: lists and parents' lists; dead letters and quarantined details are tried again. What a run that was killed
 * left of its scrub is taken back: this run plans its own. Runs inside the transaction that writes the run's row.
 */
export function addInitialWork(run: RunContext, unfinished: Unfinished | null): void {
  const { queue, listings, resources } = run;
  withdrawScrub(queue, run.mirror.meta);
  queue.endQuick();
  queue.revive(run.names, run.share);
  queueQuarantined(run);
  queueOwners(run);
  const plan = planSweeps(listsOfRun(run), unfinished, run.startedAtMs);
  for (const { resource, variant } of plan.abandoned) {
    queue.drop(resource, `page:${variant}:`);
    listings.close(resource, variant);
  }
  for (const list of plan.trusted) noteBegun(run, list);
  beginLists(run, plan.begin);
  for (const [name, pages] of run.wholePages) if (pages === 0) queue.holdWholeList(name);
  for (const resource of resources) addParents(run, resource, unfinished !== null);
}

/** A list of which pages are queued is open: all of them are ready now. One whose first page was not read yet begins now. */
function listsOfRun(run: RunContext) {
  const { queue, listings, resources, startedAtMs, wholePages } = run;
  const listsOf = chooseLists(run);
  return resources.flatMap((one) =>
    listsOf(one).map((variant) => {
      const { name: resource } = one;
      const isOpen = queue.isAnyReady(resource, `page:${variant}:`);
      const startedAt = listings.find(resource, variant)?.startedAt;
      const sinceMs = startedAt === undefined ? startedAtMs : Date.parse(startedAt);
      const inParts = variant === "" && wholePages.has(resource);
      return { resource, variant, openSinceMs: isOpen ? sinceMs : null, inParts };
    }),
  );
}

/**
 * Begins the lists that grew old while the run reads other things, however much else is waiting. Between reads, in
 * a transaction of its own. One that is still being read is left to its end.
 *
 * @returns whether there is more to read
 */
export function refreshLists(run: RunContext): boolean {
  const { clock, queue, begunLists, mirror } = run;
  const nowMs = clock.nowMs();
  const due = [...begunLists.values()]
    .filter((list) => isDue(list, nowMs))
    .filter(({ resource, variant }) => !queue.isAnyReady(resource, `page:${variant}:`))
    .map((list) => ({ ...list, begunMs: nowMs }));
  if (due.length === 0) return false;
  mirror.apply(() => beginLists(run, due));
  const names = due.map(({ resource }) => resource).join(", ");
  run.log.info(`Reading lists again that grew old during this run: ${names}`);
  return true;
}

/** A list that was read whole before takes turns with details that wait; one that never was comes before them. */
function beginLists(run: RunContext, lists: readonly BegunList[]): void {
  const { queue, runs, names } = run;
  const detailsWait = queue.hasDetails(names);
  const swept = runs.sweptTimes();
  for (const list of lists) {
    noteBegun(run, list);
    queueSweep(run, list, detailsWait && swept.has(sweepKey(list.resource, list.variant)));
  }
}

/** A list that is read over several runs is read again when its plan says so, not when its reading is old. */
function noteBegun({ begunLists, wholePages }: RunContext, list: BegunList): void {
  if (list.variant === "" && wholePages.has(list.resource)) return;
  begunLists.set(sweepKey(list.resource, list.variant), list);
}

/**
 * Parents that the mirror knows and whose lists this run reads, beside those that the scrub chooses. What the runs that it
 * continues read or left in the queue is of the same share.
 */
function addParents(run: RunContext, child: Resource, isResumed: boolean): void {
  if (child.list.kind !== "parents") return;
  const { parents, parentReads } = run;
  const { beforeRun, left } = parentReads;
  const names = sourcesOf(child);
  const taken = isResumed ? parents.countListed(child.name, beforeRun) + parents.countQueued(child.name) : 0;
  const due = parents.stalest(child.name, names, Math.max(0, left - taken), beforeRun);
  parentReads.left = left - taken - due.length;
  for (const parent of due) run.queue.addIfAbsent(childList(run, child.name, parent));
}

/** Requests that the lists of a resource with so many records take. Pure. */
export function listRequests(resource: Resource, records: number): number {
  const { list } = resource;
  if (list.kind === "single") return 1;
  if (list.kind === "walked") return Math.max(Math.min(records, 1), Math.floor(records / list.pageSize)) + 1;
  return list.kind === "paged" ? Math.max(1, Math.ceil(records / list.perPage)) : variantsOf(resource).length;
}

/**
 * Which lists a run begins with. Pure.
 *
 * A run that follows an interrupted one repeats none of its complete lists until they are due, and continues its
 * open ones however long ago they began: with a budget too small for a list in one night, the list would else never
 * come to its end. Those that took so long are due as soon as they are complete.
 *
 * @returns `begin`: lists to read from their first page; `abandoned`: those of them that are open, to be dropped
 *   first; `trusted`: all others
 */
export function planSweeps(lists: readonly PlannedList[], unfinished: Unfinished | null, nowMs: number) {
  const begin: BegunList[] = [];
  const abandoned: ListRef[] = [];
  const trusted: BegunList[] = [];
  for (const { resource, variant, openSinceMs, inParts } of lists) {
    const swept = unfinished?.swept[sweepKey(resource, variant)];
    const begunMs = openSinceMs ?? (swept === undefined ? nowMs : Date.parse(swept));
    const list = { resource, variant, begunMs };
    const isFresh = swept !== undefined && !isDue(list, nowMs);
    const isTrusted = (unfinished !== null || inParts) && (openSinceMs !== null || isFresh);
    if (isTrusted) trusted.push(list);
    else begin.push({ ...list, begunMs: nowMs });
    if (!isTrusted && openSinceMs !== null) abandoned.push(list);
  }
  return { begin, abandoned, trusted };
}

/** Resources of which a run that continues the unfinished one reads no list: all were read, and none is due. Pure. */
export function listsRead(resources: readonly Resource[], unfinished: Unfinished | null, nowMs: number) {
  const lists = resources.flatMap((one) =>
    variantsOf(one).map((variant) => ({ resource: one.name, variant, openSinceMs: null })),
  );
  const { begin, trusted } = planSweeps(lists, unfinished, nowMs);
  const unread = new Set(begin.map(({ resource }) => resource));
  return new Set(trusted.map(({ resource }) => resource).filter((name) => !unread.has(name)));
}

function isDue({ begunMs }: BegunList, nowMs: number): boolean {
  return elapsedSince(begunMs, nowMs) >= listAgeMs;
}

/** A list is read again, whatever else is waiting, when its last reading began longer ago than this. */
export const listAgeMs = 20 * hourMs;

interface WholeListFacts {
  readonly name: string;
  /** When its last whole reading began, epoch ms; 0: before the mirror was restored; null: it was never read whole. */
  readonly readAtMs: number | null;
  readonly requests: number;
  /** Does its first page wait? A run was ended before it, or deletions that it showed are held. */
  readonly waits: boolean;
  /** A reading that earlier runs began, with its pages so far; null: there is none. */
  readonly open: { readonly begunMs: number; readonly pages: number } | null;
}

/**
 * Which whole lists a run reads, because they show deletions and what changed without a new time stamp, and how many pages
 * of each. Those never read always, then the stalest that are due, while the requests suffice: one that is left out comes
 * first the next time. One that is larger than all of them is read over several days, so many pages a day. Pure.
 */
export function planWholeLists(
  lists: readonly WholeListFacts[],
  { everyMs, mostRequests, pagesPerDay }: WholeListSettings,
  nowMs: number,
): ReadonlyMap<string, number> {
  const chosen = new Map<string, number>();
  const most = mostRequests ?? Infinity;
  let left = most;
  const readMs = (list: WholeListFacts) => list.readAtMs ?? -Infinity;
  const stalest = lists.toSorted((a, b) => readMs(a) - readMs(b));
  for (const { name, readAtMs, requests, waits, open } of stalest) {
    // One read in the future was read before the clock was set back.
    const isWanted =
      readAtMs === null || waits || open !== null || nowMs - readAtMs >= everyMs || readAtMs > nowMs;
    const missing = Math.max(1, requests - (open?.pages ?? 0));
    const isWhole = readAtMs === null || missing <= left;
    if (!isWanted || (!isWhole && open === null && (missing <= most || left < 1))) continue;
    const days = Math.max(1, 1 + Math.floor((nowMs - (open?.begunMs ?? nowMs)) / dayMs));
    const part = Math.max(0, Math.min(left, days * pagesPerDay - (open?.pages ?? 0)));
    chosen.set(name, isWhole ? Infinity : part);
    left -= isWhole ? missing : part;
  }
  return chosen;
}

/** What the mirror knows of the whole list of each resource that has a list of changes. */
export function wholeListFacts(db: Db, resources: readonly Resource[]): WholeListFacts[] {
  const followed = resources.filter((resource) => changesOf(resource) !== null);
  // All runs are read for these.
  if (followed.length === 0) return [];
  const [meta, records, listings, runs] = [new Meta(db), new Records(db), new Listings(db), new Runs(db)];
  const queue = new WorkQueue(db);
  const [swept, sinceRestore] = [runs.sweptTimes(), runs.sweptTimes(true)];
  return followed.map((resource) => {
    const { name } = resource;
    // Without a time stamp to begin from there is no list of changes.
    const isRead = swept.has(name) && newestListed(meta, name) !== null;
    const readAtMs = isRead ? Date.parse(sinceRestore.get(name) ?? isoTime(0)) : null;
    const requests = listRequests(resource, records.counts(name).live);
    const listing = readAtMs === null ? null : listings.find(name, "");
    const open = listing && { begunMs: Date.parse(listing.startedAt), pages: listing.pages - 1 };
    const waits = queue.isQueued(name, pageTarget("", 1), ["ready", "held"]);
    return { name, readAtMs, requests, waits, open };
  });
}

/**
 * By resource, the lists that this run reads: `variantsOf`, or the list of changes. Both where the whole list is read over
 * several runs: `run.wholePages` then says how many of its pages.
 */
export function chooseLists(run: RunContext): (resource: Resource) => readonly string[] {
  const { mirror, resources, wholeLists: settings, full, queue, startedAtMs } = run;
  const all = wholeListFacts(mirror.db, resources);
  const whole = planWholeLists(all, settings ?? everyRun, startedAtMs);
  warnOfOverdue(run, all, whole);
  const isOpen = (name: string, variant: string) => queue.isAnyReady(name, `page:${variant}:`);
  for (const { name, waits, open } of all) {
    const pages = whole.get(name) ?? (waits ? 0 : Infinity);
    const isInParts = settings && !full && (pages < Infinity || (open !== null && isOpen(name, "")));
    if (isInParts) run.wholePages.set(name, pages);
  }
  return (resource) => {
    const { name } = resource;
    if (changesOf(resource) === null || full) return variantsOf(resource);
    if (run.wholePages.has(name)) return [changesVariant, ...variantsOf(resource)];
    if (isOpen(name, "")) return variantsOf(resource);
    return isOpen(name, changesVariant) || !whole.has(name) ? [changesVariant] : variantsOf(resource);
  };
}

/** A whole list that was due twice over is missed because the month's calls do not suffice for it. */
function warnOfOverdue(
  { log, wholeLists, startedAtMs }: RunContext,
  lists: readonly WholeListFacts[],
  chosen: ReadonlyMap<string, number>,
): void {
  const everyMs = wholeLists?.everyMs ?? Infinity;
  for (const { name, requests, readAtMs } of lists) {
    const pages = chosen.get(name) ?? 0;
    if (readAtMs === null || pages === Infinity || startedAtMs - readAtMs < 2 * everyMs) continue;
    const why = `${name}: the whole list is overdue, and deletions are seen late: the month's calls do not suffice`;
    log.warn(why, { requests, in_this_run: pages });
  }
}

const everyRun: WholeListSettings = { everyMs: 0, mostRequests: null, pagesPerDay: 0 };
