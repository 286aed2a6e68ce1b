import { isoTime } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { PageFacts } from "../../extract/page-facts.ts";
import {
  parentIdOf,
  type ChildPayload,
  type ListForm,
  type PagePayload,
} from "../../extract/work-request.ts";
import type { CompleteListing, Listing } from "../../state/listings.ts";
import { sweepKey } from "../../state/sweeps.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { mostSweeps } from "../context/limits.ts";
import { childrenOf, requireRunId, type AnswerContext } from "../context/run-context.ts";
import { holdMassDelete, mayRemove } from "../deletion/mass-delete-guard.ts";
import { removeRecord } from "../deletion/removal.ts";
import { queueOrphans, queueOtherPages, queueRecord, queueSweepAgain } from "../plan/read-reasons.ts";

/**
 * Which listing a work item's page belongs to, its number from 1, and how often the list was begun. The listing of
 * a parent's list is named `clients:17`.
 */
export function pagePlace({ kind, payload }: WorkItem): Required<Omit<PagePayload, keyof ListForm>> {
  if (kind !== "child") return { attempt: 1, ...(payload as PagePayload) };
  const { parent, parentId, page } = payload as ChildPayload;
  return { variant: `${parent}:${parentId}`, page, attempt: 1 };
}

/**
 * Adds one page to its listing, inside the apply transaction. Page 1 opens the listing and queues the other
 * pages; the page that makes it complete closes it and decides about records that no page showed.
 *
 * @param ids what the page showed, one entry each time
 */
export function addListingPage(answer: AnswerContext, ids: readonly RecordId[], facts: PageFacts): void {
  const { run, resource, item, stamp } = answer;
  const { variant, page, attempt } = pagePlace(item);
  const start = {
    resource: resource.name,
    variant,
    run: requireRunId(run),
    attempt,
    startedSeq: stamp.sentSeq,
    startedAt: isoTime(stamp.receivedAtMs),
  };
  if (page === 1) queueOtherPages(answer, facts);
  const listing = run.listings.addPage(start, { ...facts, ids });
  if (listing) completeListing(answer, listing);
}

/** Did the list stay the same while it was read: as many distinct records as it says, each shown once? Pure. */
export function isWhole(
  listing: Pick<Listing, "steady" | "total">,
  shown: readonly RecordId[],
  distinct: number,
): boolean {
  return listing.steady && distinct === shown.length && distinct === listing.total;
}

/**
 * All pages were read. A list that changed meanwhile is read again, `mostSweeps` times in all; a parent's list
 * is not. Records that were not shown are checked either way, since absence alone deletes nothing.
 */
function completeListing(answer: AnswerContext, listing: CompleteListing): void {
  const { run, resource, item } = answer;
  const { shown } = listing;
  const isParents = item.kind === "child";
  const seen = new Set(shown);
  const whole = isWhole(listing, shown, seen.size);
  if (!whole && !isParents && listing.attempt < mostSweeps) return queueSweepAgain(answer, listing);
  if (!whole) noteUnsettled(answer, listing);
  if (isParents) {
    const payload = item.payload as ChildPayload;
    const at = answer.stamp.receivedAtMs;
    run.parents.markListed(resource.name, payload.parent, parentIdOf(payload), at);
  } else {
    run.probeCandidates.set(resource.name, shown.slice(-3));
    if (whole) completeSweep(answer, listing, seen);
  }
  const absent = absentIds(answer, listing, seen);
  if (absent.length > 0) handleAbsent(answer, absent, whole, seen.size);
}

function noteUnsettled({ run, resource, item }: AnswerContext, { attempt, total, variant }: Listing): void {
  const message =
    item.kind === "child"
      ? `the list of ${variant.replace(":", " ")} changed while it was read`
      : `the list changed during each of ${attempt} readings (${total} records)`;
  const hint = "What it showed is mirrored; the next run reads it again.";
  run.tally.trouble({ resource: resource.name, kind: "unsettled", message, hint });
}

function completeSweep(answer: AnswerContext, listing: Listing, seen: ReadonlySet<RecordId>): void {
  const { run, resource } = answer;
  const { name } = resource;
  const { variant, startedAt } = listing;
  run.tally.swept.add(name);
  run.runs.noteSwept(requireRunId(run), sweepKey(name, variant), startedAt);
  queueOrphans(answer);
  if (variant !== "") return;
  // A quarantined record without a row cannot be checked: it is deleted when the complete list does not show it.
  const { quarantine, records } = run.mirror;
  for (const id of quarantine.idsBefore(name, startedAt)) {
    if (!seen.has(id) && !records.isLive(name, id)) quarantine.release(name, id);
  }
}

/** Live rows received before the listing began that it had to show and did not. */
function absentIds(answer: AnswerContext, listing: Listing, seen: ReadonlySet<RecordId>): RecordId[] {
  const { records } = answer.run.mirror;
  const { name } = answer.resource;
  const unseen = (ids: readonly RecordId[]) => ids.filter((id) => !seen.has(id));
  const unseenBefore = () => unseen(records.liveIds(name, listing.startedSeq));
  const scope = scopeOf(answer, listing);
  if (!scope) return unseenBefore();
  const missing = new Set(unseen(records.liveIdsWhere(name, scope)));
  return missing.size === 0 ? [] : unseenBefore().filter((id) => missing.has(id));
}

/** The value, by column, that the records of this listing share; null where it lists the whole resource. */
function scopeOf({ run, resource: { name, list }, item }: AnswerContext, { variant }: Listing) {
  if (list.kind === "whole" && list.variants) return { [snakeCase(list.variants.field)]: variant };
  if (item.kind !== "child") return null;
  const payload = item.payload as ChildPayload;
  const child = childrenOf(run, payload.parent).find(({ resource }) => resource.name === name);
  if (!child) throw new Error(`broken promise: ${payload.parent} is a parent of ${name}`);
  return { [snakeCase(child.link.field)]: parentIdOf(payload) };
}

/**
 * Absence is a reason to ask, not to delete (I5). A record without a route of its own cannot be asked for: it
 * is removed when the list is whole and shows at least one other.
 */
function handleAbsent(
  answer: AnswerContext,
  absent: readonly RecordId[],
  whole: boolean,
  shown: number,
): void {
  const { run, resource } = answer;
  const { name } = resource;
  const count = absent.length;
  if (!mayRemove(run, name, count)) holdMassDelete(run, name, count);
  else if (resource.detail !== undefined)
    for (const id of absent) queueRecord(answer, "absent", { resource: name, id });
  else if (shown === 0) {
    const message = `Kept ${count} ${count === 1 ? "record" : "records"}: the list came back empty.`;
    const hint = "They have no route of their own to check. The next list that shows some of them decides.";
    run.tally.trouble({ resource: name, kind: "held", message, hint });
  } else if (whole) for (const id of absent) removeRecord(answer, resource, id);
}
