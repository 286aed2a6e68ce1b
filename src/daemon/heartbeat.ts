import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import type { StationView } from "../status/company-status.ts";
import type { Mirror } from "../store/apply/mirror.ts";
import { heartbeatMs, type Presence } from "../state/uptime-log.ts";
import { createTolerance } from "./error-guard.ts";

export interface PulseParts {
  readonly mirror: Mirror;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly log: Log;
  readonly closed: AbortSignal;
  /** Deliveries can be verified: being here means something. */
  readonly receives: () => boolean;
  readonly service: () => StationView["service"];
  /** Nobody was here for a while. */
  readonly onAbsence: () => void;
}

const everyMs = 1_000;

/** Writes down that we are here, and how the way to the service stands, for those who look at the file only. */
export async function pulse(parts: PulseParts): Promise<void> {
  const { mirror, presence, clock, closed } = parts;
  const patiently = createTolerance(clock, parts.log);
  let beatMs: number | null = null;
  let noted: StationView["service"] | null = null;
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

function noteOf({ state, message, sinceMs }: StationView["service"]) {
  return { state, message, since: new Date(sinceMs).toISOString() };
}
