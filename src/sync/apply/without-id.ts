import { recordId, type RecordId } from "../../base/ids.ts";
import type { ReadContext, RunContext } from "../context/run-context.ts";

/**
 * The id of a record in an answer. A record without a usable one is kept in quarantine, and its key there is
 * returned, a text: it has no place in a table, but nothing is dropped (I12).
 */
export function idOrQuarantine(
  { run, stamp }: ReadContext,
  resource: string,
  record: { readonly id: string | null; readonly slice: Buffer },
): RecordId | string {
  const id = record.id === null ? null : recordId(record.id);
  if (id !== null) return id;
  const reason = "the record has no usable id";
  const key = run.mirror.quarantine.add(stamp, { resource, id, reason, json: record.slice.toString() });
  const seen = run.withoutId.get(resource) ?? new Set();
  run.withoutId.set(resource, seen.add(key));
  run.tally.of(resource).failed += 1;
  return key;
}

/**
 * Removes records without an id from quarantine that this run did not meet although it read all of the resource:
 * they are deleted at the service, or have an id now.
 */
export function releaseWithoutId(run: RunContext, resumed: boolean): void {
  const { quarantine } = run.mirror;
  const troubled = new Set(run.tally.allTroubles().map((trouble) => trouble.resource));
  for (const resource of run.selected.keys()) {
    const readWhole = run.full || (run.tally.swept.has(resource) && !resumed);
    if (!readWhole || troubled.has(resource)) continue;
    quarantine.releaseWithoutId(resource, run.withoutId.get(resource) ?? new Set());
  }
}
