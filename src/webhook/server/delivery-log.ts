import type { Clock } from "../../base/clock.ts";
import type { Log, LogFields } from "../../base/logger.ts";

const quietMs = 10_000;
/** Kinds are few and ours; this only bounds what a mistake could cost. */
const mostKinds = 1_000;

/**
 * Warnings that anybody who can reach the port can cause: of each kind one line in ten seconds, with how many
 * there were since the last one.
 */
export function createRefusalLog(log: Log, clock: Clock) {
  const kinds = new Map<string, { toldAtMs: number; since: number }>();
  return (kind: string, message: string, fields: LogFields): void => {
    const nowMs = clock.monotonicMs();
    const known = kinds.get(kind);
    if (known && nowMs - known.toldAtMs < quietMs) {
      known.since++;
      return;
    }
    if (kinds.size >= mostKinds) kinds.clear();
    kinds.set(kind, { toldAtMs: nowMs, since: 0 });
    log.warn(message, known && known.since > 0 ? { ...fields, unreported: known.since } : fields);
  };
}
