import { dayMs, isoTime, type Clock } from "../../base/clock.ts";
import { recordId, type RecordId, type RecordRef } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import { Changes } from "../../store/apply/change-log.ts";
import type { Db } from "../../store/database.ts";
import { onceFor } from "../../base/once-for.ts";
import type { Resource } from "../../connector/resource.ts";
import type { ServiceError } from "../../connector/service-errors.ts";
import { recordOf } from "../../extract/work-request.ts";
import type { BegunList } from "../../state/sweeps.ts";
import { recordTarget, childTarget, longestDelayMs } from "../../state/work-item.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import type {
  AnswerContext,
  ReadContext,
  RunContext,
  Removals,
  RouteProofs,
} from "../context/run-context.ts";
import { childrenOf, queueChildList, queueStaleList } from "../plan/list-reads.ts";
import { asksForDeletion, queueOverlapped, queueRecord } from "../plan/read-reasons.ts";
import { backoffMs, retries } from "../../retry/retry-limits.ts";

type DeletionVerdict =
  | { readonly kind: "deleted" }
  /** The route itself is in doubt: first read one of these records, which should exist; without any, the list. */
  | { readonly kind: "probe"; readonly candidates: readonly RecordId[] }
  | { readonly kind: "unproven"; readonly why: string };

/** Laravel's message for a missing record, as the service sends it; a missing route has another one. */
const missingRecord = "No query results for model";

/**
 * What a 404 on a record's own route proves (I5), by what this run knows of the route and of other records: those that
 * its list showed last, else live ones of the mirror. A record that a complete list of this run did not show is no
 * candidate.
 *
 * A 404 counts when the route answered 200 recently. Where no other record is left to probe with, the service's message
 * for a missing record counts, its message for a missing route does not; but only where something else says so, too:
 * the whole route may answer like this.
 */
export function deletionVerdict(
  { run, resource, item }: AnswerContext,
  { serviceMessage: message }: ServiceError,
): DeletionVerdict {
  const { name } = resource;
  const id = recordOf(item);
  // The answer was not the service's JSON.
  if (message === null)
    return { kind: "unproven", why: "the 404 has no JSON message, so it may not be from the service" };
  if (run.provenRoutes.has(name)) return { kind: "deleted" };
  const candidates = run.probeCandidates.get(name) ?? run.queue.routeProbes(run.mirror.records, name, id);
  const others = candidates.filter((candidate) => candidate !== id);
  if (others.length > 0) return { kind: "probe", candidates: others };
  if (candidates.includes(id)) return { kind: "unproven", why: "the list of the same run shows the record" };
  if (!message.startsWith(missingRecord))
    return { kind: "unproven", why: `the 404 may concern the route, not the record ("${message}")` };
  // Reads overlapped: one of them showed the record.
  const isUnknown = item.reason !== "overlapped" && !isHeld(run, resource, id);
  const isSuspected = asksForDeletion(item) || run.probeCandidates.has(name) || isUnknown;
  // Its list, read again, shows it or makes it suspected.
  return isSuspected ? { kind: "deleted" } : { kind: "probe", candidates: [] };
}

/** Would anything go with it? A record that the mirror never had may own some that it has. */
function isHeld(run: RunContext, resource: Resource, id: RecordId): boolean {
  const { records, declaration } = run.mirror;
  const owns = (other: Resource) => ownedBy(run, other, resource, id).length > 0;
  return records.isLive(resource.name, id) || declaration.resources.some(owns);
}

/**
 * Applies a proven deletion, inside the apply transaction: writes a tombstone, removes what the record owned
 * and queues what pointed to it. Also for a record that the mirror never had: others may point to it.
 *
 * @returns false when an overlapping read says otherwise, so that the record must be read again (I3)
 */
export function removeRecord(read: ReadContext, resource: Resource, id: RecordId): boolean {
  const { run, stamp } = read;
  const { mirror } = run;
  const removal = mirror.table(resource.name).remove(stamp, id);
  if (removal === "stale") return false;
  if (removal === "removed") {
    run.tally.of(resource.name).deleted += 1;
    run.queue.confirmOverlapped(resource.name, recordTarget(id), stamp.sentSeq);
    listAgainWithout(run, resource, id);
  }
  for (const owned of mirror.declaration.resources) {
    removeOrReread(read, owned, ownedBy(run, owned, resource, id));
    mirror.quarantine.releaseWithoutId(owned.name, new Set(), ownerKey({ resource: resource.name, id }));
  }
  for (const { resource: referred, dependent, column } of mirror.declaration.cascades) {
    const referring =
      referred === resource.name ? mirror.records.liveIdsWhere(dependent, { [column]: id }) : [];
    for (const one of referring) queueRecord(read, "cascade", { resource: dependent, id: one });
  }
  releaseChildren(read, { resource: resource.name, id }, "parent gone");
  return true;
}

export function removeOrReread(read: ReadContext, resource: Resource, ids: readonly RecordId[]): void {
  for (const id of ids) if (!removeRecord(read, resource, id)) queueOverlapped(read, resource, id);
}

/** Live records of `owned` that belong to this record: the payments of a document. */
export function ownedBy(run: RunContext, owned: Resource, owner: Resource, id: RecordId): RecordId[] {
  const columns = ownerColumns(owned, owner, id);
  return columns ? run.mirror.records.liveIdsWhere(owned.name, columns) : [];
}

/** What the keys of records without an id that come with this one begin with in quarantine. */
export function ownerKey({ resource, id }: RecordRef): string {
  return `${resource} ${id} `;
}

/** The columns by which a record of `owned` names its owner; null where records of `owner` own none. */
export function ownerColumns({ list }: Resource, owner: Resource, id: RecordId) {
  const links = list.kind === "owned" ? list.by : [];
  const link = links.find(({ resource }) => resource === owner.name);
  return link ? { [snakeCase(link.typeField)]: link.type, [snakeCase(link.idField)]: id } : null;
}

/** The list of this parent cannot be read: its records are checked one by one. */
export function releaseChildren(
  read: ReadContext,
  parent: RecordRef,
  reason: "parent gone" | "child list refused",
): void {
  const { queue, mirror, listings } = read.run;
  for (const { resource, link } of childrenOf(read.run, parent.resource)) {
    queue.drop(resource.name, `child:${parent.resource}:${parent.id}:`);
    listings.close(resource.name, `${parent.resource}:${parent.id}`);
    for (const child of mirror.records.liveIdsWhere(resource.name, { [snakeCase(link.field)]: parent.id }))
      queueRecord(read, reason, { resource: resource.name, id: child });
  }
}

const mostProbes = 3;
/** After all probes of a trial answered 404, the next trial begins this much later. */
const trialForMs = 10 * 60_000;
/** How long a 200 proves its route to others than the run that read it. */
const provenForMs = 10 * 60_000;
/** Stored in `_work.error` of the items that wait. */
const waiting = "waiting for proof of the route";

/**
 * Postpones the work item until a route probe has answered, one probe at a time per resource. Runs inside the
 * apply transaction.
 *
 * @param candidates records that should exist
 * @returns null while a probe is queued, else why the deletion stays unproven
 */
export function probeRoute(answer: AnswerContext, candidates: readonly RecordId[]): string | null {
  const { run, resource, item } = answer;
  const { queue, clock } = run;
  const { asked, spread, sinceMs } = trialOf(run, resource, candidates);
  const current = asked.at(-1);
  const isOther = current !== undefined && recordTarget(current) !== item.target;
  if (!isOther || !queue.isQueued(resource.name, recordTarget(current))) {
    const others = [...spread, ...candidates].filter(
      (candidate) => !asked.includes(candidate) && recordTarget(candidate) !== item.target,
    );
    // A record that is queued anyway may be read by another worker, whose proof this run does not see.
    const next = others.find((one) => !queue.isQueued(resource.name, recordTarget(one))) ?? others[0];
    if (next === undefined || asked.length >= mostProbes) {
      if (!parentListsAgain(answer, asked) && !listAgain(run, resource))
        return asked.length > 0
          ? `GET ${resource.detail} returned 404 also for records that exist, so 404 proves nothing`
          : "nothing but a 404 says that the record is gone, and no other one proves the route";
      // Behind the list: many items that wait would use up the budget before it.
      queue.postpone(item, waiting, clock.nowMs() + longestDelayMs, "changed");
      return null;
    }
    asked.push(next);
    // Before the others of its lane: each of them that is asked first is asked twice.
    queueRecord(answer, "route probe", { resource: resource.name, id: next }, { rank: -1 });
  }
  // Until the proof, or for as long again as the trial lasts.
  const forMs = Math.max(
    backoffMs(item.attempts + 1, retries.read),
    Math.round(clock.monotonicMs() - sinceMs),
  );
  queue.postpone(item, waiting, clock.nowMs() + Math.min(forMs, longestDelayMs));
  return null;
}

/**
 * The records that should exist are from lists of parents that an earlier run read: they may be gone, too. The lists of
 * their parents, and of this record's, are read again, each once per run.
 *
 * @returns whether one is being read
 */
function parentListsAgain({ run, resource, item }: AnswerContext, asked: readonly RecordId[]): boolean {
  const { queue, listedAgain, mirror, runId } = run;
  const { name, list } = resource;
  if (list.kind !== "parents" || runId === null) return false;
  for (const { resource: parent, field } of list.parents) {
    const ids = [recordOf(item), ...asked].flatMap((id) =>
      mirror.records
        .texts(name, id, [snakeCase(field)])
        .flatMap((text) => (text === null ? null : recordId(text)) ?? []),
    );
    for (const id of ids) {
      const key = `${name} ${childTarget(parent, id, 1)}`;
      if (listedAgain.has(key) || !mirror.records.isLive(parent, id)) continue;
      listedAgain.add(key);
      queueChildList(run, resource, { resource: parent, id });
    }
  }
  return queue.isAnyReady(name, "child:");
}

/**
 * The records that should exist are from a list of an earlier run, or of long ago: they may be gone, too. Then the list
 * is read again, once per run. Items that wait are due when a list is complete.
 *
 * @returns whether a list is being read
 */
function listAgain(run: RunContext, { name }: Resource): boolean {
  const nowMs = run.clock.nowMs();
  const lists = [...run.begunLists.values()].filter(({ resource }) => resource === name);
  const isOpen = ({ resource, variant }: BegunList) => run.queue.isAnyReady(resource, `page:${variant}:`);
  if (lists.some(isOpen)) return true;
  const old = lists.filter(({ begunMs }) => begunMs < run.startedAtMs || nowMs - begunMs > trialForMs);
  if (old.length === 0 || run.listedAgain.has(name)) return false;
  run.listedAgain.add(name);
  run.log.info(`${name}: records that should exist are gone. Reading the list again.`);
  for (const list of old) queueStaleList(run, list, nowMs);
  return true;
}

/**
 * A record is gone that only an earlier reading of its list showed: another may stand in its place, and no reading showed
 * that one. The list is read again, once per run.
 */
function listAgainWithout(run: RunContext, { name }: Resource, id: RecordId): void {
  const list = [...run.joinedLists.values()].find(
    ({ resource, earlier }) => resource === name && earlier.has(id),
  );
  if (!list || run.listedAgain.has(name)) return;
  run.listedAgain.add(name);
  queueStaleList(run, list, run.clock.nowMs());
}

/** A list of this run shows which records exist: items that wait for proof are due, and other probes are tried. */
export function listComplete(run: RunContext, resource: Resource, shown: readonly RecordId[]): void {
  run.probeCandidates.set(resource.name, shown.slice(-mostProbes));
  endTrial(run, resource);
}

/** As `listComplete`, for one of many lists: where it is empty, the last one ends the trial and its waiting. */
export function childListComplete(run: RunContext, resource: Resource, shown: readonly RecordId[]): void {
  if (shown.length > 0) return listComplete(run, resource, shown);
  if (!run.queue.isAnyReady(resource.name, "child:")) endTrial(run, resource);
}

/** Records that the route answered 200: from now on its 404s count, and items that waited for this are due. */
export function markRouteProven(run: RunContext, resource: Resource): void {
  run.provenRoutes.add(resource.name);
  endTrial(run, resource);
}

function endTrial({ probeTrials, queue }: RunContext, { name }: Resource): void {
  if (probeTrials.delete(name)) queue.expedite(name, waiting);
}

function trialOf({ probeTrials, clock }: RunContext, { name }: Resource, spread: readonly RecordId[]) {
  const nowMs = clock.monotonicMs();
  const known = probeTrials.get(name);
  if (known && nowMs - known.sinceMs <= trialForMs) return known;
  const trial = { asked: [] as RecordId[], spread, sinceMs: nowMs };
  probeTrials.set(name, trial);
  return trial;
}

const provenTimes = onceFor((_queue: WorkQueue) => new Map<string, number>());

/**
 * Route proofs of all who work on one queue: a run's probe may be read by the event worker. They expire after 10
 * minutes: a route that worked yesterday may be broken today (I5).
 *
 * @param own those of one run, valid until it ends; null: of nobody alone
 */
export function routeProofs(
  queue: WorkQueue,
  clock: Clock,
  own: Set<string> | null = new Set(),
): RouteProofs {
  const provenAtMs = provenTimes(queue);
  const isFresh = (atMs = -Infinity) => clock.monotonicMs() - atMs <= provenForMs;
  return {
    has: (resource) => own?.has(resource) || isFresh(provenAtMs.get(resource)),
    add: (resource) => {
      own?.add(resource);
      provenAtMs.set(resource, clock.monotonicMs());
    },
  };
}

/** Records of a resource that one run may remove without `--allow-mass-delete` (I5). */
export function massDeleteLimit(liveRecords: number): number {
  return Math.max(20, Math.floor(liveRecords * 0.05));
}

export function runRemovals(): Removals {
  const counts = new Map<string, number>();
  return {
    span: "in one run",
    count: (resource) => counts.get(resource) ?? 0,
    add: (resource, more) => void counts.set(resource, (counts.get(resource) ?? 0) + more),
  };
}

/**
 * Counts the removals of the last 24 hours, for the event worker. Those before a restart are taken from the
 * change log: a process that dies and starts again gets no second allowance.
 */
export function dailyRemovals(db: Db, clock: Clock): Removals {
  const since = isoTime(clock.nowMs() - dayMs);
  const inLog = new Changes(db).deletionsSince(since, "webhook");
  let removals = inLog.map(({ resource, at }) => ({ resource, atMs: Date.parse(at) }));
  return {
    span: "within a day",
    count: (resource) => {
      const sinceMs = clock.nowMs() - dayMs;
      removals = removals.filter(({ atMs }) => atMs > sinceMs);
      return removals.filter((one) => one.resource === resource).length;
    },
    add: (resource, more) => {
      const atMs = clock.nowMs();
      removals.push(...Array.from({ length: more }, () => ({ resource, atMs })));
    },
  };
}

/** May this run remove `more` records of the resource (I5)? Counts them if so. */
export function mayRemove(run: RunContext, resource: string, more: number): boolean {
  const count = run.removals.count(resource) + more;
  const limit = massDeleteLimit(run.mirror.records.counts(resource).live);
  if (count > limit && !run.allowMassDelete) return false;
  run.removals.add(resource, more);
  return true;
}

/** Reports that `count` records were kept because removing them needs permission. */
export function holdMassDelete(run: RunContext, resource: string, count: number): void {
  const live = run.mirror.records.counts(resource).live;
  const message =
    `Kept ${count} of ${live} records that seem to be deleted: ` +
    `removing more than ${massDeleteLimit(live)} ${run.removals.span} needs permission.`;
  const hint =
    "If they were deleted on purpose, run `fintoro-mirror sync --allow-mass-delete`; it checks each of them first.";
  run.tally.trouble({ resource, kind: "held", message, hint });
  if (run.runId === null) run.afterCommit.push(() => run.log.warn(`${resource}: ${message}`, { hint }));
}
