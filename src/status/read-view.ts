import { statSync } from "node:fs";
import { freeBytesAt } from "../base/atomic-file.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import { InboxView } from "../state/inbox/inbox-view.ts";
import { Meta } from "../state/meta.ts";
import { Runs, type EndedRun } from "../state/runs.ts";
import { sweptAt } from "../state/sweeps.ts";
import { UptimeLog } from "../state/uptime-log.ts";
import { WorkQueue } from "../state/work-queue.ts";
import type { Db } from "../store/database.ts";
import { openReadable } from "../store/migrations/migrate.ts";
import { logBytes } from "../store/write-ahead-log.ts";
import { Quarantine } from "../store/apply/quarantine.ts";
import { listedOutcome, type CompanyReport } from "../sync/context/run-report.ts";
import { lastFailedStart } from "../sync/run/run-outcome.ts";
import type { Trouble } from "../sync/context/tally.ts";
import { mayHaveLost } from "../webhook/delivery-gap/delivery-gap.ts";
import {
  expectedSubscriptions,
  mirroredSubscriptions,
} from "../webhook/subscriptions/subscription-problems.ts";
import { schemaChanges } from "../store/tables/unknown-columns.ts";
import { readStepStatus, stepsOf } from "./after-run-record.ts";
import { readAlerts } from "./alerts/alerter.ts";
import type { CompanyStatusView, Drift, StatusScope } from "./company-status.ts";
import { emptyReceiverNote } from "./receiver-note.ts";

/** The part of the view that is read from the mirror. */
type MirrorFacts = Pick<
  CompanyStatusView,
  "lastRun" | "wholeRunMs" | "sweptMs" | "events" | "wholeness" | "drift" | "fileBytes" | "queue"
>;

/** How a company stands, as its files show it: what only a daemon knows is not known. Null: there is no mirror. */
export function readView(db: Db | null, scope: StatusScope, nowMs: number): CompanyStatusView {
  const { config, company } = scope;
  const files = mirrorFiles(config, company.name);
  const secrets = [company.token, ...company.webhook.secrets];
  return {
    company: company.name,
    missingSecrets: secrets.flatMap(({ problem }) => problem ?? []),
    open: true,
    service: { state: "working", message: null, sinceMs: nowMs },
    run: null,
    runs: {},
    logHeldMs: null,
    budget: null,
    requests: {},
    waitedMs: 0,
    rows: [],
    deliveries: {},
    receiver: emptyReceiverNote,
    writeProblem: null,
    nextRunMs: null,
    afterRun: {
      steps: readStepStatus(files.afterRun, stepsOf(config), nowMs),
      problem: null,
      isReportScheduled: config.schedule.publish !== "after_sync",
    },
    alerts: readAlerts(files),
    ...(db ? readFacts(db, scope, nowMs) : unknownFacts(scope)),
  };
}

/** How a company stands after a run that no daemon made. */
export function readViewAfterRun(
  scope: StatusScope,
  report: CompanyReport,
  nowMs: number,
): CompanyStatusView {
  const db = readableOrNone(mirrorFiles(scope.config, scope.company.name).mirror);
  try {
    const view = readView(db, scope, nowMs);
    const lastRun = {
      outcome: listedOutcome(report),
      startedMs: Date.parse(report.started_at),
      finishedMs: Date.parse(report.finished_at),
      message: report.error?.message,
    };
    // Events wait for a daemon or the next run: here nobody is late.
    return { ...view, lastRun, events: { ...view.events, oldestWaitingMs: null } };
  } finally {
    db?.close();
  }
}

/** Null: there is no mirror, or it cannot be read; the run's report says so. */
function readableOrNone(file: string): Db | null {
  try {
    return openReadable(file);
  } catch {
    return null;
  }
}

function unknownFacts({ resources }: StatusScope): MirrorFacts {
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

/** Reads the facts of a mirror. */
export function readFacts(db: Db, scope: Omit<StatusScope, "config">, nowMs: number): MirrorFacts {
  const { manifest, resources } = scope;
  const inbox = new InboxView(db);
  const runs = new Runs(db);
  const last = runs.lastEnded();
  const whole = lastWholeRun(
    db,
    resources.map(({ name }) => name),
  );
  return {
    lastRun: readLastRun(db, last),
    wholeRunMs: whole?.startedMs ?? null,
    sweptMs: Object.fromEntries(resources.map((one) => [one.name, epochMs(sweptAt(manifest, one, runs))])),
    events: {
      waiting: inbox.waiting(),
      oldestWaitingMs: epochMs(inbox.oldestWaiting()),
      lastReceivedMs: epochMs(inbox.lastReceived()),
    },
    wholeness: {
      troubles: (last?.troubles ?? []) as readonly Trouble[],
      quarantined: new Quarantine(db).count(),
      mayHaveLostEvents: mayHaveLostEvents(db, manifest, whole, nowMs),
    },
    drift: readDrift(db, scope),
    fileBytes: fileBytesOf(db.name),
    queue: new WorkQueue(db).counts(),
  };
}

function readDrift(db: Db, { manifest, company, resources }: Omit<StatusScope, "config">): Drift {
  const resource = resources.find(({ name }) => name === manifest.webhooks?.subscriptionsResource);
  const expected = resource ? expectedSubscriptions(company, manifest, resources) : null;
  const isRead = resource && sweptAt(manifest, resource, new Runs(db)) !== null;
  const lastReceivedMs = epochMs(new InboxView(db).lastReceived());
  const subscriptions =
    expected && isRead
      ? { ...expected, all: mirroredSubscriptions(db, resource.name), lastReceivedMs }
      : null;
  return { subscriptions, schemaChanges: schemaChanges(db, manifest.resources) };
}

function fileBytesOf(database: string): NonNullable<MirrorFacts["fileBytes"]> {
  const diskFree = freeBytesAt(database);
  return { database: statSync(database).size, wal: logBytes(database), diskFree };
}

/** The run that ended last, also one that failed before it could write its row. */
function readLastRun(db: Db, last: EndedRun | null): MirrorFacts["lastRun"] {
  const failure = lastFailedStart(new Meta(db), last?.startedAt ?? null);
  const atMs = Date.parse(failure?.at ?? "");
  if (failure) {
    const { outcome, message } = failure;
    return { outcome, message, startedMs: atMs, finishedMs: atMs };
  }
  return (
    last && {
      outcome: last.outcome,
      startedMs: Date.parse(last.startedAt),
      finishedMs: Date.parse(last.finishedAt),
      ...(last.error === null ? {} : { message: last.error }),
    }
  );
}

/** Without a span nobody ever received deliveries, and none are missed. */
function mayHaveLostEvents(db: Db, { webhooks }: Manifest, whole: WholeRun | null, nowMs: number): boolean {
  const spans = new UptimeLog(db).spans();
  const [first] = spans;
  if (!first || !whole) return first !== undefined;
  const sinceMs = Math.max(whole.seesFromMs, first.startedMs);
  return mayHaveLost({ spans, sinceMs, nowMs, delays: webhooks?.retryDelays });
}

function epochMs(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}

/** A run that read everything the config asks for, whoever made it. Epoch milliseconds. */
export interface WholeRun {
  readonly startedMs: number;
  /** When the first of its lists was begun: the run saw everything that happened before. */
  readonly seesFromMs: number;
}

/** How many successful runs are searched. */
const runsSearched = 200;

/** The last run that read all these resources; null: none of the last 200 successful runs did. */
export function lastWholeRun(db: Db, resources: readonly string[]): WholeRun | null {
  const last = lastWholeReport(db, resources);
  if (last === null) return null;
  const startedMs = Date.parse(last.startedAt);
  const sweptMs = Object.values(last.report.swept ?? {}).map((at) => Date.parse(at));
  return { startedMs, seesFromMs: Math.min(startedMs, ...sweptMs) };
}

/** The report of that run. */
function lastWholeReport(db: Db, resources: readonly string[]) {
  for (const { startedAt, report: stored } of new Runs(db).successes(runsSearched)) {
    const report = stored as Partial<CompanyReport>;
    const { resources: read = {} } = report;
    if (resources.every((name) => name in read)) return { startedAt, report };
  }
  return null;
}
