import type { Reading } from "../../store/apply/read-stamp.ts";
import type { Session } from "../context/run-context.ts";

/** A record without a usable id has no place in a table, but it is not dropped (I12). */
export function keepNameless(session: Session, resource: string, reading: Reading, slice: Buffer): void {
  const reason = "the record has no usable id";
  const key = session.mirror.quarantine.add(reading, resource, null, reason, slice.toString("utf8"));
  const seen = session.nameless.get(resource) ?? new Set();
  session.nameless.set(resource, seen.add(key));
  session.tally.of(resource).failed += 1;
}

/**
 * Nobody can come back under no id: what a run that read everything of the resource did not meet again
 * is there no more, or has its id now.
 */
export function releaseNameless(session: Session, resumed: boolean): void {
  const { quarantine } = session.mirror;
  const troubled = new Set(session.tally.allTroubles().map((trouble) => trouble.resource));
  for (const resource of session.selected.keys()) {
    const readWhole = session.full || (session.tally.swept.has(resource) && !resumed);
    if (!readWhole || troubled.has(resource)) continue;
    quarantine.releaseNameless(resource, session.nameless.get(resource) ?? new Set());
  }
}
