import { recordId, type RecordId } from "../base/ids.ts";
import { snakeCase } from "../base/names.ts";
import type { Resource } from "../connector/resource.ts";
import type { Reading } from "../store/reading.ts";
import { recordTarget } from "../work/item.ts";
import { followUpLane } from "./events.ts";
import type { Session } from "./session.ts";

/** Whose part a record is. */
interface Owner {
  readonly resource: Resource;
  readonly id: RecordId;
}

/** What the payment's row says of its document, live or deleted; null where nothing is known. */
function ownerOf(session: Session, { name, list }: Resource, id: RecordId): Owner | null {
  if (list.kind !== "owned") return null;
  for (const link of list.by) {
    const resource = session.selected.get(link.resource);
    if (!resource) continue;
    const columns = [snakeCase(link.typeField), snakeCase(link.idField)];
    const [type, text] = session.mirror.records.texts(name, id, columns);
    const ownerId = text === null || text === undefined ? null : recordId(text);
    if (type === link.type && ownerId !== null) return { resource, id: ownerId };
  }
  return null;
}

/** A payment that came or went changes what is left to pay: its document is read again. */
export function askOwner(session: Session, resource: Resource, id: RecordId, reading: Reading): void {
  const owner = ownerOf(session, resource, id);
  if (!owner) return;
  session.queue.add({
    kind: "detail",
    resource: owner.resource.name,
    target: recordTarget(owner.id),
    lane: followUpLane(reading),
    reason: "part changed",
    dirtySeq: reading.receivedSeq,
  });
}
