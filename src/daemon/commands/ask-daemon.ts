import type { Clock } from "../../base/clock.ts";
import type { DaemonCommand, DaemonCommandKind, DaemonCommands } from "../../state/daemon-commands.ts";

/** How a command is given to the daemon, and waited for. */
export interface AskOptions {
  readonly commands: DaemonCommands;
  readonly clock: Clock;
  /** Ends the waiting; the daemon goes on with the command. */
  readonly signal: AbortSignal;
  /** Does a daemon still hold the mirror? */
  readonly isDaemonThere: () => boolean;
  /** Is the asker's time over? The command is withdrawn then, if the daemon has not begun it. */
  readonly isOver: () => boolean;
  /** How long a command that was begun is still waited for when the time is over. @default 0 */
  readonly graceMs?: number;
  /** Gets the command at each look at it, the answered one included. */
  readonly onProgress?: (command: DaemonCommand) => void;
}

/** `done` and `failed` are the daemon's answers; `gone`: it ended before it gave one. */
export interface DaemonAnswer {
  readonly ended: "done" | "failed" | "gone" | "over" | "interrupted";
  /** Null without an answer. */
  readonly report: unknown;
}

const checkEveryMs = 200;

/** Gives a command to the daemon that holds the mirror, and waits until it is answered or nobody will answer. */
export async function askDaemon(
  kind: DaemonCommandKind,
  command: unknown,
  { commands, clock, signal, isDaemonThere, isOver, graceMs = 0, onProgress }: AskOptions,
): Promise<DaemonAnswer> {
  const id = commands.add(kind, command, { atMs: clock.nowMs(), pid: process.pid });
  let overSinceMs: number | null = null;
  for (;;) {
    const found = commands.find(id);
    if (found) onProgress?.(found);
    if (found?.state === "done" || found?.state === "failed")
      return { ended: found.state, report: found.report };
    if (isOver()) {
      overSinceMs ??= clock.monotonicMs();
      const isOverdue = clock.monotonicMs() - overSinceMs >= graceMs;
      if (commands.withdraw(id) || isOverdue) return { ended: "over", report: null };
    }
    if (signal.aborted) return { ended: "interrupted", report: null };
    if (!found || !isDaemonThere()) {
      commands.remove(id);
      return { ended: "gone", report: null };
    }
    await clock.sleep(checkEveryMs, signal);
  }
}
