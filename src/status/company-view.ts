import { statSync } from "node:fs";
import { freeBytesAt } from "../base/files/atomic-file.ts";
import { hourMs, msOrNull } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { freshForMs, runSchedule } from "../config/cron-schedule.ts";
import type { CompanySettings } from "../store/mirror-files.ts";
import type { BudgetView } from "../rate-limit/permit.ts";
import { InboxView } from "../state/inbox/inbox.ts";
import { endOfLog } from "../state/log-identity.ts";
import { Meta, pushPositionKey, type PushPosition } from "../state/meta.ts";
import { Runs, type EndedRun } from "../state/runs.ts";
import { sweptAt } from "../state/sweeps.ts";
import { WorkQueue, type QueueCount } from "../state/work-queue.ts";
import { Changes } from "../store/apply/change-log.ts";
import { Quarantine } from "../store/apply/quarantine.ts";
import type { Db } from "../store/database.ts";
import { openReadable } from "../store/migrations/migrate.ts";
import { schemaChanges } from "../store/tables/unknown-columns.ts";
import { logBytes } from "../store/write-ahead-log.ts";
import { listedOutcome, type RunSummary } from "../sync/context/run-summary.ts";
import type { WorkerState } from "../sync/event-worker/worker-status.ts";
import { lastFailedStart } from "../sync/run/begin-run.ts";
import {
  expectedSubscriptions,
  mirroredSubscriptions,
} from "../webhook/subscriptions/subscription-problems.ts";
import { readStepStatus, stepsOf, type StepStatus } from "./after-run-record.ts";
import { readAlerts } from "./alerts/alerter.ts";
import type { AlertState } from "./alerts/incidents.ts";
import { emptyReceiverNote, lastWholeRun, mayHaveLostEvents, readTroubles } from "./event-status.ts";

type StoredFacts = ReturnType<typeof readFacts>;

/** What the process knows that holds the mirror, and has counted since its start: where none does, as good as nothing. */
type LiveFacts = ReturnType<typeof withoutDaemon>;

function withoutDaemon({ company }: CompanySettings, nowMs: number) {
  const secrets = [company.token, ...company.webhook.secrets];
  return {
    missingSecrets: secrets.flatMap(({ problem }) => problem ?? []) as readonly string[],
    /** False while the mirror's file cannot be opened: deliveries get 503. */
    open: true as boolean,
    /** Can records be read and written? As the event worker found it last. */
    service: { state: "working", message: null, sinceMs: nowMs } as WorkerState,
    run: null as { readonly mode: string; readonly startedMs: number } | null,
    budget: null as BudgetView | null,
    receiver: emptyReceiverNote,
    /** Why the mirror cannot be written; null: it can. */
    writeProblem: null as string | null,
    nextRunMs: null as number | null,
    runs: {} as Readonly<Record<string, number>>,
    /** Answers by status, `none` for attempts without one. */
    requests: {} as Readonly<Record<string, number>>,
    waitedMs: 0,
    /** Changes by resource and `inserted`, `updated`, `hydrated`, `deleted`, `unchanged`. */
    rows: [] as readonly { readonly resource: string; readonly op: string; readonly count: number }[],
    /** Deliveries by their answer: `stored`, `known`, `400`, `401`, `413`, `503`. */
    deliveries: {} as Readonly<Record<string, number>>,
    /** For how long at least a reader has held the write-ahead log back, milliseconds; 0: none does; null: not known. */
    logHeldMs: null as number | null,
  };
}

/** How one company stands: the one model for conditions, text, JSON, pages, metrics and alerts. */
export interface CompanyStatusView extends StoredFacts, Readonly<LiveFacts> {
  readonly company: string;
  /** What still counts as current. */
  readonly limits: {
    /** A list that was read whole longer ago is stale. */
    readonly freshForMs: number;
    /** How long an event may wait for its read, and the service may be away. */
    readonly outageLimitMs: number;
  };
  readonly afterRun: {
    readonly steps: readonly StepStatus[];
    /** Undefined: this process has made nothing yet. */
    readonly problem: string | null | undefined;
    /** The report is made by a pattern of its own: its age says nothing. */
    readonly isReportScheduled: boolean;
  };
  readonly alerts: AlertState;
  readonly receivers: ReturnType<typeof readReceivers>;
}

/** How far each receiver of `notify` is; `position` is null where it was sent nothing of this log yet. */
function readReceivers(db: Db, { notify }: Config) {
  const changes = new Changes(db);
  return notify.map(({ key, tables }) => {
    const known = new Meta(db).get(pushPositionKey(key)) as PushPosition | null;
    const position = known?.log === endOfLog(db).log ? known : null;
    const from = position && Math.max(position.seq, changes.firstSeq() - 1);
    const [next] = from === null ? [] : changes.after(from, tables, 1);
    /** Since when the change waits that it is sent next, ISO; null: none does. */
    const waiting_since = next?.at ?? null;
    return { receiver: key, position, waiting_since };
  });
}

/** How a company stands, as its files show it: what only a daemon knows is not known. Null: there is no mirror. */
export function readView(db: Db | null, scope: CompanySettings, nowMs: number): CompanyStatusView {
  const { config, company, files } = scope;
  return {
    company: company.name,
    ...withoutDaemon(scope, nowMs),
    limits: { freshForMs: freshForMs(runSchedule(config.schedule), nowMs), outageLimitMs: hourMs / 4 },
    afterRun: {
      steps: readStepStatus(files.afterRun, stepsOf(config), nowMs),
      problem: null,
      isReportScheduled: config.schedule.publish !== "after_sync",
    },
    alerts: readAlerts(files),
    receivers: db ? readReceivers(db, config) : [],
    ...(db ? readFacts(db, scope, nowMs) : unknownFacts(scope)),
  };
}

/** How a company stands after a run that no daemon made. */
export function readViewAfterRun(scope: CompanySettings, summary: RunSummary, nowMs: number) {
  const view = readableView(scope, nowMs);
  const lastRun = {
    outcome: listedOutcome(summary),
    startedMs: Date.parse(summary.started_at),
    finishedMs: Date.parse(summary.finished_at),
    message: summary.error?.message ?? null,
  };
  // Events wait for a daemon or the next run: here nobody is late.
  const events = { ...view.events, oldestWaitingMs: null };
  return { ...view, lastRun, events } satisfies CompanyStatusView;
}

/** Where the mirror cannot be read, as if there were none: the run summary says so. */
function readableView(scope: CompanySettings, nowMs: number): CompanyStatusView {
  try {
    using db = openReadable(scope.files.mirror);
    return readView(db, scope, nowMs);
  } catch {
    return readView(null, scope, nowMs);
  }
}

function unknownFacts({ resources }: CompanySettings): StoredFacts {
  return {
    lastRun: null,
    wholeRunMs: null,
    sweptMs: Object.fromEntries(resources.map(({ name }) => [name, null])),
    events: { waiting: 0, oldestWaitingMs: null, lastReceivedMs: null },
    wholeness: { troubles: [], quarantined: 0, mayHaveLostEvents: false },
    drift: { subscriptions: null, schemaChanges: [] },
    fileBytes: null,
    queue: [],
  };
}

/** Reads the facts of a mirror. Times are epoch milliseconds. */
export function readFacts(
  db: Db,
  scope: Pick<CompanySettings, "company" | "declaration" | "resources">,
  nowMs: number,
) {
  const { company, declaration, resources } = scope;
  const inbox = new InboxView(db);
  const runs = new Runs(db);
  const names = resources.map(({ name }) => name);
  const whole = lastWholeRun(db, names);
  const times = runs.sweptTimes();
  const swept = resources.map((one) => [one.name, msOrNull(sweptAt(one, times, resources))] as const);
  const sweptMs = Object.fromEntries(swept);
  const lastReceivedMs = msOrNull(inbox.lastReceived());
  const sizes = { database: statSync(db.name).size, wal: logBytes(db.name), diskFree: freeBytesAt(db.name) };
  const subscriptions = declaration.webhooks?.subscriptionsResource ?? "";
  const expected = expectedSubscriptions(company, declaration, resources);
  const readAtMs = sweptMs[subscriptions] ?? null;
  const isKnown = expected !== null && readAtMs !== null;
  return {
    lastRun: readLastRun(db, runs.lastEnded()),
    /** When the last run began that read all that the config asks for, details too; null: none did. */
    wholeRunMs: whole?.startedMs ?? null,
    /** When each resource that the config asks for was last read whole; null: never. */
    sweptMs,
    events: { waiting: inbox.waiting(), oldestWaitingMs: msOrNull(inbox.oldestWaiting()), lastReceivedMs },
    /** What keeps a mirror that is current from being whole. */
    wholeness: {
      troubles: readTroubles(runs, names),
      quarantined: new Quarantine(db).count(),
      /** All attempts for an event may have failed, and no run that reads everything began since, or ever. */
      mayHaveLostEvents: mayHaveLostEvents(db, scope, whole, nowMs),
    },
    /** What the service does otherwise than it was set up, or than it is known. */
    drift: {
      /** As they were read last. Null: not known, or the config expects none. */
      subscriptions: isKnown
        ? { ...expected, all: mirroredSubscriptions(db, subscriptions), lastReceivedMs, readAtMs }
        : null,
      schemaChanges: schemaChanges(db, declaration.resources),
    },
    /** Of the mirror, its write-ahead log, and what is free beside them; null while the mirror is not open. */
    fileBytes: sizes as typeof sizes | null,
    queue: new WorkQueue(db).counts(names) as readonly QueueCount[],
  };
}

/** The run that ended last, also one that failed before it could write its row. `message`: why it did not finish. */
function readLastRun(db: Db, last: EndedRun | null) {
  const failure = lastFailedStart(new Meta(db));
  const ended = failure
    ? { ...failure, error: failure.message, startedAt: failure.at, finishedAt: failure.at }
    : last;
  if (ended === null) return null;
  const { outcome, startedAt, finishedAt, error } = ended;
  const times = { startedMs: Date.parse(startedAt), finishedMs: Date.parse(finishedAt) };
  return { outcome, ...times, message: error };
}
