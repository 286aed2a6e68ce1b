import { execFile } from "node:child_process";
import type { ProcessContext } from "../../runs/process-context.ts";
import type { CommandContext } from "./command.ts";

/** NOTIFY_SOCKET and WATCHDOG_USEC of `env` are systemd's; without the first, nothing is sent. */
type SystemdParts = Pick<CommandContext, "env"> & Pick<ProcessContext, "clock" | "log">;

const programTimeoutMs = 5_000;

/**
 * Reports to systemd (`Type=notify`, `WatchdogSec`) that the daemon is ready, alive and stopping. Node has no Unix
 * datagrams, so systemd's own program sends them: the unit needs `NotifyAccess=all`. A process that stands still sends
 * none, and is restarted.
 */
export function createSystemd({ env, clock, log }: SystemdParts) {
  let hasFailed = false;
  const send = (...states: readonly string[]) => {
    if (!env["NOTIFY_SOCKET"]) return;
    execFile("systemd-notify", states, { env: { ...env }, timeout: programTimeoutMs }, (error) => {
      if (error && !hasFailed) log.warn(`systemd-notify failed: ${error.message.trim()}`);
      hasFailed = error !== null;
    });
  };
  return {
    /** The receiver answers. From now on the watchdog hears of it until `signal` aborts. */
    ready: (signal: AbortSignal) => {
      send("READY=1", "STATUS=receiving");
      const everyMs = Number(env["WATCHDOG_USEC"] ?? 0) / 1000 / 3;
      if (everyMs > 0) void feedWatchdog(everyMs, signal);
    },
    stopping: () => send("STOPPING=1"),
  };

  async function feedWatchdog(everyMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      send("WATCHDOG=1");
      await clock.sleep(everyMs, signal);
    }
  }
}
