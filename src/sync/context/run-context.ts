import type { Clock } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { ParentLink, Resource } from "../../connector/resource.ts";
import type { Transport } from "../../connector/transport.ts";
import type { ListForm } from "../../extract/work-request.ts";
import { Inbox } from "../../state/inbox/inbox.ts";
import { Listings } from "../../state/listings.ts";
import { Parents } from "../../state/parents.ts";
import { Runs } from "../../state/runs.ts";
import type { BegunList, ListRef } from "../../state/sweeps.ts";
import type { WorkItem } from "../../state/work-item.ts";
import type { LaneShare } from "../../state/lease-order.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import type { Mirror } from "../../state/mirror.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import { retryInTurn } from "../../store/transient-errors.ts";
import { SetAsideItems } from "./set-aside.ts";
import type { Tally } from "./tally.ts";

/** Counts removed records per resource, for the guard against mass deletions. */
export interface Removals {
  /** The time that is counted over, for messages: `in one run`. */
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
export interface ProbeTrial {
  readonly asked: RecordId[];
  /** The candidates of its first probe: each is far from the one before, because neighbours go together. */
  readonly spread: readonly RecordId[];
  readonly sinceMs: number;
}

/** A form of lists that the service accepts, as far as is known: none that was sent before it was refused. */
interface LearnedForm {
  readonly form: ListForm;
  readonly sinceSeq: number;
}

/** What a quick run knows of the lists of open records of a resource. */
interface OpenRecords {
  readonly shown: Set<RecordId>;
  /** Lists that are not read to their end. */
  unread: number;
}

/** What a context is built over. */
interface MirrorParts {
  readonly mirror: Mirror;
  /** Shared by all who work on the mirror in this process, because leases are kept in it. */
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly tally: Tally;
}

/** The parts of a run or an event worker of one company. */
export interface WorkerParts extends MirrorParts {
  readonly transport: Transport;
  readonly random: Random;
  readonly token: string;
}

/** What the store noticed during a run, for its report. */
export interface RunNotices {
  readonly newColumns: string[];
  readonly missingFields: Set<string>;
  readonly unkeptFields: Set<string>;
}

/** The parts of one company's run. */
export interface RunParts extends WorkerParts {
  /** Returns how many answers were 429 so far. */
  readonly rateLimited: () => number;
  readonly notices: RunNotices;
}

/** Which parents' lists a run reads, beside those that the scrub chooses. */
export interface ParentReads {
  /** Those never read, and those last read before this run; 0: only those never read. */
  readonly beforeRun: number;
  /** How many more. */
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

/** What a run and the event worker each bring to their context. */
export interface RunSettings {
  /** Row in `_runs`; null for the event worker, which reads no lists. */
  readonly runId: number | null;
  readonly resources: readonly Resource[];
  readonly startedAtMs: number;
  /** Which lanes of the queue it works on. */
  readonly share: LaneShare;
  /** Reads every detail again. */
  readonly full: boolean;
  readonly allowMassDelete: boolean;
  readonly parentReads: ParentReads;
  /** When the first of the runs began that this one continues; its own start where there is none. Epoch ms. */
  readonly chainStartedMs: number;
  /** Absent: every run reads them. */
  readonly wholeLists?: WholeListSettings;
  /** Its number in the mirror's sequence when it began; null: it continues another one. */
  readonly firstSeq: number | null;
  readonly provenRoutes: RouteProofs;
  /** Ends its waits. */
  readonly signal: AbortSignal;
  /** Records removed, or found absent and asked for. */
  readonly removals: Removals;
}

/** A list, and the records that only its earlier readings showed. */
interface JoinedList extends ListRef {
  readonly earlier: ReadonlySet<RecordId>;
}

/** What every part of one run shares. The event worker is a run without an end. */
export interface RunContext extends RunSettings, MirrorParts {
  readonly listings: Listings;
  readonly parents: Parents;
  readonly runs: Runs;
  readonly inbox: Inbox;
  /** Its resources by name. */
  readonly selected: ReadonlyMap<string, Resource>;
  /** Their names, as the queue takes them. */
  readonly names: readonly string[];
  /** By resource: the last records of the list this run read, the first choice for a route probe. */
  readonly probeCandidates: Map<string, RecordId[]>;
  readonly probeTrials: Map<string, ProbeTrial>;
  /** By resource: what a quick run knows of its open records. */
  readonly openRecords: Map<string, OpenRecords>;
  /** By resource: its lists that did not lead on in this run. */
  readonly deadEnds: Map<string, number>;
  /** By resource: how its lists are asked for, where the service refused the connector's way in this run. */
  readonly listForms: Map<string, LearnedForm>;
  /** By resource: quarantine keys of the records without an id that this run met. */
  readonly withoutId: Map<string, Set<string>>;
  readonly setAside: SetAsideItems;
  /** By `sweepKey`: the lists of this run and of those it continues, with the begin of their last reading. */
  readonly begunLists: Map<string, BegunList>;
  /** By resource: how many pages more of its whole list this run reads, where several runs read it. */
  readonly wholePages: Map<string, number>;
  /** By `sweepKey`: the lists that several readings completed together, with what the last of them did not show. */
  readonly joinedLists: Map<string, JoinedList>;
  /** Resources and parents whose list was read again because records it had shown are gone. */
  readonly listedAgain: Set<string>;
  /** Called once the current transaction is committed. */
  readonly afterCommit: (() => void)[];
  /** Answers that wait for the transaction at the end of this turn of the event loop. */
  readonly answers: WaitingAnswer[];
}

/** A run, and when the answer it applies was sent and received. */
export interface ReadContext {
  readonly run: RunContext;
  readonly stamp: ReadStamp;
}

/** One answer on its way into the mirror: the work item it belongs to, in its run. */
export interface AnswerContext extends ReadContext {
  readonly resource: Resource;
  readonly item: WorkItem;
}

/** Builds the context of a run or of the event worker. */
export function createRunContext(parts: MirrorParts, settings: RunSettings): RunContext {
  const { mirror, queue, clock, log, tally } = parts;
  const { db } = mirror;
  const { resources } = settings;
  // Fixes the order in which resources are reported.
  for (const { name } of resources) tally.of(name);
  return {
    ...settings,
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
    names: resources.map(({ name }) => name),
    probeCandidates: new Map(),
    probeTrials: new Map(),
    openRecords: new Map(),
    deadEnds: new Map(),
    listForms: new Map(),
    withoutId: new Map(),
    setAside: new SetAsideItems(),
    begunLists: new Map(),
    wholePages: new Map(),
    joinedLists: new Map(),
    listedAgain: new Set(),
    afterCommit: [],
    answers: [],
  };
}

/** Builds the context of work that reads what is in the lane of events, without lists of its own. */
export function createEventContext(
  parts: MirrorParts,
  settings: Pick<RunSettings, "resources" | "provenRoutes" | "signal" | "removals">,
): RunContext {
  const nowMs = parts.clock.nowMs();
  return createRunContext(parts, {
    ...settings,
    runId: null,
    startedAtMs: nowMs,
    chainStartedMs: nowMs,
    firstSeq: null,
    share: "events",
    full: false,
    allowMassDelete: false,
    parentReads: { beforeRun: 0, left: 0 },
  });
}

/** What an answer means, on its way into the mirror. */
export interface WaitingAnswer {
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

/** A resource that is listed per record of parents: with the field that names the parent in question, and with all. */
interface ChildResource {
  readonly resource: Resource;
  readonly link: ParentLink;
  readonly links: readonly ParentLink[];
}

/** Resources of this run that are listed per record of `parent`. */
export function childrenOf(run: RunContext, parent: string): ChildResource[] {
  return run.resources.flatMap((resource) => {
    const links = resource.list.kind === "parents" ? resource.list.parents : [];
    const link = links.find((candidate) => candidate.resource === parent);
    return link ? [{ resource, link, links }] : [];
  });
}
