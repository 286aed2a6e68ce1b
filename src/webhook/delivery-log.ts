import type { Log, LogFields } from "../base/logger.ts";
import type { ReceivedResult } from "./ingest/ingest.ts";

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
  const facts = { company, webhook_id: eventId, type };
  return state === undefined ? facts : { ...facts, resource, id, state };
}
