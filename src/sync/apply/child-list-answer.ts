import { isoTime } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { ParentLink, Resource } from "../../connector/resource.ts";
import { readList } from "../../extract/answers.ts";
import { pageFacts, type PageFacts } from "../../extract/page-facts.ts";
import { parentIdOf, type ChildPayload } from "../../extract/work-request.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { addChildList, takeListed } from "./listed-record.ts";
import { isWhole, askForAbsent } from "./complete-listing.ts";
import { applyCounted, runOf, type RunContext } from "../context/run-context.ts";

/** One page of a parent's list, with what its end means for the parent's records. */
export function takeChildList(
  session: RunContext,
  resource: Resource,
  work: WorkItem,
  reading: ReadStamp,
  body: Buffer,
): void {
  const payload = work.payload as ChildPayload;
  const { records, paginator } = readList(body);
  const facts = pageFacts(paginator, payload.page, records.count);
  applyCounted(session, () => {
    const ids = takeListed(session, resource, reading, records, { from: 0, to: records.count }, true);
    session.tally.of(resource.name).listed += ids.length;
    if (payload.page === 1) askForNextPages(session, resource, payload, facts, reading);
    closeParent(session, resource, payload, ids, facts, reading);
    session.queue.done(work, reading.sentSeq);
  });
}

function askForNextPages(
  session: RunContext,
  resource: Resource,
  payload: ChildPayload,
  facts: PageFacts,
  reading: ReadStamp,
): void {
  for (let page = facts.pages; page > 1; page--) {
    addChildList(session, resource, payload.parent, parentIdOf(payload), page, reading.sentSeq);
  }
}

function closeParent(
  session: RunContext,
  resource: Resource,
  payload: ChildPayload,
  ids: RecordId[],
  facts: PageFacts,
  reading: ReadStamp,
): void {
  const variant = `${payload.parent}:${payload.parentId}`;
  const start = {
    resource: resource.name,
    variant,
    run: runOf(session),
    attempt: 1,
    startedSeq: reading.sentSeq,
    startedAt: isoTime(reading.receivedAtMs),
  };
  const listing = session.listings.addPage(start, { ...facts, ids });
  if (listing) settleParent(session, resource, payload, listing.shown, listing, listing.startedSeq, reading);
}

/** A list that moved costs nothing here but questions: who is not in it is asked for on its own route. */
function settleParent(
  session: RunContext,
  resource: Resource,
  payload: ChildPayload,
  shown: readonly RecordId[],
  listing: { readonly steady: boolean; readonly total: number },
  startedSeq: number,
  reading: ReadStamp,
): void {
  const seen = new Set(shown);
  const whole = isWhole(listing, shown, seen.size);
  if (!whole) {
    session.tally.trouble({
      resource: resource.name,
      kind: "unsettled",
      message: `the list of ${payload.parent} ${payload.parentId} moved while it was read`,
      hint: "What was shown is mirrored; the next run completes it.",
    });
  }
  const column = snakeCase(linkOf(resource, payload.parent).field);
  const mine = new Set(session.mirror.records.liveIdsWhere(resource.name, column, parentIdOf(payload)));
  if (mine.size > seen.size || [...mine].some((id) => !seen.has(id))) {
    const before = session.mirror.records.liveIdsReceivedBefore(resource.name, startedSeq);
    const absent = before.filter((id) => mine.has(id) && !seen.has(id));
    if (absent.length > 0) askForAbsent(session, resource, absent, { whole, shown: seen.size }, reading);
  }
  if (session.parentBudget) {
    session.parents.listed(resource.name, payload.parent, parentIdOf(payload), reading.receivedAtMs);
  }
}

function linkOf(resource: Resource, parent: string): ParentLink {
  const links = resource.list.kind === "parents" ? resource.list.parents : [];
  const link = links.find((candidate) => candidate.resource === parent);
  if (!link) throw new Error(`broken promise: ${parent} is a parent of ${resource.name}`);
  return link;
}
