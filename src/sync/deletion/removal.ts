import type { RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import { recordTarget } from "../../state/work-item.ts";
import { childrenOf, type ReadContext, type RunContext } from "../context/run-context.ts";
import { listAgainWithout } from "./route-probe.ts";
import { queueOverlapped, queueRecord } from "../plan/read-reasons.ts";

/**
 * Applies a proven deletion, inside the apply transaction: writes a tombstone, removes what the record owned
 * and queues what pointed to it. Also for a record that the mirror never had: others may point to it.
 *
 * @returns false when an overlapping read says otherwise, so that the record must be read again (I3)
 */
export function removeRecord(read: ReadContext, resource: Resource, id: RecordId): boolean {
  const { run, stamp } = read;
  const { mirror } = run;
  const removal = mirror.table(resource.name).remove(stamp, id);
  if (removal === "stale") return false;
  if (removal === "removed") {
    run.tally.of(resource.name).deleted += 1;
    run.queue.confirmOverlapped(resource.name, recordTarget(id), stamp.sentSeq);
    listAgainWithout(run, resource, id);
  }
  for (const owned of mirror.manifest.resources)
    removeOrReread(read, owned, ownedBy(run, owned, resource, id));
  for (const { resource: referred, dependent, column } of mirror.manifest.cascades) {
    const referring =
      referred === resource.name ? mirror.records.liveIdsWhere(dependent, { [column]: id }) : [];
    for (const one of referring) queueRecord(read, "cascade", { resource: dependent, id: one });
  }
  releaseChildren(read, resource, id);
  return true;
}

/** Removes these records; those that an overlapping read shows are read again. */
export function removeOrReread(read: ReadContext, resource: Resource, ids: readonly RecordId[]): void {
  for (const id of ids) if (!removeRecord(read, resource, id)) queueOverlapped(read, resource, id);
}

/** Live records of `owned` that belong to this record: the payments of a document. */
export function ownedBy(run: RunContext, owned: Resource, owner: Resource, id: RecordId): RecordId[] {
  const columns = ownerColumns(owned, owner, id);
  return columns ? run.mirror.records.liveIdsWhere(owned.name, columns) : [];
}

/** The columns by which a record of `owned` names its owner; null where records of `owner` own none. */
export function ownerColumns({ list }: Resource, owner: Resource, id: RecordId) {
  const links = list.kind === "owned" ? list.by : [];
  const link = links.find(({ resource }) => resource === owner.name);
  return link ? { [snakeCase(link.typeField)]: link.type, [snakeCase(link.idField)]: id } : null;
}

/** The list of a deleted parent cannot be read any more: its records are checked one by one. */
function releaseChildren(read: ReadContext, parent: Resource, id: RecordId): void {
  const { queue, mirror } = read.run;
  for (const { resource, link } of childrenOf(read.run, parent.name)) {
    queue.drop(resource.name, `child:${parent.name}:${id}:`);
    for (const child of mirror.records.liveIdsWhere(resource.name, { [snakeCase(link.field)]: id }))
      queueRecord(read, "parent gone", { resource: resource.name, id: child });
  }
}
