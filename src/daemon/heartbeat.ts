import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import type { CompanyStatusView } from "../status/company-status.ts";
import type { Mirror } from "../state/mirror.ts";
import { heartbeatMs, type UptimeLog } from "../state/uptime-log.ts";
import { createErrorGuard } from "../store/transient-errors.ts";

export interface HeartbeatParts {
  readonly mirror: Mirror;
  readonly presence: UptimeLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly closed: AbortSignal;
  /** Deliveries can be verified: being here means something. */
  readonly receives: () => boolean;
  readonly service: () => CompanyStatusView["service"];
  /** Nobody was here for a while. */
  readonly onAbsence: () => void;
}

const everyMs = 1_000;

/** Writes down that we are here, and how the way to the service stands, for those who look at the file only. */
export async function runHeartbeat(parts: HeartbeatParts): Promise<void> {
  const { mirror, presence, clock, closed } = parts;
  const patiently = createErrorGuard(clock, parts.log);
  let beatMs: number | null = null;
  let noted: CompanyStatusView["service"] | null = null;
  while (!closed.aborted) {
    const written = patiently(() => {
      const service = parts.service();
      if (service.state !== noted?.state || service.message !== noted.message)
        mirror.apply(() => mirror.meta.set("service", noteOf(service)));
      noted = service;
      const nowMs = clock.nowMs();
      if (!parts.receives()) return;
      if (beatMs !== null && nowMs >= beatMs && nowMs - beatMs < heartbeatMs) return;
      if (presence.beat(nowMs)) parts.onAbsence();
      beatMs = nowMs;
    });
    await clock.sleep(written ? everyMs : heartbeatMs, closed);
  }
}

function noteOf({ state, message, sinceMs }: CompanyStatusView["service"]) {
  return { state, message, since: new Date(sinceMs).toISOString() };
}
