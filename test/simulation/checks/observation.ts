import type { Witness } from "../service/service-truth.ts";

/** What was seen of a simulation from outside the mirror. Times are those of the service's monotonic clock. */
export interface Observation {
  readonly service: Witness;
  /** When each event first reached a receiver, by its id; before its commit. */
  readonly arrivals: ReadonlyMap<string, number>;
  /** Bodies of the deliveries that a receiver answered with 2xx, by event id. */
  readonly acknowledged: ReadonlyMap<string, string | Buffer>;
  /** When a route that answers 404 to all requests last denied a record, by its table and id. */
  readonly deniedAtMs: ReadonlyMap<string, number>;
}
