import type { Clock } from "../base/clock.ts";
import type { Log, LogFields } from "../base/logger.ts";
import type { ReceivedResult } from "./ingest/ingest.ts";

const defaultQuietMs = 10_000;
/** Of a flood that goes on for days there is still a line as often as this. */
const longestQuietMs = 600_000;
/** Kinds are texts of this program and few; this bounds the memory if that is ever wrong. */
const maxKinds = 1_000;

export type RefusalLog = (kind: string, message: string, fields: LogFields) => void;

/** What is known of a kind; times are monotonic. */
interface WarningKind {
  readonly loggedAtMs: number;
  /** No line for so long after that one. */
  readonly quietMs: number;
  lastMs: number;
  omitted: number;
}

/**
 * For warnings that anyone who reaches the port can cause: at most one line of each kind in `quietMs`, with the
 * number of those left out since the last one; while they go on, half as often with each line, down to one in ten
 * minutes, so that nobody fills the disk with them.
 */
export function createRefusalLog(log: Log, clock: Clock, quietMs = defaultQuietMs): RefusalLog {
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

/** Up to so many events of one transaction get a line each; more are a burst: one line, and the rest at debug. */
const maxLines = 8;

/** Logs the events of one transaction: new ones at info, those without follow-up work at warn, duplicates at debug. */
export function logStored(log: Log, company: string, results: readonly ReceivedResult[]): void {
  const stored = results.filter(({ outcome }) => outcome === "stored");
  const isBurst = stored.length > maxLines;
  for (const result of stored) {
    const isUnhandled = result.state === "unknown" || result.state === "unreadable";
    const level = isBurst ? "debug" : isUnhandled ? "warn" : "info";
    // What it means is decided by whoever stores it in the mirror.
    const what = result.state === undefined ? "an event was received" : "an event was stored";
    log[level](what, fieldsOf(company, result));
  }
  for (const result of results)
    if (result.outcome === "duplicate")
      log.debug("a duplicate event was received", fieldsOf(company, result));
  if (!isBurst) return;
  const types = [...new Set(stored.map(({ type }) => type))];
  log.info("events were stored", { company, events: stored.length, first: stored[0]?.eventId, types });
}

function fieldsOf(company: string, { eventId, type, resource, id, state }: ReceivedResult): LogFields {
  return { company, webhook_id: eventId, type, ...(state !== undefined && { resource, id, state }) };
}
