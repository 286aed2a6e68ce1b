import type { BudgetView, SpentMinute } from "../rate-limit/permit.ts";
import type { FileCounts } from "../state/files/pending-files.ts";
import type { QueueCount } from "../state/work-queue.ts";
import type { RunPlan } from "../sync/plan/run-plan.ts";
import type { Trouble } from "../sync/context/tally.ts";
import type { WorkerState } from "../sync/event-worker/worker-status.ts";
import type { Proof } from "../verify/proof-file.ts";
import type { CompanyConfig, Config } from "../config/config.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import type { Resource } from "../connector/resource.ts";
import type { SchemaChange } from "../store/tables/unknown-columns.ts";
import type { SubscriptionFacts } from "../webhook/subscriptions/subscription-problems.ts";
import type { AlertState, Finding } from "./alerts/incidents.ts";
import type { StepStatus } from "./after-run-record.ts";
import type { EventStatus } from "./event-status.ts";
import type { ReceiverNote } from "./receiver-note.ts";
import type { Health } from "./mirror-health.ts";

/*
 * How things stand for one company, in two views. CompanyStatus is read from its files by the command `status`,
 * beside whoever writes them; CompanyStatusView is built by the daemon from what it holds in memory as well.
 * Everything in render/ is made from one of the two.
 */

/** What `status --json` prints for a company. */
export interface CompanyStatus {
  readonly mirrored: boolean;
  /** The command that writes now, with its process. */
  readonly writer: string | null;
  /** The run it is making; `unknown` where the lock does not say since when it is held. */
  readonly running: number | "unknown" | null;
  readonly budget: BudgetView | null;
  /** Requests of the last hour by minute, of all processes; minutes without one are left out. */
  readonly budget_minutes: readonly SpentMinute[];
  /** What an unchanged run costs; null: no run has read everything yet. */
  readonly plan: RunPlan | null;
  readonly freshness: Freshness;
  readonly health: Health | null;
  readonly events: EventStatus | null;
  /** How report and exports went last. */
  readonly after_run: readonly StepStatus[];
  /** How the files of the kinds that the config asks for stand; null: there is no mirror. */
  readonly files: FileCounts | null;
  /** Incidents, and alerts about them that are not delivered yet. */
  readonly alerts: AlertState;
  /** What the last `verify` of this mirror found; null: none was made. */
  readonly verified: Proof | null;
  /** What is wrong, as /readyz names it; what makes that one not ready first. */
  readonly conditions: readonly NamedCondition[];
}

/** Something that is wrong. `blocks`: it keeps /readyz from being ready. */
export type NamedCondition = Omit<Finding, "raises"> & { readonly blocks: boolean };

/** How old the lists are. */
export interface Freshness {
  /** When the stalest table was last read whole, ISO; null: one never was. */
  readonly oldest: string | null;
  /** Tables that are older than `--max-age` allows. */
  readonly stale: readonly { readonly name: string; readonly age: string }[];
}

/** How what follows runs went last. */
interface AfterRunView {
  readonly steps: readonly StepStatus[];
  /** What went wrong and could not be recorded. */
  readonly problem: string | null;
  /** The report is made by a pattern of its own: its age says nothing. */
  readonly isReportScheduled: boolean;
}

/** What keeps a mirror that is current from being whole. */
interface Wholeness {
  /** What the last run that ended could not do. */
  readonly troubles: readonly Trouble[];
  /** Records that cannot become a row. */
  readonly quarantined: number;
  /** All attempts for an event may have failed, and no run that reads everything began since, or ever. */
  readonly mayHaveLostEvents: boolean;
}

/** What the service does otherwise than it was set up, or than it is known. */
export interface Drift {
  /** As they were read last. Null: not known, or the config expects none. */
  readonly subscriptions: SubscriptionFacts | null;
  readonly schemaChanges: readonly SchemaChange[];
}

/** A company of a config: what its status depends on besides its files. */
export interface StatusScope {
  readonly config: Config;
  readonly company: CompanyConfig;
  readonly manifest: Manifest;
  /** Resources that the config asks for. */
  readonly resources: readonly Resource[];
}

/** One company in the daemon: what /readyz, /metrics and the log show. Times are epoch milliseconds. */
export interface CompanyStatusView {
  readonly company: string;
  /** Why secrets that the config names are not known. */
  readonly missingSecrets: readonly string[];
  /** False while the mirror's file cannot be opened: deliveries get 503. */
  readonly open: boolean;
  /** Can records be read and written? As the event worker found it last. */
  readonly service: WorkerState;
  /** The run under way. */
  readonly run: { readonly mode: string; readonly startedMs: number } | null;
  readonly lastRun: {
    readonly outcome: string;
    readonly startedMs: number;
    readonly finishedMs: number;
    /** Why it did not finish. */
    readonly message?: string | undefined;
  } | null;
  /** When the last run began that read all that the config asks for, details too; null: none did. */
  readonly wholeRunMs: number | null;
  /** Since the start: ended runs by outcome. */
  readonly runs: Readonly<Record<string, number>>;
  /** When each resource that the config asks for was last read whole; null: never. */
  readonly sweptMs: Readonly<Record<string, number | null>>;
  readonly events: {
    readonly waiting: number;
    readonly oldestWaitingMs: number | null;
    readonly lastReceivedMs: number | null;
  };
  readonly wholeness: Wholeness;
  readonly drift: Drift;
  /** Sizes of the mirror and its write-ahead log, and what is free beside them; null while the mirror is not open. */
  readonly fileBytes: { readonly database: number; readonly wal: number; readonly diskFree: number } | null;
  /** For how long at least a reader has held the write-ahead log back, milliseconds; 0: none does; null: not known. */
  readonly logHeldMs: number | null;
  readonly queue: readonly QueueCount[];
  readonly budget: BudgetView | null;
  /** Since the start: answers by status, `none` for attempts without one. */
  readonly requests: Readonly<Record<string, number>>;
  /** Since the start: time spent waiting for permits, milliseconds. */
  readonly waitedMs: number;
  /** Since the start: changes by resource and `inserted`, `updated`, `hydrated`, `deleted`, `unchanged`. */
  readonly rows: readonly { readonly resource: string; readonly op: string; readonly count: number }[];
  /** Since the start: deliveries by their answer: `stored`, `known`, `400`, `401`, `413`, `503`. */
  readonly deliveries: Readonly<Record<string, number>>;
  /** What the receiver refused, and by how much this clock differs. */
  readonly receiver: ReceiverNote;
  /** Why the mirror cannot be written; null: it can. */
  readonly writeProblem: string | null;
  readonly afterRun: AfterRunView;
  /** Incidents, and what is sent about them. */
  readonly alerts: AlertState;
  /** The next run that the schedule asks for. */
  readonly nextRunMs: number | null;
}
