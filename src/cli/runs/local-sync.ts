import { mkdirSync } from "node:fs";
import { isoTime } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { createNotices } from "../../daemon/runs/store-notices.ts";
import { notBegun, performRun } from "../../daemon/runs/company-run.ts";
import { connectService } from "../../daemon/runs/service-connection.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import { lockHolder, takeWriterLock, type WriterLock } from "../../store/writer-lock.ts";
import { openMirror } from "../../state/mirror.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import { Tally } from "../../sync/context/tally.ts";
import type { CommandContext } from "../program/command.ts";
import { followRemoteSync, type CompanyRunParts, type TimedRequest } from "./remote-sync.ts";
import { progressView } from "../../daemon/runs/run-progress.ts";

/** One company's run, and its progress. */
export interface CompanyRun {
  readonly company: string;
  /** Null before the run begins. */
  view(): ProgressView | null;
  /** Never rejects with a MirrorError: its report names it. */
  run(): Promise<CompanyReport>;
}

/**
 * Prepares the run of one company. It takes the writer lock; where a daemon holds the lock, the daemon makes the
 * run, and its report is given.
 */
export function syncCompany(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  request: TimedRequest,
): CompanyRun {
  let view: () => ProgressView | null = nothingYet;
  return {
    company: company.name,
    view: () => view(),
    run: async () => {
      const startedAt = isoTime(context.clock.nowMs());
      try {
        const show = (shown: () => ProgressView | null) => void (view = shown);
        return await lockOrFollow({ context, config, company, request, startedAt, show });
      } catch (error) {
        if (!(error instanceof MirrorError)) throw error;
        return notBegun(context.clock, startedAt, error);
      }
    },
  };
}

function nothingYet(): null {
  return null;
}

/** The process that holds the lock may just be starting or ending: it is asked again. */
const againMs = 200;
const mostAgain = 10;

async function lockOrFollow(parts: CompanyRunParts): Promise<CompanyReport> {
  const { context, config, company } = parts;
  mkdirSync(config.dataDir, { recursive: true });
  const { clock, signal } = context;
  const files = mirrorFiles(config, company.name);
  for (let tries = 1; ; tries++) {
    const lock = tryLock(files.lock, tries);
    if (lock) return performLocked(parts).finally(() => lock.release());
    if (lockHolder(files.lock)?.command !== undefined) {
      const report = await followRemoteSync(parts);
      if (report) return report;
    }
    await clock.sleep(againMs, signal);
  }
}

/** The lock; null while a daemon holds it, or for a few tries nobody that is known. Throws otherwise. */
function tryLock(file: string, tries: number): WriterLock | null {
  try {
    return takeWriterLock(file, "sync");
  } catch (error) {
    const holder = lockHolder(file)?.command;
    const isLocked = error instanceof MirrorError && error.kind === "locked";
    if (isLocked && (holder === "serve" || (holder === undefined && tries <= mostAgain))) return null;
    throw error;
  }
}

async function performLocked({
  context,
  config,
  company,
  request,
  show,
}: CompanyRunParts): Promise<CompanyReport> {
  const { clock, log, signal } = context;
  const limits = { mostRequests: request.mostRequests, closed: request.closed };
  const service = connectService(context, config, company, { limits });
  const { manifest } = context.connectors[0];
  const notices = createNotices(log);
  try {
    const mirror = await openMirror(mirrorFiles(config, company.name).mirror, manifest, notices.store);
    const { transport, rateLimiter } = service;
    const opened = { mirror, transport, rateLimiter, tally: new Tally(), notices: notices.begin() };
    const run = { context, config, company, request, signal, startedMs: clock.monotonicMs(), ...opened };
    show(() => progressView(run));
    return await performRun(run).finally(() => mirror.close());
  } finally {
    await service.close();
  }
}
