import { askDaemon, formatSyncOptions } from "../../daemon/commands/ask-daemon.ts";
import { MirrorError } from "../../base/errors.ts";
import { emptyReport, notBegun, type RunRequest } from "../../runs/run-request.ts";
import type { ProgressView } from "../../log/progress.ts";
import { lockHolder } from "../../store/writer-lock.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";

/** What a run of one company is made with, here or in the daemon. */
export interface RemoteRun {
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

/** After this time a run that still waits for another one is mentioned. */
const silentMs = 3_000;
/** The daemon itself ends a run whose time is over; after this time it is no longer waited for. */
const endGraceMs = 30_000;

/**
 * Has the daemon that holds the mirror make the run, and waits for its report. Null: the daemon has ended, or does not
 * take commands yet.
 */
export async function followRemoteSync(run: RemoteRun): Promise<CompanyReport | null> {
  const { request, untilMs, scope } = run;
  const { clock, log, signal } = scope.context;
  const { name } = scope.company;
  const early = reportIfEnded(run);
  if (early) return early;
  const ended = new AbortController();
  let latest: ProgressView | null = null;
  const onOver = () => void clock.sleep(latest ? endGraceMs : 0, ended.signal).then(() => ended.abort());
  let isFollowed = false;
  const onProgress = (progress: ProgressView | null) => {
    if (!isFollowed) {
      isFollowed = true;
      log.info(`${name}: the daemon holds the mirror and makes this run; following it`);
      const sayBusy = () => {
        if (latest === null && !ended.signal.aborted)
          log.info(`${name}: the daemon is busy with another run; this one comes next`);
      };
      void clock.sleep(silentMs, ended.signal).then(sayBusy);
    }
    latest = progress;
  };
  run.show(() => latest);
  request.closed.addEventListener("abort", onOver);
  const command = { kind: "sync", options: formatSyncOptions(request, untilMs) } as const;
  const until = AbortSignal.any([signal, ended.signal]);
  const answer = await askDaemon(scope.files.socket, command, until, onProgress);
  request.closed.removeEventListener("abort", onOver);
  ended.abort();
  if (answer.ended === "done") return answer.report as CompanyReport;
  if (answer.ended === "failed")
    return notBegun(clock, run.startedAt, new MirrorError("usage", `the daemon refuses it: ${answer.error}`));
  if (answer.ended === "gone" && !request.closed.aborted)
    log.warn(`${name}: the daemon is gone; going on without it`);
  if (answer.ended === "interrupted" && signal.aborted)
    log.info(`${name}: no longer followed; the daemon ${latest ? "continues the run" : "does not begin it"}`);
  return reportIfEnded(run);
}

/** The report of a run that ended before the daemon gave one; null: it has not ended. */
function reportIfEnded({ scope, request, startedAt }: RemoteRun): CompanyReport | null {
  const { clock, signal } = scope.context;
  if (signal.aborted) return emptyReport(clock, startedAt, "interrupted");
  return request.closed.aborted ? emptyReport(clock, startedAt, "stopped") : null;
}

/** Does a daemon hold the company's mirror? */
export function isDaemonThere({ files }: CompanyScope): boolean {
  return lockHolder(files.lock)?.command === "serve";
}
