import { existsSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import { formatSyncCommand } from "../../daemon/commands/sync-command.ts";
import { emptyReport, type RunRequest } from "../../daemon/runs/company-run.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import { DaemonCommands, type DaemonCommand } from "../../state/daemon-commands.ts";
import { openDatabase, type Db } from "../../store/database.ts";
import { lockingCommand } from "../../store/writer-lock.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";

/** What a run in the daemon is asked for and followed with. */
export interface RemoteSyncParts {
  readonly company: string;
  readonly files: { readonly mirror: string; readonly lock: string };
  readonly asked: RunRequest;
  /** Epoch milliseconds when the given time is over; null: never. */
  readonly untilMs: number | null;
  /** When this run was asked for, ISO. */
  readonly startedAt: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the waiting; the daemon goes on with the run. */
  readonly signal: AbortSignal;
  readonly show: (view: () => ProgressView | null) => void;
}

const checkEveryMs = 250;
/** After this time a run that still waits for another one is mentioned. */
const silentMs = 3_000;
/** The daemon itself ends a run whose time is over; after this time it is no longer waited for. */
const endGraceMs = 30_000;

/**
 * Has the daemon that holds the mirror make the run, and waits for its report. Null: the daemon has ended, and the
 * run is to be made here.
 */
export async function followRemoteSync(parts: RemoteSyncParts): Promise<CompanyReport | null> {
  const { signal, asked } = parts;
  const db = await openCommands(parts);
  if (!db)
    return signal.aborted
      ? ended(parts, "interrupted")
      : asked.closed.aborted
        ? ended(parts, "stopped")
        : null;
  try {
    return await follow(parts, new DaemonCommands(db));
  } finally {
    db.close();
  }
}

/** Waits for a daemon that has the lock and is still creating the mirror. Null: it has ended, or a signal came. */
async function openCommands(parts: RemoteSyncParts): Promise<Db | null> {
  const { files, signal, asked, clock } = parts;
  while (!signal.aborted && !asked.closed.aborted && isDaemonThere(parts)) {
    const db = existsSync(files.mirror) ? openDatabase(files.mirror) : null;
    if (db && DaemonCommands.areIn(db)) return db;
    db?.close();
    await clock.sleep(checkEveryMs, signal);
  }
  return null;
}

async function follow(parts: RemoteSyncParts, commands: DaemonCommands): Promise<CompanyReport | null> {
  const { clock, signal, asked, log, company } = parts;
  const asker = { atMs: clock.nowMs(), pid: process.pid };
  const id = commands.add("sync", formatSyncCommand(asked, parts.untilMs), asker);
  log.info(`${company}: the daemon holds the mirror and makes this run; following it`);
  let latest: DaemonCommand | null = null;
  parts.show(() => (latest?.state === "running" ? (latest.report as ProgressView | null) : null));
  const mentionWaiting = onceAfter(clock, silentMs, () =>
    log.info(`${company}: the daemon is busy with another run; this one comes next`),
  );
  let overSinceMs: number | null = null;
  for (;;) {
    latest = commands.find(id);
    if (latest?.state === "waiting") mentionWaiting();
    if (latest?.state === "done" || latest?.state === "failed") return latest.report as CompanyReport;
    if (signal.aborted) {
      log.info(`${company}: no longer followed; the daemon goes on with the run`);
      return ended(parts, "interrupted");
    }
    if (asked.closed.aborted) {
      overSinceMs ??= clock.monotonicMs();
      const isOverdue = clock.monotonicMs() - overSinceMs > endGraceMs;
      if (commands.withdraw(id) || isOverdue) return ended(parts, "stopped");
    }
    if (latest === null || !isDaemonThere(parts)) {
      commands.remove(id);
      log.warn(`${company}: the daemon is gone; going on without it`);
      return null;
    }
    await clock.sleep(checkEveryMs, signal);
  }
}

/** A function that calls `step` once, at the first call after `ms`. */
function onceAfter(clock: Clock, ms: number, step: () => void): () => void {
  let dueMs = clock.monotonicMs() + ms;
  return () => {
    if (clock.monotonicMs() < dueMs) return;
    dueMs = Number.POSITIVE_INFINITY;
    step();
  };
}

function ended({ clock, startedAt }: RemoteSyncParts, outcome: "stopped" | "interrupted"): CompanyReport {
  return emptyReport(clock, startedAt, outcome);
}

function isDaemonThere({ files }: RemoteSyncParts): boolean {
  return lockingCommand(files.lock) === "serve";
}
