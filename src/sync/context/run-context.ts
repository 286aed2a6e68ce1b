import type { Clock } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Transport } from "../../connector/transport.ts";
import type { ListForm } from "../../extract/work-request.ts";
import { Inbox } from "../../state/inbox/inbox.ts";
import type { LaneShare } from "../../state/lease-order.ts";
import { Listings } from "../../state/listings.ts";
import type { Mirror } from "../../state/mirror.ts";
import { Parents } from "../../state/parents.ts";
import { Runs } from "../../state/runs.ts";
import type { BegunList, ListRef } from "../../state/sweeps.ts";
import type { WorkItem } from "../../state/work-item.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import { retryInTurn, onNextTurn, retryWhileBusy } from "../../store/transient-errors.ts";
import type { Tally } from "./tally.ts";

/** Counts removed records per resource, for the guard against mass deletions. */
export interface Removals {
  readonly span: string;
  count(resource: string): number;
  add(resource: string, more: number): void;
}

/** Detail routes that answered 200 recently: only on those a 404 proves a deletion (I5). */
export interface RouteProofs {
  has(resource: string): boolean;
  add(resource: string): void;
}

/** The records read so far to find out whether a route works. */
interface ProbeTrial {
  readonly asked: RecordId[];
  /** The candidates of its first probe: each is far from the one before, because neighbours go together. */
  readonly spread: readonly RecordId[];
  /** By the clock that is never set. */
  readonly sinceMs: number;
}

interface MirrorParts {
  readonly mirror: Mirror;
  /** Shared by all who work on the mirror in this process, because leases are kept in it. */
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly tally: Tally;
}

export interface WorkerParts extends MirrorParts {
  readonly transport: Transport;
  readonly random: Random;
  readonly token: string;
}

export interface RunParts extends WorkerParts {
  /** Returns how many answers were 429 so far. */
  readonly rateLimited: () => number;
}

/** Which parents' lists a run reads, beside those that the scrub chooses. */
interface ParentReads {
  /** Those never read, and those last read before this run; 0: only those never read. */
  readonly beforeRun: number;
  left: number;
}

/** When whole lists are read of resources whose lists can show what changed. */
export interface WholeListSettings {
  /** This long after the whole list was read last. */
  readonly everyMs: number;
  /** All of them together in one run, unless a list was never read whole; null: no limit. */
  readonly mostRequests: number | null;
  /** A list that takes more than these is read over several days, so many pages a day. */
  readonly pagesPerDay: number;
}

/** What a run may have besides; as it is here for the event worker, which reads what is in the lane of events. */
const noRun = {
  /** Row in `_runs`; null for the event worker, which reads no lists. */
  runId: null as number | null,
  share: "events" as LaneShare,
  full: false,
  allowMassDelete: false,
  /** When the first of the runs began that this one continues, epoch ms. */
  chainStartedMs: 0,
  /** Null: every run reads them. */
  wholeLists: null as WholeListSettings | null,
  /** Its number in the mirror's sequence when it began; null: it continues another one. */
  firstSeq: null as number | null,
};

interface RunSettings extends Partial<typeof noRun> {
  readonly resources: readonly Resource[];
  /** Those of the config beside these: what changes with a record is read by a later run where this one reads others. */
  readonly mirrored?: readonly Resource[];
  readonly provenRoutes: RouteProofs;
  readonly signal: AbortSignal;
  /** Records removed, or found absent and asked for. */
  readonly removals: Removals;
  /** @default now */
  readonly startedAtMs?: number;
  /** @default none */
  readonly parentReads?: ParentReads;
}

/** What every part of one run shares. The event worker is a run without an end. */
export type RunContext = ReturnType<typeof createRunContext>;

export interface ReadContext {
  readonly run: RunContext;
  readonly stamp: ReadStamp;
}

/** One answer on its way into the mirror: the work item it belongs to, in its run. */
export interface AnswerContext extends ReadContext {
  readonly resource: Resource;
  readonly item: WorkItem;
}

/** The stamp of an answer that is received now. */
export function stampOf(
  { mirror, clock, runId: run }: RunContext,
  read: Pick<ReadStamp, "cause" | "sentSeq" | "requestId">,
): ReadStamp {
  return { ...read, receivedSeq: mirror.sequence.next(), receivedAtMs: clock.nowMs(), run };
}

/** Builds the context of a run, or of the event worker. */
export function createRunContext(
  { mirror, queue, clock, log, tally }: MirrorParts,
  { startedAtMs = clock.nowMs(), parentReads = { beforeRun: 0, left: 0 }, ...settings }: RunSettings,
) {
  const { db } = mirror;
  const { resources, mirrored = [] } = settings;
  // Fixes the order in which resources are reported.
  for (const { name } of resources) tally.of(name);
  return {
    ...noRun,
    ...settings,
    startedAtMs,
    parentReads,
    mirror,
    queue,
    clock,
    log,
    tally,
    listings: new Listings(db),
    parents: new Parents(db),
    runs: new Runs(db),
    inbox: new Inbox(db),
    selected: new Map(resources.map((resource) => [resource.name, resource])),
    mirrored: new Map([...mirrored, ...resources].map((resource) => [resource.name, resource])),
    names: resources.map(({ name }) => name),
    /** By resource: the last records of the list this run read, the first choice for a route probe. */
    probeCandidates: new Map<string, RecordId[]>(),
    probeTrials: new Map<string, ProbeTrial>(),
    /** By resource: what the lists of open records showed in a quick run, and how many are not read to their end. */
    openRecords: new Map<string, { readonly shown: Set<RecordId>; unread: number }>(),
    /** By resource: its lists that did not lead on in this run. */
    deadEnds: new Map<string, number>(),
    /** By resource: how its lists are asked for since the service refused the connector's way in this run. */
    listForms: new Map<string, { readonly form: ListForm; readonly sinceSeq: number }>(),
    /** By resource: quarantine keys of the records without an id that this run met. */
    withoutId: new Map<string, Set<string>>(),
    setAside: new SetAsideItems(),
    /** By `sweepKey`: the lists of this run and of those it continues, with the begin of their last reading. */
    begunLists: new Map<string, BegunList>(),
    /** By resource: how many pages more of its whole list this run reads, where several runs read it. */
    wholePages: new Map<string, number>(),
    /** By `sweepKey`: lists that several readings completed together, with what only the earlier ones showed. */
    joinedLists: new Map<string, ListRef & { readonly earlier: ReadonlySet<RecordId> }>(),
    /** Resources and parents whose list was read again because records it had shown are gone. */
    listedAgain: new Set<string>(),
    afterCommit: [] as (() => void)[],
    /** Answers that wait for the transaction at the end of this turn of the event loop. */
    answers: [] as WaitingAnswer[],
  };
}

interface WaitingAnswer {
  readonly step: () => void;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Runs one apply transaction, or a part of the one around it that rolls back alone. If it rolls back, what it counted
 * and wanted to log is dropped as well.
 */
export function applyCounted(run: RunContext, step: () => void): void {
  const restore = run.tally.snapshot();
  const callbacks = run.afterCommit.length;
  try {
    run.mirror.apply(step);
  } catch (error) {
    restore();
    run.afterCommit.length = callbacks;
    throw error;
  }
  if (run.mirror.db.inTransaction) return;
  for (const callback of run.afterCommit.splice(0)) callback();
}

/** As `applyCounted`; waits while another program holds the mirror. */
export function applyWhenFree(run: RunContext, step: () => void): Promise<void> {
  return retryInTurn(run.mirror.db, () => applyCounted(run, step), run);
}

/** The run's row in `_runs`. Throws in the event worker, which reads no lists. */
export function requireRunId(run: RunContext): number {
  if (run.runId === null) throw new Error("broken promise: lists are read by runs only");
  return run.runId;
}

/**
 * Applies answers that came in the same turn of the event loop in one transaction: one commit costs about as much as
 * applying an answer.
 *
 * Guarantee: when the promise resolves, all that the answer means is committed (I1). What one step throws rolls back
 * that step only, and rejects its promise only. An error of the database rejects them all; while another program holds
 * it, they are tried again.
 * Source of truth: the work queue; work items stay leased until then.
 * Worst outcome of a crash: the answers of one turn are read again.
 */
export function applyTogether(run: RunContext, step: () => void): Promise<void> {
  const { db } = run.mirror;
  const applyInTurn = () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (run.answers.push({ step, resolve, reject }) === 1) onNextTurn(db, () => commitAnswers(run));
    return promise;
  };
  return retryWhileBusy(db, applyInTurn, run);
}

function commitAnswers(run: RunContext): void {
  const answers = run.answers.splice(0);
  const failures = new Map<WaitingAnswer, unknown>();
  const applyAll = () => {
    for (const answer of answers) {
      try {
        applyCounted(run, answer.step);
      } catch (error) {
        // SQLite may have ended the transaction.
        if (error instanceof MirrorError && error.kind === "database") throw error;
        failures.set(answer, error);
      }
    }
  };
  try {
    // One alone needs no other transaction than its own.
    if (answers.length === 1) applyAll();
    else applyCounted(run, applyAll);
  } catch (error) {
    for (const answer of answers) answer.reject(error);
    return;
  }
  for (const answer of answers) {
    if (failures.has(answer)) answer.reject(failures.get(answer));
    else answer.resolve();
  }
}

/** So many records refused in a row, without a 200 of another one in between, hold the resource's records. */
export const mostRefusedInARow = 5;

/** One run asks an item that was set aside this many times, whatever queues it again. */
const mostTimesSetAside = 3;

/** What one run knows of the work items that it set aside. In memory: the next run tries each of them again. */
export class SetAsideItems {
  /** By resource: the targets refused since its last 200. */
  private readonly inARow = new Map<string, Set<string>>();
  private readonly items = new Map<string, { readonly times: number; readonly reason: string }>();

  add(item: WorkItem, reason: string): void {
    const key = keyOf(item);
    this.items.set(key, { times: (this.items.get(key)?.times ?? 0) + 1, reason });
  }

  /** Returns how many records of the resource were refused in a row, this one included. */
  refused({ resource, target }: WorkItem): number {
    const inARow = (this.inARow.get(resource) ?? new Set()).add(target);
    this.inARow.set(resource, inARow);
    return inARow.size;
  }

  /** A record of the resource was answered with 200, or its refusals are explained. */
  answered(resource: string): void {
    this.inARow.delete(resource);
  }

  /** Are records of the resource refused, so that asking for others makes no sense? */
  isRefused(resource: string): boolean {
    return (this.inARow.get(resource)?.size ?? 0) >= mostRefusedInARow;
  }

  /** Why the item is not asked again in this run; null: it may be asked. */
  spentReason(item: WorkItem): string | null {
    const known = this.items.get(keyOf(item));
    return known && known.times >= mostTimesSetAside ? known.reason : null;
  }
}

function keyOf({ resource, target }: WorkItem): string {
  return `${resource} ${target}`;
}
