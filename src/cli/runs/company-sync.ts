import { makeFolders } from "../../base/files/atomic-file.ts";
import { eitherSignal } from "../../base/cancellation.ts";
import { MirrorError } from "../../base/errors.ts";
import { withChangedToken } from "../../config/companies.ts";
import { performRun, type CompanyRun } from "../../runs/company-run.ts";
import { emptySummary, notBegun, type RunSummary } from "../../sync/context/run-summary.ts";
import { progressView } from "../../runs/run-progress.ts";
import { connectService } from "../../runs/service-connection.ts";
import { openMirror } from "../../state/mirror.ts";
import { guarded } from "../../store/database.ts";
import { createLogWatch } from "../../store/write-ahead-log.ts";
import { lockHolder, takeWriterLock, type WriterLock } from "../../store/writer-lock.ts";
import { Tally } from "../../sync/context/tally.ts";
import { askDaemon, formatSyncOptions } from "../../host/commands.ts";
import type { ProgressView } from "../../log/progress.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";

export interface RemoteRun extends Required<Pick<CompanyRun, "request" | "onListed">> {
  readonly scope: CompanyScope;
  /** Epoch milliseconds when `request.closed` aborts; null: never. */
  readonly untilMs: number | null;
  readonly startedAt: string;
  /** Takes what gives the run's progress; null before it begins. */
  readonly show: (view: () => ProgressView | null) => void;
}

/**
 * Makes the run of one company. It takes the writer lock; where a daemon holds the lock, the daemon makes the run,
 * and its summary is given. Never rejects with a MirrorError: the summary names it.
 */
export async function syncCompany(run: RemoteRun): Promise<RunSummary> {
  try {
    return await lockOrFollow(run);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    return notBegun(run.scope.context.clock, run.startedAt, error);
  }
}

/** The process that holds the lock may just be starting or ending: it is asked again. */
const againMs = 200;
const mostAgain = 10;

async function lockOrFollow(run: RemoteRun): Promise<RunSummary> {
  const { context, config, files } = run.scope;
  guarded(config.dataDir, () => makeFolders(config.dataDir));
  for (let tries = 1; ; tries++) {
    const lock = tryLock(files.lock, tries);
    if (lock) return performWithToken(run, lock).finally(() => lock.release());
    const summary = lockHolder(files.lock)?.command === undefined ? null : await followRemoteSync(run);
    if (summary) return summary;
    await context.clock.sleep(againMs, context.signal);
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

/** Makes the run, and once more with a token that came into its file since, where the service refused the old one. */
async function performWithToken(asked: RemoteRun, lock: WriterLock): Promise<RunSummary> {
  const summary = await performLocked(asked, lock);
  const company = summary.outcome === "unauthenticated" ? withChangedToken(asked.scope.company) : null;
  if (!company) return summary;
  const { context } = asked.scope;
  context.onSecrets([company.token.reveal()]);
  context.log.info(`${company.name}: the file of the token has changed: going on with the new token`);
  return performWithToken({ ...asked, scope: { ...asked.scope, company } }, lock);
}

async function performLocked(asked: RemoteRun, lock: WriterLock): Promise<RunSummary> {
  const { scope, request, show, onListed } = asked;
  const { context, declaration, config, company, files } = scope;
  const { clock, log, signal } = context;
  await using service = connectService(context, scope, { limits: request });
  const { transport, rateLimiter } = service;
  const opening = { clock, log, signal: eitherSignal(signal, request.closed), lock };
  using mirror = await openMirror(files.mirror, declaration, opening);
  const opened = { mirror, transport, rateLimiter, tally: new Tally() };
  const startedMs = clock.monotonicMs();
  const run = { context, config, company, request, signal, startedMs, onListed, ...opened };
  show(() => progressView(run));
  return await performRun(run).finally(() => createLogWatch(files.mirror, log, () => clock.nowMs()).look());
}

/** After so many lines of the daemon, one a second, a run that still waits for another one is mentioned. */
const mostSilent = 3;

/**
 * Has the daemon that holds the mirror make the run, and waits for its summary. Null: the daemon has ended, or does not
 * take commands yet. Throws MirrorError `usage` for what the daemon cannot do.
 */
export async function followRemoteSync(run: RemoteRun): Promise<RunSummary | null> {
  const { request, untilMs, scope } = run;
  const { log, signal } = scope.context;
  const { name } = scope.company;
  const early = summaryIfEnded(run);
  if (early) return early;
  const over = new AbortController();
  let latest: ProgressView | null | undefined;
  let waited = 0;
  const onProgress = (progress: ProgressView | null) => {
    if (latest === undefined)
      log.info(`${name}: the daemon holds the mirror and makes this run; following it`);
    latest = progress;
    // The daemon itself ends a run that has begun.
    if (progress) return;
    if (request.closed.aborted) over.abort();
    else if (waited++ === mostSilent)
      log.info(`${name}: the daemon is busy with another run; this one comes next`);
  };
  run.show(() => latest ?? null);
  const command = { kind: "sync", options: formatSyncOptions(request, untilMs) } as const;
  try {
    const until = AbortSignal.any([signal, over.signal]);
    return (await askDaemon(scope.files.socket, command, until, onProgress)) as RunSummary;
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const { kind, message } = error;
    if (kind === "database") throw new MirrorError("usage", message);
    if (kind === "locked" && latest !== undefined && !request.closed.aborted)
      log.warn(`${name}: the daemon is gone; going on without it`);
    if (kind === "stopped" && signal.aborted)
      log.info(
        `${name}: no longer followed; the daemon ${latest ? "continues the run" : "does not begin it"}`,
      );
  }
  return summaryIfEnded(run);
}

/** The summary of a run that ended before the daemon gave one; null: it has not ended. */
function summaryIfEnded({ scope, request, startedAt }: RemoteRun): RunSummary | null {
  const { clock, signal } = scope.context;
  if (signal.aborted) return emptySummary(clock, startedAt, "interrupted");
  return request.closed.aborted ? emptySummary(clock, startedAt, "stopped") : null;
}
