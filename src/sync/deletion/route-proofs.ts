import type { Clock } from "../../base/clock.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import type { RouteProofs } from "../context/run-context.ts";

/** So long a 200 speaks for its route, where no run ends. */
const provenForMs = 10 * 60_000;

/** Proofs that grow old: a route that answered yesterday may be another one today (I5). */
export function lateRouteProofs(clock: Clock): RouteProofs {
  const provenAtMs = new Map<string, number>();
  return {
    has: (resource) => clock.monotonicMs() - (provenAtMs.get(resource) ?? -Infinity) <= provenForMs,
    add: (resource) => void provenAtMs.set(resource, clock.monotonicMs()),
  };
}

const shared = new WeakMap<WorkQueue, RouteProofs>();

/** What all who work on one queue have proven lately: the record that one asks for may be the other's to read. */
export function sharedRouteProofs(queue: WorkQueue, clock: Clock): RouteProofs {
  const proofs = shared.get(queue) ?? lateRouteProofs(clock);
  shared.set(queue, proofs);
  return proofs;
}

/** Those of one run, for as long as it takes, and what others beside it have proven. */
export function runRouteProofs(queue: WorkQueue, clock: Clock): RouteProofs {
  const own = new Set<string>();
  const beside = sharedRouteProofs(queue, clock);
  return {
    has: (resource) => own.has(resource) || beside.has(resource),
    add: (resource) => {
      own.add(resource);
      beside.add(resource);
    },
  };
}
