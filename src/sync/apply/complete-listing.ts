import { isoTime } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Listing } from "../../state/listings.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import { pageTarget, recordTarget } from "../../state/work-item.ts";
import { massDeleteLimit, mostSweeps, trustPauseMs } from "../context/limits.ts";
import { askForOrphans } from "../deletion/orphans.ts";
import { sweepKey } from "../../state/sweeps.ts";
import { firstPage } from "../plan/sweep-plan.ts";
import { removeRecord } from "../deletion/removal.ts";
import { mayRemove, runOf, type RunContext } from "../context/run-context.ts";

/** Is this what a list that stood still looks like? Pure. */
export function isWhole(
  listing: Pick<Listing, "steady" | "total">,
  shown: readonly RecordId[],
  distinct: number,
): boolean {
  return listing.steady && distinct === shown.length && distinct === listing.total;
}

/** Every page of a list was read: is it whole, and who is missing from it? */
export function completeListing(
  session: RunContext,
  resource: Resource,
  listing: Listing,
  shown: readonly RecordId[],
  reading: ReadStamp,
): void {
  const seen = new Set(shown);
  const whole = isWhole(listing, shown, seen.size);
  if (!whole && listing.attempt < mostSweeps) {
    sweepAgain(session, resource, listing, reading);
    return;
  }
  session.probeCandidates.set(resource.name, shown.slice(-3));
  if (whole) {
    noteSwept(session, resource, listing, reading);
    askForOrphans(session, resource, reading);
    forgetQuarantined(session, resource, listing, seen);
  } else noteUnsettled(session, resource, listing);
  const absent = expectedIn(session, resource, listing).filter((id) => !seen.has(id));
  if (absent.length > 0) askForAbsent(session, resource, absent, { whole, shown: seen.size }, reading);
}

/** A record that never became a row leaves nobody to ask for: gone from the whole list, it is gone. */
function forgetQuarantined(
  session: RunContext,
  resource: Resource,
  listing: Listing,
  seen: ReadonlySet<RecordId>,
): void {
  if (listing.variant !== "") return;
  const { quarantine, records } = session.mirror;
  for (const id of quarantine.idsBefore(resource.name, listing.startedAt)) {
    if (!seen.has(id) && !records.isLive(resource.name, id)) quarantine.release(resource.name, id);
  }
}

/** A sweep that began long before this run, gone on with after a pause, is followed by a fresh one. */
function noteSwept(session: RunContext, resource: Resource, listing: Listing, reading: ReadStamp): void {
  session.tally.swept.set(resource.name, isoTime(reading.receivedAtMs));
  session.runs.noteSwept(runOf(session), sweepKey(resource.name, listing.variant), listing.startedAt);
  if (session.startedAtMs - Date.parse(listing.startedAt) <= trustPauseMs) return;
  session.queue.add(firstPage(resource.name, listing.variant, "scrub", reading.receivedSeq));
}

function sweepAgain(session: RunContext, resource: Resource, listing: Listing, reading: ReadStamp): void {
  const attempt = listing.attempt + 1;
  session.log.info(`${resource.name}: the list moved while it was read; reading it again`, { attempt });
  session.queue.add({
    kind: "list",
    resource: resource.name,
    target: pageTarget(listing.variant, 1),
    lane: "list",
    reason: "sweep",
    payload: { variant: listing.variant, page: 1, attempt },
    dirtySeq: reading.receivedSeq,
  });
}

function noteUnsettled(session: RunContext, resource: Resource, listing: Listing): void {
  session.tally.trouble({
    resource: resource.name,
    kind: "unsettled",
    message: `the list never stood still in ${listing.attempt} readings (${listing.total} records)`,
    hint: "What was shown is mirrored; the next run completes it.",
  });
}

/** Live rows that this listing must show, if they still exist. */
function expectedIn(session: RunContext, resource: Resource, listing: Listing): RecordId[] {
  const { records } = session.mirror;
  const before = records.liveIdsReceivedBefore(resource.name, listing.startedSeq);
  if (resource.list.kind !== "whole" || !resource.list.variants) return before;
  const column = snakeCase(resource.list.variants.field);
  const ofVariant = new Set(records.liveIdsWhere(resource.name, column, listing.variant));
  return before.filter((id) => ofVariant.has(id));
}

/**
 * Absence is a reason to ask, not to delete (I5). What has no route of its own can only be believed, and
 * only when the list is whole and shows something.
 */
export function askForAbsent(
  session: RunContext,
  resource: Resource,
  absent: readonly RecordId[],
  list: { readonly whole: boolean; readonly shown: number },
  reading: ReadStamp,
): void {
  if (!mayRemove(session, resource.name, absent.length)) {
    holdMassDelete(session, resource, absent.length);
    return;
  }
  if (resource.detail !== undefined) {
    for (const id of absent) askWhetherGone(session, resource.name, id, "absent", reading);
    return;
  }
  if (list.shown === 0) {
    holdEmptyList(session, resource, absent.length);
    return;
  }
  if (!list.whole) return;
  for (const id of absent) removeRecord(session, resource, id, reading);
}

function holdEmptyList(session: RunContext, resource: Resource, count: number): void {
  session.tally.trouble({
    resource: resource.name,
    kind: "held",
    message: `the list came empty, although there were ${count} records; none was removed`,
    hint: "They have no route of their own to ask; the next list that shows some of them decides.",
  });
}

function askWhetherGone(
  session: RunContext,
  resource: string,
  id: RecordId,
  reason: string,
  reading: ReadStamp,
): void {
  session.queue.add({
    kind: "confirm",
    resource,
    target: recordTarget(id),
    lane: "hydration",
    reason,
    dirtySeq: reading.receivedSeq,
  });
}

export function holdMassDelete(session: RunContext, resource: Resource, count: number): void {
  const live = session.mirror.records.liveCount(resource.name);
  const { span } = session.removals;
  const message = `${count} of ${live} records seem to be gone, more than ${massDeleteLimit(live)} ${span}; none was removed`;
  const hint =
    "If they really were deleted, run again with --allow-mass-delete: each is still asked for first.";
  session.tally.trouble({ resource: resource.name, kind: "held", message, hint });
  if (session.run === null)
    session.afterCommit.push(() => session.log.warn(`${resource.name}: ${message}`, { hint }));
}
