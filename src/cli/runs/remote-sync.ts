import { existsSync } from "node:fs";
import { mirrorFiles } from "../../config/mirror-files.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import { askDaemon } from "../../daemon/commands/ask-daemon.ts";
import { formatSyncCommand } from "../../daemon/commands/sync-command.ts";
import { emptyReport, type RunRequest } from "../../daemon/runs/company-run.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import { DaemonCommands, type DaemonCommand } from "../../state/daemon-commands.ts";
import { openDatabase, type Db } from "../../store/database.ts";
import { lockHolder } from "../../store/writer-lock.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { CommandContext } from "../program/command.ts";

/** A run that is asked for, and until when. */
export interface TimedRequest extends RunRequest {
  /** Epoch milliseconds when `closed` aborts; null: never. */
  readonly untilMs: number | null;
}

/** What a run of one company is made with, here or in the daemon. */
export interface CompanyRunParts {
  /** Its signal ends the waiting for a daemon, which goes on with the run. */
  readonly context: CommandContext;
  readonly config: Config;
  readonly company: CompanyConfig;
  readonly request: TimedRequest;
  /** When this run was asked for, ISO. */
  readonly startedAt: string;
  readonly show: (view: () => ProgressView | null) => void;
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
export async function followRemoteSync(parts: CompanyRunParts): Promise<CompanyReport | null> {
  const db = await openCommands(parts);
  if (!db) return reportIfEnded(parts);
  try {
    return await follow(parts, new DaemonCommands(db));
  } finally {
    db.close();
  }
}

/** Waits for a daemon that has the lock and is still creating the mirror. Null: it has ended, or the run has. */
async function openCommands(parts: CompanyRunParts): Promise<Db | null> {
  const { mirror } = mirrorFiles(parts.config, parts.company.name);
  const { clock, signal } = parts.context;
  while (!signal.aborted && !parts.request.closed.aborted && isDaemonThere(parts)) {
    const db = existsSync(mirror) ? openDatabase(mirror) : null;
    if (db && DaemonCommands.areIn(db)) return db;
    db?.close();
    await clock.sleep(startCheckMs, signal);
  }
  return null;
}

async function follow(parts: CompanyRunParts, commands: DaemonCommands): Promise<CompanyReport | null> {
  const { request, context, company } = parts;
  const { clock, log, signal } = context;
  log.info(`${company.name}: the daemon holds the mirror and makes this run; following it`);
  let latest: DaemonCommand | null = null;
  parts.show(() => (latest?.state === "running" ? (latest.report as ProgressView | null) : null));
  let mentionAtMs = clock.monotonicMs() + silentMs;
  const { ended, report } = await askDaemon("sync", formatSyncCommand(request, request.untilMs), {
    commands,
    clock,
    signal,
    isDaemonThere: () => isDaemonThere(parts),
    isOver: () => request.closed.aborted,
    graceMs: endGraceMs,
    onProgress: (command) => {
      latest = command;
      if (command.state !== "waiting" || clock.monotonicMs() < mentionAtMs) return;
      log.info(`${company.name}: the daemon is busy with another run; this one comes next`);
      mentionAtMs = Number.POSITIVE_INFINITY;
    },
  });
  if (ended === "done" || ended === "failed") return report as CompanyReport;
  if (ended === "gone") {
    log.warn(`${company.name}: the daemon is gone; going on without it`);
    return null;
  }
  if (ended === "interrupted")
    log.info(`${company.name}: no longer followed; the daemon goes on with the run`);
  return reportIfEnded(parts);
}

/** The report of a run that ended before the daemon gave one; null: it has not ended. */
function reportIfEnded({ context, request, startedAt }: CompanyRunParts): CompanyReport | null {
  const { clock, signal } = context;
  if (signal.aborted) return emptyReport(clock, startedAt, "interrupted");
  return request.closed.aborted ? emptyReport(clock, startedAt, "stopped") : null;
}

function isDaemonThere({ config, company }: CompanyRunParts): boolean {
  return lockHolder(mirrorFiles(config, company.name).lock)?.command === "serve";
}
