import { isoTime } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import { readList, readObject } from "../../extract/answers.ts";
import { pageFacts, wholeFacts, type PageFacts } from "../../extract/page-facts.ts";
import type { PagePayload } from "../../extract/work-request.ts";
import type { Slices } from "../../json/slices.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import { pageTarget, type WorkItem } from "../../state/work-item.ts";
import { takeListed } from "./listed-record.ts";
import { completeListing } from "./complete-listing.ts";
import { applyCounted, runOf, type RunContext } from "../context/run-context.ts";

/** So many records go through the door at once; a longer answer is cut so that other answers get their turn. */
export const recordsAtOnce = 1_000;

/** The token's company: one object, row 1. */
export function takeSingle(session: RunContext, resource: Resource, reading: ReadStamp, body: Buffer): void {
  const slice = readObject(body);
  const counts = session.tally.of(resource.name);
  counts.listed = 1;
  session.tally.fate(
    resource.name,
    session.mirror.table(resource.name).put({ stamp: reading, id: 1, slice, source: "list" }),
  );
  const at = isoTime(reading.receivedAtMs);
  session.tally.swept.set(resource.name, at);
  session.runs.noteSwept(runOf(session), resource.name, at);
}

/**
 * One answer of a list. All of it and what follows from it commits with the removal of its work row;
 * of a long answer the records go before, in parts, and the row only with the last part: a crash in
 * between repeats the read and finds the rows unchanged (I1, I7).
 */
export async function takeList(
  session: RunContext,
  resource: Resource,
  work: WorkItem,
  reading: ReadStamp,
  body: Buffer,
): Promise<void> {
  if (resource.list.kind === "single") {
    applyCounted(session, () => {
      takeSingle(session, resource, reading, body);
      session.queue.done(work, reading.sentSeq);
    });
    return;
  }
  const payload = work.payload as PagePayload;
  const { records, paginator } = readList(body);
  const facts =
    resource.list.kind === "paged"
      ? pageFacts(paginator, payload.page, records.count)
      : wholeFacts(records.count);
  const firstAttempt = (payload.attempt ?? 1) === 1;
  const ids: RecordId[] = [];
  const take = (range: { from: number; to: number }) =>
    ids.push(...takeListed(session, resource, reading, records, range, firstAttempt));
  const rest = await takeInParts(session, records, take);
  applyCounted(session, () => {
    take(rest);
    // First, so that a fresh sweep it asks for is a row of its own, in its own lane.
    session.queue.done(work, reading.sentSeq);
    closePage(session, resource, work, reading, ids, facts);
  });
}

/** All parts but the last, each in its own transaction; returns the last. */
async function takeInParts(
  session: RunContext,
  records: Slices,
  take: (range: { from: number; to: number }) => void,
): Promise<{ from: number; to: number }> {
  let from = 0;
  for (; records.count - from > recordsAtOnce; from += recordsAtOnce) {
    const range = { from, to: from + recordsAtOnce };
    applyCounted(session, () => take(range));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return { from, to: records.count };
}

function closePage(
  session: RunContext,
  resource: Resource,
  work: WorkItem,
  reading: ReadStamp,
  ids: RecordId[],
  facts: PageFacts,
): void {
  const { variant, page, attempt = 1, perPage } = work.payload as PagePayload;
  session.tally.of(resource.name).listed += attempt === 1 ? ids.length : 0;
  if (resource.list.kind === "paged") session.tally.totals.set(resource.name, facts.total);
  const start = {
    resource: resource.name,
    variant,
    run: runOf(session),
    attempt,
    startedSeq: reading.sentSeq,
    startedAt: isoTime(reading.receivedAtMs),
  };
  if (page === 1) askForPages(session, resource, { variant, attempt, perPage }, facts.pages, reading);
  const listing = session.listings.addPage(start, { ...facts, ids });
  if (listing) completeListing(session, resource, listing, listing.shown, reading);
}

/** Last page first: a deletion then cannot move an unread row into a page already read. */
function askForPages(
  session: RunContext,
  resource: Resource,
  payload: Omit<PagePayload, "page">,
  pages: number,
  reading: ReadStamp,
): void {
  for (let page = pages; page > 1; page--) {
    session.queue.add({
      kind: "list",
      resource: resource.name,
      target: pageTarget(payload.variant, page),
      lane: "list",
      reason: "sweep",
      payload: { ...payload, page },
      dirtySeq: reading.sentSeq,
    });
  }
}
