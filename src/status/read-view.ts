import { statSync } from "node:fs";
import { freeBytesAt } from "../base/atomic-file.ts";
import { resourceNamed, type Manifest } from "../connector/connector-manifest.ts";
import { InboxView } from "../state/inbox/inbox-view.ts";
import type { Mirror } from "../state/mirror.ts";
import { Meta } from "../state/meta.ts";
import { Runs, type EndedRun } from "../state/runs.ts";
import { sweptAt } from "../state/sweeps.ts";
import { UptimeLog } from "../state/uptime-log.ts";
import type { Db } from "../store/database.ts";
import { logBytes } from "../store/write-ahead-log.ts";
import { Quarantine } from "../store/apply/quarantine.ts";
import type { CompanyReport } from "../sync/context/run-report.ts";
import { lastFailedStart } from "../sync/run/run-outcome.ts";
import type { Trouble } from "../sync/context/tally.ts";
import { mayHaveLost } from "../webhook/delivery-gap/delivery-gap.ts";
import {
  expectedSubscriptions,
  mirroredSubscriptions,
} from "../webhook/subscriptions/subscription-problems.ts";
import { schemaChanges } from "../store/tables/unknown-columns.ts";
import type { CompanyStatusView, Drift, StatusScope } from "./company-status.ts";

/** The part of the daemon's view that is read from the mirror's file. */
export type LiveFacts = Pick<
  CompanyStatusView,
  "lastRun" | "wholeRunMs" | "sweptMs" | "events" | "wholeness" | "drift" | "fileBytes"
>;

/** Reads the facts of a mirror; while it is closed (null) nothing is known. */
export function readLiveFacts(
  mirror: Pick<Mirror, "db" | "manifest"> | null,
  scope: StatusScope,
  nowMs: number,
): LiveFacts {
  const names = scope.resources.map(({ name }) => name);
  if (!mirror) {
    const sweptMs = Object.fromEntries(names.map((name) => [name, null]));
    const events = { waiting: 0, oldestWaitingMs: null, lastReceivedMs: null };
    const wholeness = { troubles: [], quarantined: 0, mayHaveLostEvents: false };
    const drift = { subscriptions: null, schemaChanges: [] };
    return { lastRun: null, wholeRunMs: null, sweptMs, events, wholeness, drift, fileBytes: null };
  }
  const { db, manifest } = mirror;
  const inbox = new InboxView(db);
  const runs = new Runs(db);
  const last = runs.lastEnded();
  const whole = lastWholeRun(db, names);
  const sweptMs = (name: string) => epochMs(sweptAt(manifest, resourceNamed(manifest, name), runs));
  return {
    lastRun: readLastRun(db, last),
    wholeRunMs: whole?.startedMs ?? null,
    sweptMs: Object.fromEntries(names.map((name) => [name, sweptMs(name)])),
    events: {
      waiting: inbox.waiting(),
      oldestWaitingMs: epochMs(inbox.oldestWaiting()),
      lastReceivedMs: epochMs(inbox.lastReceived()),
    },
    wholeness: {
      troubles: (last?.troubles ?? []) as readonly Trouble[],
      quarantined: new Quarantine(db).count(),
      mayHaveLostEvents: whole !== null && isGapLost(db, manifest, whole, nowMs),
    },
    drift: readDrift(db, manifest, scope),
    fileBytes: fileBytesOf(db.name),
  };
}

/** Reads what the service does otherwise than it was set up, or than it is known. */
export function readDrift(db: Db, manifest: Manifest, { company, resources }: StatusScope): Drift {
  const resource = resources.find(({ name }) => name === manifest.webhooks?.subscriptionsResource);
  const expected = resource ? expectedSubscriptions(company, manifest, resources) : null;
  const isRead = resource && sweptAt(manifest, resourceNamed(manifest, resource.name), new Runs(db)) !== null;
  const lastReceivedMs = epochMs(new InboxView(db).lastReceived());
  const subscriptions =
    expected && isRead
      ? { ...expected, all: mirroredSubscriptions(db, resource.name), lastReceivedMs }
      : null;
  return { subscriptions, schemaChanges: schemaChanges(db, manifest.resources) };
}

function fileBytesOf(database: string): NonNullable<LiveFacts["fileBytes"]> {
  const diskFree = freeBytesAt(database);
  return { database: statSync(database).size, wal: logBytes(database), diskFree };
}

/** The run that ended last, also one that failed before it could write its row. */
function readLastRun(db: Db, last: EndedRun | null): LiveFacts["lastRun"] {
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
function isGapLost(db: Db, { webhooks }: Manifest, { seesFromMs }: WholeRun, nowMs: number): boolean {
  const spans = new UptimeLog(db).spans();
  const sinceMs = Math.max(seesFromMs, spans[0]?.startedMs ?? 0);
  return spans.length > 0 && mayHaveLost({ spans, sinceMs, nowMs, delays: webhooks?.retryDelays });
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
