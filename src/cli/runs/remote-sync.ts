import { existsSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import { syncCommandOf } from "../../daemon/commands/sync-command.ts";
import { emptyReport, type RunRequest } from "../../daemon/runs/company-run.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import { lockingCommand } from "../../store/writer-lock.ts";
import { DaemonCommands, type DaemonCommand } from "../../state/daemon-commands.ts";
import { openDatabase, type Db } from "../../store/database.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";

export interface FollowParts {
  readonly company: string;
  readonly files: { readonly mirror: string; readonly lock: string };
  readonly asked: RunRequest;
  /** Wall clock: the time given is over then; null: it may take what it takes. */
  readonly untilMs: number | null;
  /** When this run was asked for, ISO. */
  readonly startedAt: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the following only. */
  readonly signal: AbortSignal;
  readonly show: (view: () => ProgressView | null) => void;
}

const lookEveryMs = 250;
const silentForMs = 3_000;
/** The daemon ends a run whose time is over by itself, when what is in flight is done. */
const overMs = 30_000;

/**
 * Hands the run to the daemon that holds the mirror, and follows it there. Null: the daemon is gone, and
 * the run is ours again.
 */
export async function followRemoteSync(parts: FollowParts): Promise<CompanyReport | null> {
  const db = await openOrders(parts);
  if (!db) return endOf(parts);
  try {
    const orders = new DaemonCommands(db);
    const asker = { atMs: parts.clock.nowMs(), pid: process.pid };
    const id = orders.add("sync", syncCommandOf(parts.asked, parts.untilMs), asker);
    parts.log.info(`${parts.company}: the daemon holds the mirror and makes this run; following it`);
    return await follow(parts, orders, id);
  } finally {
    db.close();
  }
}

async function follow(parts: FollowParts, orders: DaemonCommands, id: number): Promise<CompanyReport | null> {
  const { clock, signal, asked, log, company } = parts;
  let latest: DaemonCommand | null = null;
  parts.show(() => (latest?.state === "running" ? (latest.report as ProgressView | null) : null));
  const patient = sayOnce(parts);
  let overSinceMs: number | null = null;
  for (;;) {
    latest = orders.get(id);
    patient(latest?.state === "waiting");
    if (latest?.state === "done" || latest?.state === "failed") return latest.report as CompanyReport;
    if (signal.aborted) {
      log.info(`${company}: no longer followed; the daemon goes on with the run`);
      return ended(parts, "interrupted");
    }
    if (asked.closed.aborted) {
      overSinceMs ??= clock.monotonicMs();
      if (orders.withdraw(id) || clock.monotonicMs() - overSinceMs > overMs) return ended(parts, "stopped");
    }
    if (latest === null || !isHeld(parts)) {
      orders.forget(id);
      log.warn(`${company}: the daemon is gone; going on without it`);
      return null;
    }
    await clock.sleep(lookEveryMs, signal);
  }
}

/** Tells once that the daemon does something else first. */
function sayOnce({ clock, log, company }: FollowParts): (waits: boolean) => void {
  const sayAtMs = clock.monotonicMs() + silentForMs;
  let said = false;
  return (waits) => {
    if (said || !waits || clock.monotonicMs() < sayAtMs) return;
    said = true;
    log.info(`${company}: the daemon is busy with another run; this one comes next`);
  };
}

/** Null: neither was it interrupted, nor is its time over. */
function endOf(parts: FollowParts): CompanyReport | null {
  if (parts.signal.aborted) return ended(parts, "interrupted");
  return parts.asked.closed.aborted ? ended(parts, "stopped") : null;
}

function ended({ clock, startedAt }: FollowParts, outcome: "stopped" | "interrupted"): CompanyReport {
  return emptyReport(clock, startedAt, outcome);
}

function isHeld({ files }: FollowParts): boolean {
  return lockingCommand(files.lock) === "serve";
}

/** Waits for a daemon that has the lock and is still making the mirror. Null: it is gone, or the signal came. */
async function openOrders(parts: FollowParts): Promise<Db | null> {
  const { files, signal, asked, clock } = parts;
  while (!signal.aborted && !asked.closed.aborted && isHeld(parts)) {
    const db = existsSync(files.mirror) ? openDatabase(files.mirror) : null;
    if (db && takesOrders(db)) return db;
    db?.close();
    await clock.sleep(lookEveryMs, signal);
  }
  return null;
}

function takesOrders(db: Db): boolean {
  return (
    db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_orders'").get() !== undefined
  );
}
