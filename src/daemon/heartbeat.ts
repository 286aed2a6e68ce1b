import { isoTime } from "../base/clock.ts";
import type { Mirror } from "../state/mirror.ts";
import { heartbeatMs, type UptimeLog } from "../state/uptime-log.ts";
import type { CompanyStatusView } from "../status/company-status.ts";
import { createErrorGuard } from "../store/transient-errors.ts";
import { createLogWatch } from "../store/write-ahead-log.ts";
import { assertHeld, type WriterLock } from "../store/writer-lock.ts";
import type { DaemonContext } from "./daemon-context.ts";

/** What the heartbeat works with. */
export interface HeartbeatParts {
  readonly mirror: Mirror;
  readonly uptime: UptimeLog;
  readonly context: Pick<DaemonContext, "clock" | "log" | "connections">;
  readonly closed: AbortSignal;
  /** Of the mirror: a daemon without work would not notice that it was replaced. */
  readonly lock: WriterLock;
  /** Can deliveries be verified? Otherwise being up means nothing. */
  readonly receives: () => boolean;
  readonly service: () => CompanyStatusView["service"];
  /** Called after a time without heartbeats while this process was alive. */
  readonly onGap: () => void;
}

const checkEveryMs = 1_000;

/**
 * Writes heartbeats and the state of the service to the mirror, for processes that only read the file.
 *
 * Guarantee: ends with `closed`; a database that fails for up to a minute ends nothing. Rejects within two seconds where
 * the lock file was removed or replaced.
 * Source of truth: the uptime log, and `service` and `dropped_connections` in `_meta`.
 * Worst outcome of a crash: the last heartbeat is up to 15 s old.
 */
export async function runHeartbeat(parts: HeartbeatParts): Promise<void> {
  const { mirror, uptime, closed } = parts;
  const { clock, log } = parts.context;
  const guard = createErrorGuard(clock, log);
  const watchLog = createLogWatch(mirror.db.name, log);
  let beatMs: number | null = null;
  let written: CompanyStatusView["service"] | null = null;
  const noteDropped = createDropNote(parts);
  while (!closed.aborted) {
    const succeeded = guard(() => {
      assertHeld(parts.lock);
      const service = parts.service();
      const { state, message, sinceMs } = service;
      if (state !== written?.state || message !== written.message)
        mirror.apply(() => mirror.meta.set("service", { state, message, since: isoTime(sinceMs) }));
      written = service;
      watchLog();
      noteDropped();
      const nowMs = clock.nowMs();
      if (!parts.receives()) return;
      if (beatMs !== null && nowMs >= beatMs && nowMs - beatMs < heartbeatMs) return;
      if (uptime.beat(nowMs)) parts.onGap();
      beatMs = nowMs;
    });
    await clock.sleep(succeeded ? checkEveryMs : heartbeatMs, closed);
  }
}

/** Writes the count of dropped connections where it changed: clients that open many cause no more writes than a heartbeat. */
function createDropNote({ mirror, context }: HeartbeatParts): () => void {
  const { clock, connections } = context;
  let written: number | null = null;
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  return () => {
    const { dropped } = connections;
    const nowMs = clock.monotonicMs();
    if (dropped === written || nowMs < notBeforeMs) return;
    mirror.apply(() => mirror.meta.set("dropped_connections", dropped));
    if (dropped > 0) notBeforeMs = nowMs + heartbeatMs;
    written = dropped;
  };
}
