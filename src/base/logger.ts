import type { Clock } from "./clock.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export type LogFields = Readonly<Record<string, unknown>>;

/** Every layer logs here; `log/` decides where and how the lines are written. */
export type Log = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>;

const nothing = () => undefined;
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const defaultQuietMs = 10_000;
/** Of a flood that goes on for days there is still a line as often as this. */
const longestQuietMs = 600_000;
/** Kinds are few; this bounds the memory if that is ever wrong. */
const maxKinds = 1_000;

export type SeldomLog = (kind: string, message: string, fields: LogFields) => void;

/** What is known of a kind; times are monotonic. */
interface WarningKind {
  readonly loggedAtMs: number;
  /** No line for so long after that one. */
  readonly quietMs: number;
  lastMs: number;
  omitted: number;
}

/**
 * For warnings that others can cause as often as they like: at most one line of each kind in `quietMs`, with the number
 * of those left out since the last one; while they go on, half as often with each line, down to one in ten minutes, so
 * that nobody fills the disk with them.
 */
export function createSeldomLog(log: Log, clock: Clock, quietMs = defaultQuietMs): SeldomLog {
  const kinds = new Map<string, WarningKind>();
  return (kind, message, fields) => {
    const nowMs = clock.monotonicMs();
    const known = kinds.get(kind);
    const goesOn = known !== undefined && nowMs - known.lastMs < longestQuietMs;
    if (known) known.lastMs = nowMs;
    if (known && nowMs - known.loggedAtMs < known.quietMs) {
      known.omitted++;
      return;
    }
    if (kinds.size >= maxKinds) kinds.clear();
    const nextMs = goesOn ? Math.min(2 * known.quietMs, longestQuietMs) : quietMs;
    kinds.set(kind, { loggedAtMs: nowMs, quietMs: nextMs, lastMs: nowMs, omitted: 0 });
    log.warn(message, known && known.omitted > 0 ? { ...fields, unreported: known.omitted } : fields);
  };
}
