import type { BudgetView } from "../rate-limit/permit.ts";
import type { QueueCount } from "../state/work-queue.ts";

/** How the way to the service stands, as the daemon last found it. */
type ServiceState =
  | "starting"
  | "working"
  /** Waiting for the service to come back. */
  | "unavailable"
  /** The token is not taken. */
  | "unauthenticated"
  /** The token is another company's. */
  | "identity"
  /** The mirror's file cannot be written. */
  | "database";

/** One company in the daemon, at a glance: what health, metrics and the log are made from. Times are epoch milliseconds. */
export interface CompanyStatusView {
  readonly company: string;
  /** False while the mirror's file cannot be opened: deliveries get 503. */
  readonly open: boolean;
  readonly service: {
    readonly state: ServiceState;
    readonly message: string | null;
    readonly sinceMs: number;
  };
  /** The run under way. */
  readonly run: { readonly mode: string; readonly startedMs: number } | null;
  readonly lastRun: {
    readonly outcome: string;
    readonly startedMs: number;
    readonly finishedMs: number;
  } | null;
  /** When the last run began that read all that the config asks for, details too; null: none did yet. */
  readonly wholeRunMs: number | null;
  /** Since the start: ended runs by outcome. */
  readonly runs: Readonly<Record<string, number>>;
  /** When each resource that the config asks for was last read whole (`sweptTimes` of sync/health); null: never. */
  readonly sweptMs: Readonly<Record<string, number | null>>;
  readonly events: {
    readonly waiting: number;
    readonly oldestWaitingMs: number | null;
    readonly lastReceivedMs: number | null;
  };
  readonly queue: readonly QueueCount[];
  readonly budget: BudgetView | null;
  /** Since the start: answers by status, `none` for attempts without one (`HttpStats`: byStatus, unanswered). */
  readonly requests: Readonly<Record<string, number>>;
  /** Since the start: time spent waiting for leave to send, milliseconds (`HttpStats.waitedMs`). */
  readonly waitedMs: number;
  /** Since the start: changes by resource and `inserted`, `updated`, `deleted`, `unchanged`. */
  readonly rows: readonly { readonly resource: string; readonly op: string; readonly count: number }[];
  /** Since the start: deliveries by what they were answered: `stored`, `known`, `400`, `401`, `413`, `503`. */
  readonly deliveries: Readonly<Record<string, number>>;
  /** The next run that the schedule asks for. */
  readonly nextRunMs: number | null;
}
