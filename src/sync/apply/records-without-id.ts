import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import type { RunContext } from "../context/run-context.ts";

/** A record without a usable id has no place in a table, but it is not dropped (I12). */
export function quarantineWithoutId(
  session: RunContext,
  resource: string,
  reading: ReadStamp,
  slice: Buffer,
): void {
  const reason = "the record has no usable id";
  const key = session.mirror.quarantine.add(reading, resource, null, reason, slice.toString("utf8"));
  const seen = session.withoutId.get(resource) ?? new Set();
  session.withoutId.set(resource, seen.add(key));
  session.tally.of(resource).failed += 1;
}

/**
 * Nobody can come back under no id: what a run that read everything of the resource did not meet again
 * is there no more, or has its id now.
 */
export function releaseWithoutId(session: RunContext, resumed: boolean): void {
  const { quarantine } = session.mirror;
  const troubled = new Set(session.tally.allTroubles().map((trouble) => trouble.resource));
  for (const resource of session.selected.keys()) {
    const readWhole = session.full || (session.tally.swept.has(resource) && !resumed);
    if (!readWhole || troubled.has(resource)) continue;
    quarantine.releaseNameless(resource, session.withoutId.get(resource) ?? new Set());
  }
}
