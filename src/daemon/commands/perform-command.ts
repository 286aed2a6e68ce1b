import { isoTime, type Clock } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import { notBegun, type RunRequest } from "../../runs/company-run.ts";
import type { RunQueue } from "../../runs/run-queue.ts";
import type { PruneReport } from "../../state/retention/prune-mirror.ts";
import type { ReplayResult } from "../../webhook/ingest/ingest.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { CommandServerParts, PerformedCommand } from "./command-server.ts";

/** What a `sync` asks of the daemon. */
type SyncCommand = Omit<RunRequest, "resources" | "closed"> & {
  /** Table names. */
  readonly resources: readonly string[];
  /** Epoch milliseconds when the run's time is over, begun or not; null: never. */
  readonly untilMs: number | null;
};

export interface PerformParts {
  readonly manifest: Manifest;
  readonly clock: Clock;
  readonly closed: AbortSignal;
  readonly runQueue: Pick<RunQueue, "run">;
  readonly replay: (eventIds: readonly string[]) => ReplayResult;
  readonly prune: () => Promise<PruneReport>;
  /** Progress of the run that does this request; null: it has not begun. */
  readonly progressOf: (request: RunRequest) => ProgressView | null;
}

const eventsAtOnce = 1_000;

const noProgress = () => null;

/** Gives what does the commands of other processes. What `closed` cuts off gets no answer. */
export function createPerform(parts: PerformParts): CommandServerParts["perform"] {
  return ({ kind, options, pid }, isWaitedFor) => {
    if (kind === "sync") return performSync(parts, options, pid, isWaitedFor);
    if (kind === "replay") return { report: performReplay(parts, options), progress: noProgress };
    const pruned = parts.prune();
    return { report: pruned.then((report) => (report.finished ? report : undefined)), progress: noProgress };
  };
}

/** The daemon has other work between two portions. */
async function performReplay({ replay }: PerformParts, options: unknown): Promise<ReplayResult> {
  const { ids } = options as { readonly ids: readonly string[] };
  const sum = { queued: 0, unread: 0, missing: [] as string[], pruned: [] as string[] };
  for (let from = 0; from < ids.length; from += eventsAtOnce) {
    const { queued, unread, missing, pruned } = replay(ids.slice(from, from + eventsAtOnce));
    sum.queued += queued;
    sum.unread += unread;
    sum.missing.push(...missing);
    sum.pruned.push(...pruned);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return sum;
}

function performSync(
  parts: PerformParts,
  options: unknown,
  pid: number,
  isWaitedFor: () => boolean,
): PerformedCommand {
  const { clock, closed, runQueue, progressOf } = parts;
  const ended = new AbortController();
  const request = parseSyncCommand(options, parts, AbortSignal.any([ended.signal, closed]));
  const isNeeded = () => isWaitedFor() && !request.closed.aborted;
  const startedAt = isoTime(clock.nowMs());
  const report = runQueue
    .run(request, `asked for by process ${pid}`, isNeeded)
    .catch((error: unknown) => notBegun(clock, startedAt, error))
    .finally(() => ended.abort());
  return {
    report: report.then((made) => (made && (isWhole(made) || !closed.aborted) ? made : undefined)),
    progress: () => {
      try {
        return progressOf(request);
      } catch {
        // The next one is as good.
        return null;
      }
    },
  };
}

function isWhole({ outcome }: CompanyReport): boolean {
  return outcome === "complete" || outcome === "partial";
}

/** Writes a request as a command's options. */
export function formatSyncCommand(request: RunRequest, untilMs: number | null): SyncCommand {
  const { closed: _, ...flags } = request;
  return { ...flags, resources: request.resources.map(({ name }) => name), untilMs };
}

/** Throws MirrorError `usage` for tables that only another version knows. */
function parseSyncCommand(
  options: unknown,
  { manifest, clock }: PerformParts,
  ended: AbortSignal,
): RunRequest {
  const { resources: names, untilMs, ...flags } = options as SyncCommand;
  const resources = manifest.resources.filter(({ name }) => names.includes(name));
  if (resources.length === 0 || resources.length !== names.length)
    throw new MirrorError("usage", "the command names tables that this daemon does not know", {
      hint: "Run the same version of fintoro-mirror as the daemon, or restart the daemon.",
    });
  const over = new AbortController();
  if (untilMs !== null)
    void clock.sleep(Math.max(0, untilMs - clock.nowMs()), ended).then(() => over.abort());
  return { ...flags, resources, closed: over.signal };
}
