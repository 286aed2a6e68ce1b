import type { Clock } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { DaemonCommands } from "../../state/daemon-commands.ts";
import type { ReplayResult } from "../../webhook/ingest/ingest.ts";

/** How a replay in the daemon is asked for and waited for. */
export interface RemoteReplay {
  readonly commands: DaemonCommands;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Does a daemon still hold the mirror? */
  readonly isDaemonThere: () => boolean;
  /** For the answer to one command. */
  readonly timeoutMs: number;
}

/** Events of one command: the daemon has other work too. */
const eventsPerCommand = 1_000;
const checkEveryMs = 200;

/**
 * Has the daemon that writes the mirror replay stored events.
 *
 * @throws MirrorError `locked` if it does not answer in time or ends before; what it has not begun is withdrawn
 */
export async function replayRemotely(
  parts: RemoteReplay,
  eventIds: readonly string[],
): Promise<ReplayResult> {
  let sum: ReplayResult = { queued: 0, unread: 0, missing: [] };
  for (let from = 0; from < eventIds.length; from += eventsPerCommand) {
    const { queued, unread, missing } = await answerTo(parts, eventIds.slice(from, from + eventsPerCommand));
    sum = {
      queued: sum.queued + queued,
      unread: sum.unread + unread,
      missing: [...sum.missing, ...missing],
    };
  }
  return sum;
}

async function answerTo(parts: RemoteReplay, ids: readonly string[]): Promise<ReplayResult> {
  const { commands, clock, signal } = parts;
  const id = commands.add("replay", { ids }, { atMs: clock.nowMs(), pid: process.pid });
  const deadlineMs = clock.monotonicMs() + parts.timeoutMs;
  for (;;) {
    const command = commands.find(id);
    if (command?.state === "done") return command.report as ReplayResult;
    if (command?.state === "failed") throw failureOf(command.report);
    const problem = problemNow(parts, deadlineMs);
    if (problem) {
      commands.withdraw(id);
      throw problem;
    }
    await clock.sleep(checkEveryMs, signal);
  }
}

function problemNow({ signal, isDaemonThere, clock }: RemoteReplay, deadlineMs: number): MirrorError | null {
  const hint = "Nothing is lost: run it again.";
  if (signal.aborted) return new MirrorError("stopped", "stopped before the daemon answered", { hint });
  const isThere = isDaemonThere();
  if (isThere && clock.monotonicMs() < deadlineMs) return null;
  const what = isThere ? "the daemon does not answer" : "the daemon ended before it answered";
  return new MirrorError("locked", what, { hint, retryable: true });
}

function failureOf(report: unknown): MirrorError {
  const { error = "it does not say why" } = (report ?? {}) as { readonly error?: string };
  return new MirrorError("database", `the daemon could not do it: ${error}`, { retryable: true });
}
