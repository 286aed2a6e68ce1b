import type { Clock } from "../base/clock.ts";
import type { RecordId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Manifest } from "../connector/manifest.ts";
import type { Resource } from "../connector/resource.ts";
import type { Listings } from "../store/listings.ts";
import type { Mirror } from "../store/mirror.ts";
import type { Parents } from "../store/parents.ts";
import type { Runs } from "../store/runs.ts";
import type { Queue } from "../work/queue.ts";
import { massDeleteLimit } from "./limits.ts";
import type { Tally } from "./tally.ts";

/** What every part of one run shares. */
export interface Session {
  readonly manifest: Manifest;
  readonly mirror: Mirror;
  readonly queue: Queue;
  readonly listings: Listings;
  readonly parents: Parents;
  readonly tally: Tally;
  readonly clock: Clock;
  readonly log: Log;
  readonly runs: Runs;
  readonly run: number;
  readonly startedAtMs: number;
  /** Resources of this run, by name. */
  readonly selected: ReadonlyMap<string, Resource>;
  readonly full: boolean;
  readonly allowMassDelete: boolean;
  /** How many more parents' lists this run may take on; null where every run reads them all. */
  readonly parentBudget: { left: number } | null;
  /** Detail routes that answered 200 in this run: what a 404 needs to be believed (I5). */
  readonly provenRoutes: Set<string>;
  /** Records that this run's own lists showed, one for each resource: the canary to ask first. */
  readonly canaries: Map<string, RecordId[]>;
  /** By resource: the listed record that is asked whether the route answers at all. */
  readonly askedCanaries: Map<string, RecordId>;
  /** Records of each resource that this run asked to confirm or removed: the measure of a mass delete. */
  readonly removals: Map<string, number>;
  /** By resource: keys in the quarantine of the records without an id that this run met. */
  readonly nameless: Map<string, Set<string>>;
}

/** The door, with this run's counts: what a rolled back answer had counted is taken back. */
export function applyCounted(session: Session, step: () => void): void {
  const restore = session.tally.snapshot();
  try {
    session.mirror.apply(step);
  } catch (error) {
    restore();
    throw error;
  }
}

/** May this run remove `more` records of the resource? Counts them if so. */
export function mayRemove(session: Session, resource: string, more: number): boolean {
  const soFar = session.removals.get(resource) ?? 0;
  if (
    !session.allowMassDelete &&
    soFar + more > massDeleteLimit(session.mirror.records.liveCount(resource))
  ) {
    return false;
  }
  session.removals.set(resource, soFar + more);
  return true;
}

/** Resources listed per record of `parent`, as far as this run has them. */
export function childrenOf(session: Session, parent: string): Resource[] {
  return [...session.selected.values()].filter(
    (resource) =>
      resource.list.kind === "parents" && resource.list.parents.some((link) => link.resource === parent),
  );
}
