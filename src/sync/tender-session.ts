import type { Resource } from "../connector/resource.ts";
import { Listings } from "../store/listings.ts";
import { Parents } from "../store/parents.ts";
import { Runs } from "../store/runs.ts";
import { Inbox } from "../webhook/inbox.ts";
import { dailyRemovals } from "./removals.ts";
import { lateRouteProofs } from "./route-proofs.ts";
import type { Session } from "./session.ts";
import type { Tally } from "./tally.ts";
import type { TenderParts } from "./tend.ts";

/** A run without lists and without an end: what it knows of the service grows old instead. */
export function tenderSession(parts: TenderParts, resources: readonly Resource[], tally: Tally): Session {
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
    provenRoutes: lateRouteProofs(clock),
    canaries: new Map(),
    canaryTrials: new Map(),
    removals: dailyRemovals(mirror.db, clock),
    nameless: new Map(),
    news: [],
  };
}
