import type { Clock } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Log } from "../../base/logger.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Listings } from "../../state/listings.ts";
import type { Mirror } from "../../state/mirror.ts";
import type { Parents } from "../../state/parents.ts";
import type { Runs } from "../../state/runs.ts";
import type { Inbox } from "../../state/inbox/inbox.ts";
import type { LaneShare, WorkQueue } from "../../state/work-queue.ts";
import { massDeleteLimit } from "./limits.ts";
import type { Tally } from "./tally.ts";

/** How many records went, by resource, and the span that a mass delete is measured over. */
export interface Removals {
  /** `in one run` */
  readonly span: string;
  count(resource: string): number;
  add(resource: string, more: number): void;
}

/** Detail routes that lately answered 200: what a 404 needs to be believed (I5). */
export interface RouteProofs {
  has(resource: string): boolean;
  add(resource: string): void;
}

/** Who was asked, one after the other, whether a route answers at all. */
export interface ProbeTrial {
  readonly asked: RecordId[];
  readonly sinceMs: number;
}

/** What every part of one run shares; the tender of events is a run without an end. */
export interface RunContext {
  readonly manifest: Manifest;
  readonly mirror: Mirror;
  readonly queue: WorkQueue;
  readonly listings: Listings;
  readonly parents: Parents;
  readonly tally: Tally;
  readonly clock: Clock;
  readonly log: Log;
  readonly runs: Runs;
  /** Null: the tender's, which reads no lists. */
  readonly run: number | null;
  /** The rows of the queue that are worked on. */
  readonly share: LaneShare;
  readonly inbox: Inbox;
  readonly startedAtMs: number;
  /** Resources of this run, by name. */
  readonly selected: ReadonlyMap<string, Resource>;
  readonly full: boolean;
  readonly allowMassDelete: boolean;
  /** How many more parents' lists this run may take on; null where every run reads them all. */
  readonly parentBudget: { left: number } | null;
  readonly provenRoutes: RouteProofs;
  /** Records that this run's own lists showed, one for each resource: the canary to ask first. */
  readonly probeCandidates: Map<string, RecordId[]>;
  /** By resource: the records that were asked whether the route answers at all. */
  readonly probeTrials: Map<string, ProbeTrial>;
  /** Records of each resource that were asked for as absent, or removed: the measure of a mass delete. */
  readonly removals: Removals;
  /** By resource: keys in the quarantine of the records without an id that this run met. */
  readonly withoutId: Map<string, Set<string>>;
  /** To be told when the transaction under way is committed. */
  readonly afterCommit: (() => void)[];
}

/** The door, with this run's counts: what a rolled back answer had counted is taken back, and not told. */
export function applyCounted(session: RunContext, step: () => void): void {
  const restore = session.tally.snapshot();
  try {
    session.mirror.apply(step);
  } catch (error) {
    restore();
    session.afterCommit.length = 0;
    throw error;
  }
  for (const tell of session.afterCommit.splice(0)) tell();
}

/** Lists are read by runs only. */
export function runOf(session: RunContext): number {
  if (session.run === null) throw new Error("broken promise: a list is read in a run");
  return session.run;
}

/** May this run remove `more` records of the resource? Counts them if so. */
export function mayRemove(session: RunContext, resource: string, more: number): boolean {
  const soFar = session.removals.count(resource);
  if (
    !session.allowMassDelete &&
    soFar + more > massDeleteLimit(session.mirror.records.liveCount(resource))
  ) {
    return false;
  }
  session.removals.add(resource, more);
  return true;
}

/** Resources listed per record of `parent`, as far as this run has them. */
export function childrenOf(session: RunContext, parent: string): Resource[] {
  return [...session.selected.values()].filter(
    (resource) =>
      resource.list.kind === "parents" && resource.list.parents.some((link) => link.resource === parent),
  );
}
