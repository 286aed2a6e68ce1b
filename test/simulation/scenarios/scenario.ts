import type { HotTable } from "../service/changes/change-context.ts";
import type { ServiceOptions } from "../service/service-types.ts";

/** Where a process may crash. */
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

/** How a process ends. */
export type Ending =
  | { readonly kind: "by itself" }
  /** `nth`: the how many-th time that it comes there; `power`: the machine loses its power. */
  | { readonly kind: "crash"; readonly point: CrashPoint; readonly nth: number; readonly power: boolean }
  | { readonly kind: "killed"; readonly atMs: number; readonly power: boolean }
  /** `now`: requests in flight are aborted; else they may finish. */
  | { readonly kind: "stopped"; readonly atMs: number; readonly now: boolean };

/** What the machine does. */
export type Activity =
  | {
      readonly kind: "sync";
      readonly mode: "usual" | "full" | "quick";
      readonly scrub: boolean;
      readonly mostRequests: number | null;
      readonly allowMassDelete: boolean;
    }
  /** `runAtMs`: when it makes a run beside its events; null: none. */
  | { readonly kind: "serve"; readonly runAtMs: number | null; readonly full: boolean }
  /** Runs until all is read, and once more. */
  | { readonly kind: "final runs" }
  | { readonly kind: "down" };

/** Shares of requests that go wrong, 0 to 1. */
export interface NetworkFaults {
  readonly lost: number;
  readonly answerLost: number;
  readonly reset: number;
  /** Of answers that are errors or no answers of the interface. */
  readonly odd: number;
  readonly slow: number;
  /** Requests take up to this long, most of them far less, ms. 0: a few tenths of a second. */
  readonly spreadMs: number;
  /** The route of this resource answers 404 all the time; null: none does. */
  readonly brokenRoute: string | null;
}

/** Shares of deliveries that go wrong. */
export interface DeliveryFaults {
  readonly lost: number;
  readonly answerLost: number;
  readonly doubled: number;
  readonly late: number;
  readonly forged: number;
}

/** What people change, and when; `on`: a record of this table. */
export interface PlannedChange {
  readonly atMs: number;
  readonly seed: number;
  readonly on?: HotTable;
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
}

/** Everything that a simulation of one seed does: made from the seed, and replayed without it. */
export interface Scenario {
  readonly seed: number;
  readonly service: Omit<ServiceOptions, "random" | "clock">;
  /** Is the budget in a file, as with `serve` and `sync`, or in memory? */
  readonly budgetFile: boolean;
  /** Does the first process make the mirror's file? */
  readonly fresh: boolean;
  readonly phases: readonly Phase[];
  /** Is the last run made beside `serve`? */
  readonly restsBesideServe: boolean;
}

/** Nothing goes wrong. */
export const calmNetwork: NetworkFaults = {
  lost: 0,
  answerLost: 0,
  reset: 0,
  odd: 0,
  slow: 0,
  spreadMs: 0,
  brokenRoute: null,
};

/** Nothing goes wrong. */
export const calmDeliveries: DeliveryFaults = { lost: 0, answerLost: 0, doubled: 0, late: 0, forged: 0 };
