import { recordId, type RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { InvalidationRule } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import type { Outcome } from "../../state/inbox/inbox.ts";
import { recordTarget } from "../../state/work-item.ts";
import { followUpLane } from "../apply/complete-events.ts";
import type { RunContext } from "../context/run-context.ts";

/** A record that changes with another. */
interface Reached {
  readonly resource: string;
  readonly id: RecordId;
}

/**
 * A payment or a credit note that came or went changes what is left to pay of its document, and no event tells
 * of that: the document is read again. What the row says of it counts, deleted or not.
 */
export function queueDependents(
  session: RunContext,
  resource: Resource,
  id: RecordId,
  reading: ReadStamp,
  outcome: Outcome,
): void {
  ask(session, owners(session, resource, id), reading, 0);
  ask(session, ripples(session, resource, id, outcome), reading, reading.receivedAtMs);
}

/** Due since that moment: what is due from 0, as events are, is read before all else. */
function ask(session: RunContext, all: readonly Reached[], reading: ReadStamp, dueAtMs: number): void {
  for (const reached of all) {
    if (!session.selected.has(reached.resource)) continue;
    session.queue.add({
      kind: "detail",
      resource: reached.resource,
      target: recordTarget(reached.id),
      lane: followUpLane(reading),
      reason: "changed with another",
      dueAtMs,
      dirtySeq: reading.receivedSeq,
    });
  }
}

function owners({ mirror }: RunContext, { name, list }: Resource, id: RecordId): Reached[] {
  if (list.kind !== "owned") return [];
  return list.by.flatMap(({ resource, type, typeField, idField }) => {
    const [said, text] = mirror.records.texts(name, id, [snakeCase(typeField), snakeCase(idField)]);
    return said === type ? reachedAs(resource, text) : [];
  });
}

function ripples(session: RunContext, { name }: Resource, id: RecordId, outcome: Outcome): Reached[] {
  const mine = session.manifest.invalidationRules?.filter(({ resource }) => resource === name) ?? [];
  return mine.flatMap((ripple) => reachedBy(session, ripple, id, outcome));
}

function reachedBy(
  { mirror, selected }: RunContext,
  ripple: InvalidationRule,
  id: RecordId,
  outcome: Outcome,
): Reached[] {
  const { resource, reaches, by } = ripple;
  if (!selected.has(reaches)) return [];
  const live = (ids: readonly RecordId[]) => ids.map((one) => ({ resource: reaches, id: one }));
  const { records } = mirror;
  if (by.kind === "column") return reachedAs(reaches, records.texts(resource, id, [by.column])[0]);
  if (by.kind === "pointing")
    return live(records.liveIdsWhereBoth(reaches, by.column, by.is, by.idColumn, id));
  return cameOrWent(outcome) ? live(records.liveIdsWhere(reaches, by.column, by.is)) : [];
}

function cameOrWent(outcome: Outcome): boolean {
  return outcome === "inserted" || outcome === "deleted";
}

function reachedAs(resource: string, text: string | null | undefined): Reached[] {
  const id = text === null || text === undefined ? null : recordId(text);
  return id === null ? [] : [{ resource, id }];
}
