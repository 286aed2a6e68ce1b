import { recordId, type RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import type { EventOutcome } from "../../state/inbox/inbox.ts";
import type { RunContext } from "../context/run-context.ts";

/** A record by its resource's name and its id. */
export interface RecordRef {
  readonly resource: string;
  readonly id: RecordId;
}

/** The record that owns this one, as its row says, deleted or not: the document of a payment. */
export function ownersOf({ mirror }: RunContext, { name, list }: Resource, id: RecordId): RecordRef[] {
  if (list.kind !== "owned") return [];
  return list.by.flatMap(({ resource, type, typeField, idField }) => {
    const [ownType, text] = mirror.records.texts(name, id, [snakeCase(typeField), snakeCase(idField)]);
    return ownType === type ? refTo(resource, text) : [];
  });
}

/** The records of this run that change with this one by the invalidation rules of the connector. */
export function dependentsOf(
  run: RunContext,
  { name }: Resource,
  id: RecordId,
  outcome: EventOutcome,
): RecordRef[] {
  const { records } = run.mirror;
  const changesCount = outcome === "inserted" || outcome === "deleted";
  const rules = run.mirror.manifest.invalidationRules ?? [];
  return rules.flatMap(({ resource, dependent, by }) => {
    if (resource !== name || !run.selected.has(dependent)) return [];
    if (by.kind === "column") return refTo(dependent, records.texts(name, id, [by.column])[0]);
    if (by.kind !== "pointing" && !changesCount) return [];
    const pointing = by.kind === "pointing" ? { [by.idColumn]: id } : {};
    const ids = records.liveIdsWhere(dependent, { [by.column]: by.is, ...pointing });
    return ids.map((one) => ({ resource: dependent, id: one }));
  });
}

function refTo(resource: string, text: string | null | undefined): RecordRef[] {
  const id = text === null || text === undefined ? null : recordId(text);
  return id === null ? [] : [{ resource, id }];
}
