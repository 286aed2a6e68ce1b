import type { RecordId } from "../../base/ids.ts";
import { hasKey } from "../../extract/answers.ts";
import type { Slices } from "../../json/slices.ts";
import type { ApplyResult } from "../../store/apply/read-stamp.ts";
import { childrenOf, type AnswerContext, type RunContext } from "../context/run-context.ts";
import { queueChildList, queueOverlapped, queueRecord } from "../plan/read-reasons.ts";
import { idOrQuarantine } from "./records-without-id.ts";

/**
 * Applies some records of a list's answer, inside the apply transaction, and queues what must be read of them:
 * details of previews, lists of parents.
 *
 * @param firstAttempt false where the list is read again: only new records get their lists read
 * @returns the ids that were shown, one entry each time
 */
export function applyListed(
  answer: AnswerContext,
  records: Slices,
  { from, to }: { readonly from: number; readonly to: number },
  firstAttempt: boolean,
): RecordId[] {
  const { run, resource, stamp } = answer;
  const children = childrenOf(run, resource.name);
  const ids: RecordId[] = [];
  for (let i = from; i < to; i++) {
    const record = { id: records.id(i), slice: records.slice(i) };
    const id = idOrQuarantine(answer, resource.name, record);
    if (id === null) continue;
    ids.push(id);
    const result = applyOne(answer, id, record.slice);
    const isNew = result === "inserted";
    if (!firstAttempt && !isNew) continue;
    // A later read found the record deleted, so its own lists cannot be read.
    if (result === "stale" && !run.mirror.records.isLive(resource.name, id)) continue;
    for (const child of children) {
      if (takesParent(run, isNew))
        queueChildList(run, child.resource, { resource: resource.name, id }, stamp.sentSeq);
    }
  }
  return ids;
}

function applyOne(answer: AnswerContext, id: RecordId, slice: Buffer): ApplyResult {
  const { run, resource, stamp } = answer;
  const table = run.mirror.table(resource.name);
  if (resource.gives === "full" && (resource.fullWhen ?? []).every((key) => hasKey(slice, key))) {
    const result = table.put({ stamp, id, slice, source: "list" });
    run.tally.count(resource.name, result);
    if (result === "stale") queueOverlapped(answer, resource, id);
    return result;
  }
  const { result, read } = table.putPreview({ stamp, id, slice });
  if (result !== "unchanged" || (!read && !run.full)) run.tally.count(resource.name, result);
  if (!read && !run.full) return result;
  const payload = read ? { listed: read.listed } : undefined;
  const more = { payload, rank: newestFirst(id) };
  queueRecord(answer, read?.reason ?? "full", { resource: resource.name, id }, more);
  return result;
}

/** The rank of a record's detail: higher ids first. */
function newestFirst(id: RecordId): number {
  return -Math.min(Number(id), Number.MAX_SAFE_INTEGER);
}

/** Where parents are spread over runs, the plan chose among known ones; new ones are read within the budget. */
function takesParent({ parentBudget }: RunContext, isNew: boolean): boolean {
  if (!parentBudget) return true;
  if (!isNew || parentBudget.left <= 0) return false;
  parentBudget.left -= 1;
  return true;
}
