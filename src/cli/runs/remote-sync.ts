import { existsSync } from "node:fs";
import { askDaemon } from "../../daemon/commands/ask-daemon.ts";
import { formatSyncCommand } from "../../daemon/commands/sync-command.ts";
import { emptyReport, type RunRequest } from "../../runs/company-run.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import { DaemonCommands, type DaemonCommand } from "../../state/daemon-commands.ts";
import { openDatabase, type Db } from "../../store/database.ts";
import { lockHolder } from "../../store/writer-lock.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";

/** What a run of one company is made with, here or in the daemon. */
export interface CompanyRun {
  readonly scope: CompanyScope;
  readonly request: RunRequest;
  /** Epoch milliseconds when `request.closed` aborts; null: never. */
  readonly untilMs: number | null;
  /** When this run was asked for, ISO. */
  readonly startedAt: string;
  /** Takes what gives the run's progress; null before it begins. */
  readonly show: (view: () => ProgressView | null) => void;
  /** Called when all lists are in and many details are still to be read. Never rejects. */
  readonly onListsRead: () => Promise<void>;
  /** Called when everything listed is in, before a scrub of this process. Never rejects. */
  readonly onListed: () => Promise<void>;
}

const startCheckMs = 250;
/** After this time a run that still waits for another one is mentioned. */
const silentMs = 3_000;
/** The daemon itself ends a run whose time is over; after this time it is no longer waited for. */
const endGraceMs = 30_000;

/**
 * Has the daemon that holds the mirror make the run, and waits for its report. Null: the daemon has ended, and the
 * run is to be made here.
 */
export async function followRemoteSync(run: CompanyRun): Promise<CompanyReport | null> {
  const db = await openCommands(run);
  if (!db) return reportIfEnded(run);
  try {
    return await follow(run, new DaemonCommands(db));
  } finally {
    db.close();
  }
}

/** Waits for a daemon that has the lock and is still creating the mirror. Null: it has ended, or a signal came. */
async function openCommands({ scope, request }: CompanyRun): Promise<Db | null> {
  const { files, context } = scope;
  while (!context.signal.aborted && !request.closed.aborted && isDaemonThere(scope)) {
    const db = existsSync(files.mirror) ? openDatabase(files.mirror) : null;
    if (db && DaemonCommands.areIn(db)) return db;
    db?.close();
    await context.clock.sleep(startCheckMs, context.signal);
  }
  return null;
}

async function follow(run: CompanyRun, commands: DaemonCommands): Promise<CompanyReport | null> {
  const { request, untilMs, scope } = run;
  const { clock, log, signal } = scope.context;
  const { name } = scope.company;
  log.info(`${name}: the daemon holds the mirror and makes this run; following it`);
  let latest: DaemonCommand | null = null;
  run.show(() => (latest?.state === "running" ? (latest.report as ProgressView | null) : null));
  let mentionAtMs = clock.monotonicMs() + silentMs;
  const { ended, report } = await askDaemon("sync", formatSyncCommand(request, untilMs), {
    commands,
    clock,
    signal,
    isDaemonThere: () => isDaemonThere(scope),
    isOver: () => request.closed.aborted,
    graceMs: endGraceMs,
    onProgress: (command) => {
      latest = command;
      if (command.state !== "waiting" || clock.monotonicMs() < mentionAtMs) return;
      log.info(`${name}: the daemon is busy with another run; this one comes next`);
      mentionAtMs = Infinity;
    },
  });
  if (ended === "done" || ended === "failed") return report as CompanyReport;
  if (ended === "gone") {
    log.warn(`${name}: the daemon is gone; going on without it`);
    return null;
  }
  if (ended === "interrupted") log.info(`${name}: no longer followed; the daemon continues the run`);
  return reportIfEnded(run);
}

/** The report of a run that ended before the daemon gave one; null: it has not ended. */
function reportIfEnded({ scope, request, startedAt }: CompanyRun): CompanyReport | null {
  const { clock, signal } = scope.context;
  if (signal.aborted) return emptyReport(clock, startedAt, "interrupted");
  return request.closed.aborted ? emptyReport(clock, startedAt, "stopped") : null;
}

/** Does a daemon hold the company's mirror? */
export function isDaemonThere({ files }: CompanyScope): boolean {
  return lockHolder(files.lock)?.command === "serve";
}
