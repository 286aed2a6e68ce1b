import type { Config } from "../config/config.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import { WorkQueue } from "../state/work-queue.ts";
import type { Db } from "../store/database.ts";
import { openReadable } from "../store/migrations/migrate.ts";
import type { CompanyReport } from "../sync/context/run-report.ts";
import { listedOutcome } from "../sync/context/run-report.ts";
import { readStepStatus, stepsAfterRun } from "./after-run-record.ts";
import { readAlerts } from "./alerts/alerter.ts";
import type { CompanyStatusView, StatusScope } from "./company-status.ts";
import { emptyReceiverNote } from "./receiver-note.ts";
import { readLiveFacts } from "./live-facts.ts";

/** A company after a run that no daemon made. */
export interface RunOfCompany extends StatusScope {
  readonly config: Config;
  readonly manifest: Manifest;
  readonly report: CompanyReport;
}

/** How a company stands after such a run, in the words of the daemon: what only a daemon knows is not known. */
export function viewAfterRun(run: RunOfCompany, nowMs: number): CompanyStatusView {
  const { config, company, report } = run;
  const files = mirrorFiles(config, company.name);
  const secrets = [company.token, ...company.webhook.secrets];
  const lastRun = {
    outcome: listedOutcome(report),
    startedMs: Date.parse(report.started_at),
    finishedMs: Date.parse(report.finished_at),
    message: report.error?.message,
  };
  const unknown = {
    logHeldMs: null,
    run: null,
    budget: null,
    nextRunMs: null,
    requests: {},
    waitedMs: 0,
    rows: [],
    runs: {},
  };
  return {
    company: company.name,
    missingSecrets: secrets.flatMap(({ problem }) => problem ?? []),
    open: true,
    service: { state: "working", message: null, sinceMs: nowMs },
    deliveries: {},
    receiver: emptyReceiverNote,
    writeProblem: null,
    ...unknown,
    ...readFile(files.mirror, run, nowMs),
    lastRun,
    afterRun: {
      steps: readStepStatus(files.afterRun, stepsAfterRun(config), nowMs),
      problem: null,
      isReportScheduled: config.schedule.publish !== "after_sync",
    },
    alerts: readAlerts(files),
  };
}

/** Events wait for a daemon or the next run: here nobody is late. */
function readFile(file: string, { manifest, ...scope }: RunOfCompany, nowMs: number) {
  const db = readableOrNone(file);
  try {
    const facts = readLiveFacts(db && { db, manifest }, scope, nowMs);
    const events = { ...facts.events, oldestWaitingMs: null };
    return { ...facts, events, queue: db ? new WorkQueue(db).counts() : [] };
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
