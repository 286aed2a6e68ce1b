import type { Clock } from "../base/clock.ts";
import type { RouteProofs } from "./session.ts";

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
