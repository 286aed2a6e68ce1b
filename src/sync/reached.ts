import { recordId, type RecordId } from "../base/ids.ts";
import { snakeCase } from "../base/names.ts";
import type { Resource } from "../connector/resource.ts";
import type { Reading } from "../store/reading.ts";
import { recordTarget } from "../work/item.ts";
import { followUpLane } from "./events.ts";
import type { Session } from "./session.ts";

/** A record that changes with another. */
interface Reached {
  readonly resource: string;
  readonly id: RecordId;
}

/**
 * A payment or a credit note that came or went changes what is left to pay of its document, and no event tells
 * of that: the document is read again. What the row says of it counts, deleted or not.
 */
export function askReached(session: Session, resource: Resource, id: RecordId, reading: Reading): void {
  for (const reached of [...owners(session, resource, id), ...ripples(session, resource, id)]) {
    if (!session.selected.has(reached.resource)) continue;
    session.queue.add({
      kind: "detail",
      resource: reached.resource,
      target: recordTarget(reached.id),
      lane: followUpLane(reading),
      reason: "changed with another",
      dirtySeq: reading.receivedSeq,
    });
  }
}

function owners({ mirror }: Session, { name, list }: Resource, id: RecordId): Reached[] {
  if (list.kind !== "owned") return [];
  return list.by.flatMap(({ resource, type, typeField, idField }) => {
    const [said, text] = mirror.records.texts(name, id, [snakeCase(typeField), snakeCase(idField)]);
    return said === type ? reachedAs(resource, text) : [];
  });
}

function ripples({ manifest, mirror }: Session, { name }: Resource, id: RecordId): Reached[] {
  const mine = manifest.ripples?.filter(({ resource }) => resource === name) ?? [];
  return mine.flatMap(({ column, reaches }) => {
    const [text] = mirror.records.texts(name, id, [column]);
    return reachedAs(reaches, text);
  });
}

function reachedAs(resource: string, text: string | null | undefined): Reached[] {
  const id = text === null || text === undefined ? null : recordId(text);
  return id === null ? [] : [{ resource, id }];
}
