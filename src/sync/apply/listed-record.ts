import { recordId, type RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import { hasKey } from "../../extract/answers.ts";
import type { Slices } from "../../json/slices.ts";
import type { ApplyResult, ReadStamp } from "../../store/apply/read-stamp.ts";
import { childTarget, recordTarget } from "../../state/work-item.ts";
import { quarantineWithoutId } from "./records-without-id.ts";
import { readAgain } from "../plan/read-reasons.ts";
import { childrenOf, type RunContext } from "../context/run-context.ts";

/** Takes the records `from`..`to` of an answer; inside the door's transaction. */
export function takeListed(
  session: RunContext,
  resource: Resource,
  reading: ReadStamp,
  records: Slices,
  range: { readonly from: number; readonly to: number },
  firstAttempt: boolean,
): RecordId[] {
  const children = childrenOf(session, resource.name);
  const ids: RecordId[] = [];
  for (let i = range.from; i < range.to; i++) {
    const text = records.id(i);
    const id = text === null ? null : recordId(text);
    if (id === null) {
      quarantineWithoutId(session, resource.name, reading, records.slice(i));
      continue;
    }
    ids.push(id);
    const fate = takeOne(session, resource, reading, id, records.slice(i));
    const isNew = fate === "inserted";
    if (!firstAttempt && !isNew) continue;
    // Somebody read later that it is gone: so are the lists below it.
    if (fate === "stale" && !session.mirror.records.isLive(resource.name, id)) continue;
    for (const child of children) askForChildren(session, child, resource.name, id, isNew, reading);
  }
  return ids;
}

function takeOne(
  session: RunContext,
  resource: Resource,
  reading: ReadStamp,
  id: RecordId,
  slice: Buffer,
): ApplyResult | "to read" {
  const table = session.mirror.table(resource.name);
  if (resource.gives === "full" && (resource.fullWhen ?? []).every((key) => hasKey(slice, key))) {
    const fate = table.put({ stamp: reading, id, slice, source: "list" });
    session.tally.fate(resource.name, fate);
    if (fate === "stale") readAgain(session, resource, id, reading);
    return fate;
  }
  const difference = table.comparePreview(id, slice);
  if (!difference && !session.full) {
    session.tally.of(resource.name).unchanged += 1;
    return "unchanged";
  }
  session.queue.add({
    kind: "detail",
    resource: resource.name,
    target: recordTarget(id),
    lane: "hydration",
    reason: difference?.reason ?? "full",
    payload: difference ? { listed: difference.listed } : undefined,
    // A detail already out when this list came may have been looked at before it: it is no answer.
    dirtySeq: reading.receivedSeq,
  });
  return "to read";
}

/** With parents spread over runs, the plan chose among those known; a new one is read while there is room. */
function askForChildren(
  session: RunContext,
  child: Resource,
  parent: string,
  id: RecordId,
  isNew: boolean,
  reading: ReadStamp,
): void {
  const budget = session.parentBudget;
  if (budget) {
    if (!isNew || budget.left <= 0) return;
    budget.left -= 1;
  }
  addChildList(session, child, parent, id, 1, reading.sentSeq);
}

export function addChildList(
  session: RunContext,
  child: Resource,
  parent: string,
  id: RecordId,
  page: number,
  dirtySeq: number,
): void {
  session.queue.add({
    kind: "child",
    resource: child.name,
    target: childTarget(parent, id, page),
    lane: "list",
    reason: "parent",
    payload: { parent, parentId: String(id), page },
    dirtySeq,
  });
}
