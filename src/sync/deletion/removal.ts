import type { RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import { snakeCase } from "../../base/names.ts";
import { recordTarget } from "../../state/work-item.ts";
import { followUpLane } from "../apply/complete-events.ts";
import { readAgain } from "../plan/read-reasons.ts";
import { childrenOf, type RunContext } from "../context/run-context.ts";

/**
 * A proven deletion and what follows from it: a tombstone, the same for what the record owned, and
 * questions about what pointed to it. What the mirror never saw may have left something that it did.
 * Inside the door's transaction. False: a read that overlapped says otherwise, and somebody must ask again (I3).
 */
export function removeRecord(
  session: RunContext,
  resource: Resource,
  id: RecordId,
  reading: ReadStamp,
): boolean {
  const removal = session.mirror.table(resource.name).remove(reading, id);
  if (removal === "stale") return false;
  if (removal === "removed") session.tally.of(resource.name).deleted += 1;
  removeOwned(session, resource, id, reading);
  askDependents(session, resource, id, reading);
  askChildren(session, resource, id, reading);
  return true;
}

function removeOwned(session: RunContext, resource: Resource, id: RecordId, reading: ReadStamp): void {
  for (const owned of session.manifest.resources) {
    if (owned.list.kind !== "owned") continue;
    for (const ownedId of ownedBy(session, owned, resource, id)) {
      if (!removeRecord(session, owned, ownedId, reading)) readAgain(session, owned, ownedId, reading);
    }
  }
}

/** Live records of `owned` that belong to this record. */
export function ownedBy(session: RunContext, owned: Resource, owner: Resource, id: RecordId): RecordId[] {
  if (owned.list.kind !== "owned") return [];
  const link = owned.list.by.find((candidate) => candidate.resource === owner.name);
  if (!link) return [];
  const type = snakeCase(link.typeField);
  return session.mirror.records.liveIdsWhereBoth(owned.name, type, link.type, snakeCase(link.idField), id);
}

/** A status that went leaves its cases changed: they are read again. */
function askDependents(session: RunContext, resource: Resource, id: RecordId, reading: ReadStamp): void {
  for (const cascade of session.manifest.cascades) {
    if (cascade.resource !== resource.name) continue;
    for (const dependent of session.mirror.records.liveIdsWhere(cascade.dependent, cascade.column, id)) {
      session.queue.add({
        kind: "detail",
        resource: cascade.dependent,
        target: recordTarget(dependent),
        lane: followUpLane(reading),
        reason: "cascade",
        dirtySeq: reading.receivedSeq,
      });
    }
  }
}

/** The list of a parent that vanished can no longer be read: its records are asked for one by one. */
function askChildren(session: RunContext, resource: Resource, id: RecordId, reading: ReadStamp): void {
  for (const child of childrenOf(session, resource.name)) {
    if (child.list.kind !== "parents") continue;
    session.queue.drop(child.name, `child:${resource.name}:${id}:`);
    const link = child.list.parents.find((candidate) => candidate.resource === resource.name);
    if (!link) continue;
    for (const orphan of session.mirror.records.liveIdsWhere(child.name, snakeCase(link.field), id)) {
      session.queue.add({
        kind: "confirm",
        resource: child.name,
        target: recordTarget(orphan),
        lane: followUpLane(reading),
        reason: "parent gone",
        dirtySeq: reading.receivedSeq,
      });
    }
  }
}
