import { isoTime, type Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import {
  isAlive,
  type DaemonCommand,
  type DaemonCommandKind,
  type DaemonCommands,
} from "../../state/daemon-commands.ts";
import type { PruneReport } from "../../state/retention/prune-mirror.ts";
import { createErrorGuard } from "../../store/transient-errors.ts";
import { notBegun, type RunRequest } from "../../runs/company-run.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import type { RunQueue, RunUnderWay } from "../../runs/run-queue.ts";
import { parseSyncCommand } from "./sync-command.ts";

export interface CommandLoopParts {
  readonly manifest: Manifest;
  readonly commands: DaemonCommands;
  readonly runQueue: Pick<RunQueue, "run"> & { readonly current: Pick<RunUnderWay, "endScrub"> | null };
  readonly context: Pick<ProcessContext, "clock" | "log">;
  readonly closed: AbortSignal;
  /** Replays these events; gives the answer to the command. */
  readonly replay: (eventIds: readonly string[]) => unknown;
  readonly prune: () => Promise<PruneReport>;
  /** Progress of the run that does this request; null: it has not begun. */
  readonly progressOf: (request: RunRequest) => ProgressView | null;
}

const checkEveryMs = 1_000;
const afterFailureMs = 10_000;

/**
 * Does what other processes ask for: one replay at a time, and beside it one sync and one prune at a time.
 *
 * Guarantee: ends with `closed`, and never because of a command.
 * Source of truth: table `_commands`.
 * Worst outcome of a crash, or of our own end in the middle of a sync: the command is left as it is, and the next
 * writer of the mirror does it.
 */
export async function processCommands(parts: CommandLoopParts): Promise<void> {
  await Promise.all([
    processKind(parts, "replay", doReplay),
    processKind(parts, "sync", doSync),
    processKind(parts, "prune", doPrune),
  ]);
}

/** `perform` never rejects. */
async function processKind(
  parts: CommandLoopParts,
  kind: DaemonCommandKind,
  perform: (parts: CommandLoopParts, command: DaemonCommand) => Promise<void>,
): Promise<void> {
  const { commands, context, closed } = parts;
  const { clock, log } = context;
  const guard = createErrorGuard(clock, log);
  while (!closed.aborted) {
    let begun: DaemonCommand | null = null;
    const succeeded = guard(() => {
      const command = commands.next(kind);
      begun = command && commands.start(command.id) ? command : null;
    });
    if (begun) await perform(parts, begun);
    else await clock.sleep(succeeded ? checkEveryMs : afterFailureMs, closed);
  }
}

async function doReplay(parts: CommandLoopParts, { id, options }: DaemonCommand): Promise<void> {
  const { ids = [] } = (options ?? {}) as { readonly ids?: readonly string[] };
  try {
    return await answer(parts, id, "done", parts.replay(ids));
  } catch (error) {
    return answer(parts, id, "failed", { error: messageOf(error) });
  }
}

/** One that `closed` cuts off is left to the next writer. */
async function doPrune(parts: CommandLoopParts, { id }: DaemonCommand): Promise<void> {
  try {
    const report = await parts.prune();
    if (report.finished) await answer(parts, id, "done", report);
  } catch (error) {
    await answer(parts, id, "failed", { error: messageOf(error) });
  }
}

async function doSync(parts: CommandLoopParts, command: DaemonCommand): Promise<void> {
  const { runQueue, manifest, context, closed } = parts;
  const { clock, log } = context;
  const { id, options, pid } = command;
  const startedAt = isoTime(clock.nowMs());
  const ended = new AbortController();
  const until = AbortSignal.any([ended.signal, closed]);
  log.info("another process asks for a sync", { command: id, pid });
  try {
    const request = parseSyncCommand(options, manifest, (untilMs) => abortingAt(clock, untilMs, until));
    void showProgress(parts, command, request, until);
    void yieldScrub(parts, until);
    const report = await runQueue.run(request, `asked for by process ${pid}`);
    const isCutOff = closed.aborted && report?.outcome !== "complete" && report?.outcome !== "partial";
    if (report && !isCutOff) await answer(parts, id, "done", report);
  } catch (error) {
    log.error("a sync that was asked for failed", { command: id, error: messageOf(error) });
    await answer(parts, id, "done", notBegun(clock, startedAt, error));
  } finally {
    ended.abort();
  }
}

/** Ends the scrub of the sync under way when another one is asked for: a scrub keeps nobody waiting. */
async function yieldScrub(
  { commands, runQueue, context: { clock, log } }: CommandLoopParts,
  ended: AbortSignal,
): Promise<void> {
  const guard = createErrorGuard(clock, log);
  for (; !ended.aborted; await clock.sleep(checkEveryMs, ended)) {
    guard(() => {
      if (commands.next("sync")) runQueue.current?.endScrub();
    });
  }
}

/** Tries until the answer is written or `closed`: the asker waits for it. */
async function answer(
  { commands, context: { clock, log }, closed }: CommandLoopParts,
  id: number,
  state: "done" | "failed",
  report: unknown,
): Promise<void> {
  do {
    try {
      commands.finish(id, state, report, clock.nowMs());
      return;
    } catch (error) {
      log.warn("the answer to a command cannot be written yet", { command: id, error: messageOf(error) });
      await clock.sleep(checkEveryMs, closed);
    }
  } while (!closed.aborted);
}

async function showProgress(
  { commands, context: { clock }, progressOf }: CommandLoopParts,
  { id, pid }: DaemonCommand,
  request: RunRequest,
  ended: AbortSignal,
): Promise<void> {
  for (; !ended.aborted; await clock.sleep(checkEveryMs, ended)) {
    if (!isAlive(pid)) continue;
    try {
      const view = progressOf(request);
      if (view) commands.setProgress(id, view);
    } catch {
      // The next one is as good.
    }
  }
}

/** A signal that aborts at that time, or when `ended` does. */
function abortingAt(clock: Clock, untilMs: number | null, ended: AbortSignal): AbortSignal {
  const over = new AbortController();
  if (untilMs !== null)
    void clock.sleep(Math.max(0, untilMs - clock.nowMs()), ended).then(() => over.abort());
  return over.signal;
}
