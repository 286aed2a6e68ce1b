import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Transport } from "../../connector/transport.ts";
import { Listings } from "../../state/listings.ts";
import type { Mirror } from "../../state/mirror.ts";
import { Parents } from "../../state/parents.ts";
import { Runs } from "../../state/runs.ts";
import { Inbox } from "../../state/inbox/inbox.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import { dailyRemovals } from "../deletion/mass-delete-guard.ts";
import { sharedRouteProofs } from "../deletion/route-proofs.ts";
import type { RunContext } from "../context/run-context.ts";
import type { Tally } from "../context/tally.ts";

/** The parts that one company's tender works with; mirror, queue and transport are its station's. */
export interface EventWorkerParts {
  readonly mirror: Mirror;
  readonly queue: WorkQueue;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly token: string;
}

/** A run without lists and without an end: what it knows of the service grows old instead. */
export function eventWorkerContext(
  parts: EventWorkerParts,
  resources: readonly Resource[],
  tally: Tally,
): RunContext {
  const { mirror, queue, clock, log } = parts;
  return {
    manifest: mirror.manifest,
    mirror,
    queue,
    share: "events",
    clock,
    log,
    tally,
    inbox: new Inbox(mirror.db),
    listings: new Listings(mirror.db),
    parents: new Parents(mirror.db),
    runs: new Runs(mirror.db),
    run: null,
    startedAtMs: clock.nowMs(),
    selected: new Map(resources.map((resource) => [resource.name, resource])),
    full: false,
    allowMassDelete: false,
    parentBudget: null,
    provenRoutes: sharedRouteProofs(queue, clock),
    probeCandidates: new Map(),
    probeTrials: new Map(),
    removals: dailyRemovals(mirror.db, clock),
    withoutId: new Map(),
    afterCommit: [],
  };
}
