import type { RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import { recordTarget } from "../../state/work-item.ts";
import { followUpLane } from "../apply/complete-events.ts";
import type { RunContext } from "../context/run-context.ts";

/**
 * Two reads of a record overlapped and differ: nobody knows which is newer, so neither may stand
 * unasked (I3). What has no route of its own is read again with its list.
 */
export function readAgain(session: RunContext, resource: Resource, id: RecordId, reading: ReadStamp): void {
  if (resource.detail === undefined) return;
  session.queue.add({
    kind: "detail",
    resource: resource.name,
    target: recordTarget(id),
    lane: followUpLane(reading),
    reason: "overlapped",
    dirtySeq: reading.receivedSeq,
  });
}
