import { execFile } from "node:child_process";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";

/** What `serve` reports to the program that started it. */
export interface ServiceManager {
  /** The receiver answers. From now on the watchdog hears of it until `signal` aborts. */
  ready(signal: AbortSignal): void;
  stopping(): void;
}

/** What a ServiceManager works with. */
export interface SystemdParts {
  /** NOTIFY_SOCKET and WATCHDOG_USEC are systemd's; without the first, nothing is sent. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

const programTimeoutMs = 5_000;

/**
 * Reports to systemd (`Type=notify`, `WatchdogSec`) that the daemon is ready, alive and stopping. Node has no Unix datagrams,
 * so systemd's own program sends them: the unit needs `NotifyAccess=all`. A process that stands still sends none, and
 * is restarted.
 */
export function createSystemd({ env, clock, log }: SystemdParts): ServiceManager {
  let hasFailed = false;
  const send = (...states: readonly string[]) => {
    if (!env["NOTIFY_SOCKET"]) return;
    execFile("systemd-notify", states, { env: { ...env }, timeout: programTimeoutMs }, (error) => {
      if (error && !hasFailed) log.warn(`systemd-notify failed: ${error.message.trim()}`);
      hasFailed = error !== null;
    });
  };
  return {
    ready: (signal) => {
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
