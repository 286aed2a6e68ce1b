import type { Clock } from "../../../src/base/clock.ts";
import type { Random } from "../../../src/base/random.ts";
import type { LimiterKind } from "../../support/rate-limit/simulated-budget.ts";

/** The resources that the simulated service has, by the names of their tables; each refers to those before it. */
export const tableNames = [
  "company",
  "units",
  "clients",
  "business_cases",
  "price_list_items",
  "invoices",
  "document_payments",
  "contact_activity_logs",
] as const;
export type TableName = (typeof tableNames)[number];

/** What a service is like unless its options say otherwise. */
export const usualService = {
  /** Records of each resource at the start, about; or so many of those that are named. */
  size: 6 as number | Readonly<Partial<Record<TableName, number>>>,
  limit: 120,
  /** Requests of other clients in each second, on the same budget. */
  othersPerSecond: 0,
  /**
   * How reads lag behind changes. `none`: a change shows at once, with its event. `commit`: a change shows up to
   * `lagMs` after its event, in the order of changes. `replica`: each read shows the state of up to `lagMs` ago.
   */
  lag: "none" as "none" | "commit" | "replica",
  lagMs: 5_000,
  /** The most that `perPage` may ask for; more is refused with 422. */
  mostPerPage: 500,
  /** Does a list refuse `sortBy` with 422, so that it is read in its own order, with ties? */
  refusesSort: false,
  /** Do records of the same date change places from request to request? */
  shufflesTies: false,
  /** What a deleted client or case leaves: nothing, or CRM events that only their own route shows. */
  deletion: "hard" as "hard" | "soft",
  /** The status of a child list whose parent is gone. */
  refusal: 422 as 404 | 422,
  amountsAsText: false,
  /** Do lists of full records write their keys in another order than the records' own routes? */
  reordersKeys: false,
  /** Share of list answers after the first page that show the first page again. */
  stuckPages: 0,
  /** Share of changes without an event. */
  silentShare: 0,
  name: "Acme",
  /** Makes this company's documents differ from another one's. */
  key: "a",
};

export interface ServiceOptions extends Partial<Readonly<typeof usualService>> {
  readonly random: Random;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly limiter: LimiterKind;
}

/** What the service answers; header names as the service writes them. */
export interface ServiceReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request as the service saw it; times are monotonic. */
export interface Exchange {
  readonly requestId: string;
  readonly route: string;
  readonly search: string;
  readonly hitAtMs: number;
  /** The state that the answer shows is that of this moment. */
  readonly asOfMs: number;
  readonly status: number;
}

export interface Shown {
  /** As its own route and lists of full records write it. */
  readonly detail: string;
  /** As its list writes it; null: no list shows it. */
  readonly listed: string | null;
  /** As its list would write it, where that is the whole record in another order. */
  readonly reordered?: string;
}

/** One version of a record; `shown` is null while it is gone. */
export interface Version {
  readonly fromMs: number;
  readonly shown: Shown | null;
}
