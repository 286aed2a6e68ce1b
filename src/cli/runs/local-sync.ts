import { makeFolders } from "../../base/atomic-file.ts";
import { eitherSignal } from "../../base/cancellation.ts";
import { MirrorError } from "../../base/errors.ts";
import { withChangedToken } from "../../config/companies.ts";
import { performRun } from "../../runs/company-run.ts";
import { notBegun } from "../../runs/run-request.ts";
import { progressView } from "../../runs/run-progress.ts";
import { connectService } from "../../runs/service-connection.ts";
import { createNotices } from "../../runs/store-notices.ts";
import { openMirror } from "../../state/mirror.ts";
import { guarded } from "../../store/database.ts";
import { createLogWatch } from "../../store/write-ahead-log.ts";
import { lockHolder, takeWriterLock, type WriterLock } from "../../store/writer-lock.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import { Tally } from "../../sync/context/tally.ts";
import { followRemoteSync, type RemoteRun } from "./remote-sync.ts";

/**
 * Makes the run of one company. It takes the writer lock; where a daemon holds the lock, the daemon makes the run,
 * and its report is given. Never rejects with a MirrorError: the report names it.
 */
export async function syncCompany(run: RemoteRun): Promise<CompanyReport> {
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

async function lockOrFollow(run: RemoteRun): Promise<CompanyReport> {
  const { context, config, files } = run.scope;
  guarded(config.dataDir, () => makeFolders(config.dataDir));
  for (let tries = 1; ; tries++) {
    const lock = tryLock(files.lock, tries);
    if (lock) return performWithToken(run, lock).finally(() => lock.release());
    const report = lockHolder(files.lock)?.command === undefined ? null : await followRemoteSync(run);
    if (report) return report;
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
async function performWithToken(asked: RemoteRun, lock: WriterLock): Promise<CompanyReport> {
  const report = await performLocked(asked, lock);
  const company = report.outcome === "unauthenticated" ? withChangedToken(asked.scope.company) : null;
  if (!company) return report;
  const { context } = asked.scope;
  context.keepSecret([company.token.reveal()]);
  context.log.info(`${company.name}: the file of the token has changed: going on with the new token`);
  return performWithToken({ ...asked, scope: { ...asked.scope, company } }, lock);
}

async function performLocked(asked: RemoteRun, lock: WriterLock): Promise<CompanyReport> {
  const { scope, request, show, onListsRead, onListed } = asked;
  const { context, manifest, config, company, files } = scope;
  const { clock, log, signal } = context;
  const limits = { mostRequests: request.mostRequests, closed: request.closed };
  const { transport, rateLimiter, close } = connectService(context, scope, { limits });
  const notices = createNotices(log);
  try {
    const opening = { clock, signal: eitherSignal(signal, request.closed), lock };
    const mirror = await openMirror(files.mirror, manifest, notices.store, opening);
    const opened = { mirror, transport, rateLimiter, tally: new Tally(), notices: notices.begin() };
    const startedMs = clock.monotonicMs();
    const run = { context, config, company, request, signal, startedMs, onListsRead, onListed, ...opened };
    show(() => progressView(run));
    return await performRun(run).finally(() => {
      createLogWatch(files.mirror, log, () => clock.nowMs()).look();
      mirror.close();
    });
  } finally {
    await close();
  }
}
