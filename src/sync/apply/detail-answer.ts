import type { RecordId } from "../../base/ids.ts";
import { readDetail, readParts } from "../../extract/answers.ts";
import { recordOf } from "../../extract/work-request.ts";
import type { ListedAs } from "../../store/apply/read-stamp.ts";
import { applyCounted, type AnswerContext } from "../context/run-context.ts";
import { ownedBy, ownerColumns, removeOrReread } from "../deletion/removal.ts";
import { markRouteProven } from "../deletion/route-probe.ts";
import { queueDependents, queueOverlapped } from "../plan/read-reasons.ts";
import { completeEvents, isNews } from "./complete-events.ts";
import { idOrQuarantine } from "./records-without-id.ts";

/**
 * Applies a record as its own route gives it, and the records it owns, in one transaction.
 *
 * @throws ProtocolError when the body is not the record that was asked for
 */
export function applyDetail(answer: AnswerContext, body: Buffer): void {
  const { run, resource, item, stamp } = answer;
  const id = recordOf(item);
  const slice = readDetail(body, id);
  applyCounted(run, () => {
    markRouteProven(run, resource);
    const listed = (item.payload as { listed?: ListedAs } | undefined)?.listed;
    const result = run.mirror.table(resource.name).put({ stamp, id, slice, source: "detail", listed });
    run.tally.count(resource.name, result);
    // The answer was not used, so the reason to read stands: the work item stays and is read again (I4).
    if (result === "stale") return;
    if (result !== "quarantined") applyOwned(answer, id, slice);
    run.queue.done(item, stamp.sentSeq);
    const completed = completeEvents(answer, result);
    if (isNews(answer, result, completed)) queueDependents(answer, id, result);
  });
}

/** The owner's detail holds the complete set of owned records: others are deleted. */
function applyOwned(answer: AnswerContext, id: RecordId, slice: Buffer): void {
  const { run, resource: owner, stamp } = answer;
  for (const { field, resource: name } of run.mirror.table(owner.name).plan.owned) {
    const owned = run.selected.get(name);
    const parts = owned ? readParts(slice, field) : null;
    const overrides = owned && ownerColumns(owned, owner, id);
    if (!parts || !overrides) continue;
    const table = run.mirror.table(name);
    const seen = new Set<RecordId>();
    for (const part of parts) {
      const partId = idOrQuarantine(answer, name, part);
      if (partId === null) continue;
      seen.add(partId);
      const result = table.put({ stamp, id: partId, slice: part.slice, source: "list", overrides });
      run.tally.of(name).listed += 1;
      run.tally.count(name, result);
      if (result === "stale") queueOverlapped(answer, owned, partId);
    }
    const missing = ownedBy(run, owned, owner, id).filter((one) => !seen.has(one));
    removeOrReread(answer, owned, missing);
  }
}
