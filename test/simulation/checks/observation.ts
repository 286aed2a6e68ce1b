import type { Witness } from "../service/service-truth.ts";

/** A read of whole records, as a process sent and received it. */
export interface SeenRead {
  readonly requestId: string;
  /** Of each process another one. */
  readonly process: object;
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  readonly isMissing: boolean;
  /** Tables and ids of the records that it was about. */
  readonly shown: ReadonlySet<string>;
}

/** A request for one record; `requestId`: of its answer, once it came. */
export interface AskedRecord {
  readonly sentAtMs: number;
  readonly requestId: string | null;
}

/** What was seen of a simulation from outside the mirror. Times are those of the service's monotonic clock. */
export interface Observation {
  readonly service: Witness;
  /** When each event first reached a receiver, by its id; before its commit. */
  readonly arrivals: ReadonlyMap<string, number>;
  /** Bodies of the deliveries that a receiver answered with 2xx, by event id. */
  readonly acknowledged: ReadonlyMap<string, string | Buffer>;
  /** When a route that answers 404 to all requests last denied a record, by its table and id. */
  readonly deniedAtMs: ReadonlyMap<string, number>;
  /** When answers came to the process that had asked, by their request ids. */
  readonly receivedAtMs: ReadonlyMap<string, number>;
  /** Requests for each record, by its table and id, in the order in which they were sent. */
  readonly asked: ReadonlyMap<string, readonly AskedRecord[]>;
  /** Answers as they came and could be applied at once, in that order. */
  readonly reads: readonly SeenRead[];
}
