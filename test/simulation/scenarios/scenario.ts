import type { ParentsPerRun } from "../../../src/sync/plan/scrub.ts";
import type { HotTable } from "../service/record-changes.ts";
import type { ServiceOptions } from "../service/service-types.ts";

export const crashPoints = [
  "before a transaction",
  "in a transaction",
  "while committing",
  "after a commit",
  "before a request",
  "request in flight",
  "answer not applied",
  "before the 204",
  "after the 204",
  "at opening",
] as const;
export type CrashPoint = (typeof crashPoints)[number];

export type Ending =
  | { readonly kind: "by itself" }
  /** `nth`: the how many-th time that it comes there; `power`: the machine loses its power. */
  | { readonly kind: "crash"; readonly point: CrashPoint; readonly nth: number; readonly power: boolean }
  | { readonly kind: "killed"; readonly atMs: number; readonly power: boolean }
  /** `now`: requests in flight are aborted; else they may finish. */
  | { readonly kind: "stopped"; readonly atMs: number; readonly now: boolean };

export type Activity =
  | {
      readonly kind: "sync";
      readonly mode: "usual" | "full" | "quick";
      readonly scrub: boolean;
      readonly mostRequests: number | null;
      readonly allowMassDelete: boolean;
    }
  /** `runAtMs`: when it makes a run beside its events; null: none. */
  | {
      readonly kind: "serve";
      readonly runAtMs: number | null;
      readonly full: boolean;
      /** When it replays all stored events. @default never */
      readonly replayAtMs?: number;
    }
  /** Runs until all is read, and once more. */
  | { readonly kind: "final runs" }
  | { readonly kind: "down" };

/** Shares of requests that go wrong, 0 to 1: none. */
export const calmNetwork = {
  lost: 0,
  answerLost: 0,
  reset: 0,
  /** Of answers that are errors or no answers of the interface. */
  odd: 0,
  slow: 0,
  /** Of requests that the service counts long after they were given up. */
  stray: 0,
  /** Requests take up to this long, most of them far less, ms. 0: a few tenths of a second. */
  spreadMs: 0,
  /** Requests take up to this long, any time as likely as another, ms. 0: as `spreadMs` says. */
  evenMs: 0,
  /** Of answers on routes of records that are a proxy's 404 page, and of lists of units that are empty. */
  proxy: 0,
  /** The route of this resource answers 404 all the time; null: none does. */
  brokenRoute: null as string | null,
  /** How long the broken route must have shown nothing before it breaks, ms. */
  breaksAfterMs: 0,
  /** Of answers that show the token, lead it elsewhere or lack a request id. */
  indiscreet: 0,
};
export type NetworkFaults = Readonly<typeof calmNetwork>;

/** Shares of deliveries that go wrong: none. */
export const calmDeliveries = {
  lost: 0,
  answerLost: 0,
  doubled: 0,
  late: 0,
  forged: 0,
  /** Of deliveries that wait for others, to arrive together with them. */
  gathered: 0,
  /** Of groups of deliveries whose transaction fails. */
  unstorable: 0,
};
export type DeliveryFaults = Readonly<typeof calmDeliveries>;

/** What people change, and when; `on`: a record of this table. */
export interface PlannedChange {
  readonly atMs: number;
  readonly seed: number;
  readonly on?: HotTable;
}

/**
 * With which token a process asks: the company's own; one that replaces it; or one of another company, which has another
 * name or the same.
 */
export type TokenKind = "own" | "replaced" | "foreign" | "namesake";

/** What the service sends or shows now and then that nobody expects. */
export const oddities = [
  "odd event",
  "company renamed",
  "unreadable event",
  "unknown field",
  "malformed record",
  "record without an id",
  "malformed record changed",
] as const;
export type Oddity = (typeof oddities)[number];

export interface PlannedOddity {
  readonly atMs: number;
  readonly seed: number;
  readonly what: Oddity;
}

/** One step of a scenario: one process, or none, and what happens meanwhile. Times count from its beginning. */
export interface Phase {
  /** Of all choices made within it. */
  readonly seed: number;
  readonly activity: Activity;
  readonly ending: Ending;
  /** How long `serve` works, or nothing does. */
  readonly durationMs: number;
  readonly changes: readonly PlannedChange[];
  /** Share of transactions that find the database held by another program when they commit. @default 0 */
  readonly busy?: number;
  readonly wallJumps: readonly { readonly atMs: number; readonly byMs: number }[];
  readonly network: NetworkFaults;
  readonly deliveries: DeliveryFaults;
  readonly token?: TokenKind;
  /** @default none */
  readonly oddities?: readonly PlannedOddity[];
  /** When the mirror is judged beside the process. @default never */
  readonly looksAtMs?: readonly number[];
}

/** Everything that a simulation of one seed does: made from the seed, and replayed without it. */
export interface Scenario {
  readonly seed: number;
  readonly service: Omit<ServiceOptions, "random" | "clock">;
  /** How many ids of events stand in memory before they are filed. @default as the product has it */
  readonly mostUnfiled?: number;
  /** Does the first process make the mirror's file? */
  readonly fresh: boolean;
  /** How many parents' lists each run reads. @default "auto" */
  readonly parentsPerRun?: ParentsPerRun;
  readonly phases: readonly Phase[];
  /** Is the last run made beside `serve`? */
  readonly restsBesideServe: boolean;
}
