import { recordId, type RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import { readDetail, readParts } from "../../extract/answers.ts";
import { recordOf } from "../../extract/work-request.ts";
import type { ListedAs, ReadStamp } from "../../store/apply/read-stamp.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { markRouteProven } from "../deletion/route-probe.ts";
import { isNews, settleEvents } from "./complete-events.ts";
import { quarantineWithoutId } from "./records-without-id.ts";
import { queueDependents } from "../plan/dependents.ts";
import { readAgain } from "../plan/read-reasons.ts";
import { ownedBy, removeRecord } from "../deletion/removal.ts";
import { applyCounted, type RunContext } from "../context/run-context.ts";

/** A record as its own route gives it, and the records it owns. */
export function takeDetail(
  session: RunContext,
  resource: Resource,
  work: WorkItem,
  reading: ReadStamp,
  body: Buffer,
): void {
  const id = recordOf(work);
  const slice = readDetail(body, id);
  applyCounted(session, () => {
    markRouteProven(session, resource);
    const listed = (work.payload as { listed?: ListedAs } | undefined)?.listed;
    const fate = session.mirror
      .table(resource.name)
      .put({ stamp: reading, id, slice, source: "detail", listed });
    session.tally.fate(resource.name, fate);
    // Thrown away, so its reason is not answered: the row stays and is read again (I4).
    if (fate === "stale") return;
    if (fate !== "quarantined") takeOwned(session, resource, id, slice, reading);
    session.queue.done(work, reading.sentSeq);
    const settled = settleEvents(session, work, reading, fate);
    if (isNews(session.manifest, work, fate, settled)) queueDependents(session, resource, id, reading, fate);
  });
}

/** The owner's detail holds the complete set: what is not in it is gone. */
function takeOwned(
  session: RunContext,
  owner: Resource,
  id: RecordId,
  slice: Buffer,
  reading: ReadStamp,
): void {
  for (const { field, resource: name } of session.mirror.table(owner.name).plan.owned) {
    const owned = session.selected.get(name);
    const parts = owned ? readParts(slice, field) : null;
    if (!owned || !parts || owned.list.kind !== "owned") continue;
    const link = owned.list.by.find((candidate) => candidate.resource === owner.name);
    if (!link) continue;
    const over = { [snakeCase(link.typeField)]: link.type, [snakeCase(link.idField)]: id };
    const seen = new Set<RecordId>();
    for (const { slice: part, id: text } of parts) {
      const partId = text === null ? null : recordId(text);
      if (partId === null) {
        quarantineWithoutId(session, name, reading, part);
        continue;
      }
      seen.add(partId);
      const fate = session.mirror
        .table(name)
        .put({ stamp: reading, id: partId, slice: part, source: "list", overrides: over });
      session.tally.of(name).listed += 1;
      session.tally.fate(name, fate);
      if (fate === "stale") readAgain(session, owned, partId, reading);
    }
    for (const gone of ownedBy(session, owned, owner, id)) {
      if (!seen.has(gone) && !removeRecord(session, owned, gone, reading))
        readAgain(session, owned, gone, reading);
    }
  }
}
