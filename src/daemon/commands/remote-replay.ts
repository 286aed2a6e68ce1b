import { MirrorError } from "../../base/errors.ts";
import type { ReplayResult } from "../../webhook/ingest/ingest.ts";
import { askDaemon, type AskOptions } from "./ask-daemon.ts";

/** How a replay in the daemon is asked for; `timeoutMs` is for the answer to one command. */
export interface RemoteReplay extends Pick<AskOptions, "commands" | "clock" | "signal" | "isDaemonThere"> {
  readonly timeoutMs: number;
}

/** Events of one command: the daemon has other work too. */
const eventsPerCommand = 1_000;

/**
 * Has the daemon that writes the mirror replay stored events.
 *
 * @throws MirrorError `locked` if it does not answer in time or ends before; what it has not begun is withdrawn
 */
export async function replayRemotely(parts: RemoteReplay, ids: readonly string[]): Promise<ReplayResult> {
  const sum = { queued: 0, unread: 0, missing: [] as string[], pruned: [] as string[] };
  for (let from = 0; from < ids.length; from += eventsPerCommand) {
    const { queued, unread, missing, pruned } = await answerTo(
      parts,
      ids.slice(from, from + eventsPerCommand),
    );
    sum.queued += queued;
    sum.unread += unread;
    sum.missing.push(...missing);
    sum.pruned.push(...pruned);
  }
  return sum;
}

async function answerTo(parts: RemoteReplay, ids: readonly string[]): Promise<ReplayResult> {
  const { clock, signal, timeoutMs } = parts;
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  const isOver = () => signal.aborted || clock.monotonicMs() >= deadlineMs;
  const { ended, report } = await askDaemon("replay", { ids }, { ...parts, isOver });
  if (ended === "done") return report as ReplayResult;
  if (ended === "failed") {
    const { error = "it does not say why" } = (report ?? {}) as { readonly error?: string };
    throw new MirrorError("database", `the daemon could not do it: ${error}`, { retryable: true });
  }
  const hint = "Nothing is lost: run it again.";
  if (signal.aborted) throw new MirrorError("stopped", "stopped before the daemon answered", { hint });
  const what = ended === "gone" ? "the daemon ended before it answered" : "the daemon does not answer";
  throw new MirrorError("locked", what, { hint, retryable: true });
}
