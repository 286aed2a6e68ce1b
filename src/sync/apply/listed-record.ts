import type { RecordId, RecordRef } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import { isShownWhole } from "../../store/apply/previews.ts";
import type { Slices } from "../../json/cut.ts";
import type { ApplyResult } from "../../store/apply/read-stamp.ts";
import type { AnswerContext, RunContext } from "../context/run-context.ts";
import { queueDependents } from "../plan/dependents.ts";
import { childrenOf, queueChildList } from "../plan/list-reads.ts";
import { queueOverlapped, queueRecord } from "../plan/read-reasons.ts";
import { idOrQuarantine } from "./without-id.ts";

/** What an answer showed of its list, as far as it is applied. */
export interface ShownSoFar {
  readonly ids: RecordId[];
  readonly withoutId: string[];
  changes: number;
}

/**
 * Applies some records of a list's answer, inside the apply transaction, and queues what must be read of them:
 * details of previews, lists of new parents.
 *
 * @param shown gets what the records show
 */
export function applyListed(
  answer: AnswerContext,
  records: Slices,
  { from, to }: { readonly from: number; readonly to: number },
  shown: ShownSoFar,
): void {
  const { run, resource } = answer;
  const children = childrenOf(run, resource.name);
  for (let i = from; i < to; i++) {
    const record = { id: records.id(i), slice: records.slice(i) };
    const id = idOrQuarantine(answer, resource.name, record);
    if (typeof id === "string") {
      shown.withoutId.push(id);
      continue;
    }
    shown.ids.push(id);
    const result = applyOne(answer, id, record.slice);
    if (result !== "unchanged") shown.changes += 1;
    const parent = { resource: resource.name, id };
    for (const child of children)
      if (isNewParent(run, child.resource, parent, result) && takesParent(run))
        queueChildList(run, child.resource, parent);
  }
}

function applyOne(answer: AnswerContext, id: RecordId, slice: Buffer): ApplyResult {
  const { run, resource, stamp } = answer;
  const table = run.mirror.table(resource.name);
  if (isShownWhole(resource, slice)) {
    const result = table.put({ stamp, id, slice, source: "list" });
    run.tally.count(resource.name, result);
    const outcome = result === "hydrated" ? "inserted" : result;
    if (outcome === "stale") queueOverlapped(answer, resource, id);
    else queueDependents(answer, { id, outcome, isNews: false });
    return result;
  }
  const { result, read } = table.putPreview({ stamp, id, slice });
  const isWanted = read !== null || (run.full && isDetailOlder(answer, id));
  if (result !== "unchanged" || !isWanted) run.tally.count(resource.name, result);
  if (!isWanted) return result;
  const payload = read ? { listed: read.listed } : undefined;
  // Higher ids first.
  const more = { payload, rank: -Math.min(Number(id), Number.MAX_SAFE_INTEGER) };
  queueRecord(answer, read?.reason ?? "full", { resource: resource.name, id }, more);
  return result;
}

/**
 * Was the detail read before this run and those that it continues? A full run reads each detail once. What earlier
 * processes read is judged by the clock: one read in the future was read before the clock was set back.
 */
function isDetailOlder({ run, resource, stamp }: AnswerContext, id: RecordId): boolean {
  const last = run.mirror.records.lastRead(resource.name, id);
  if (last === null) return true;
  if (run.firstSeq !== null) return last.receivedSeq < run.firstSeq;
  return last.readAtMs < run.chainStartedMs || last.readAtMs > stamp.receivedAtMs;
}

/**
 * Is it a parent that the plan did not know? Its event may have inserted it before its list showed it: the read of an
 * event queues no list.
 */
function isNewParent(
  { parents }: RunContext,
  child: Resource,
  parent: RecordRef,
  result: ApplyResult,
): boolean {
  if (result === "inserted" || result === "quarantined") return result === "inserted";
  return parents.isUnplanned(child.name, parent.resource, parent.id);
}

/** May the list of one more parent be read? The plan chose among those that the mirror knew before. */
function takesParent({ parentReads }: RunContext): boolean {
  if (parentReads.left <= 0) return false;
  parentReads.left -= 1;
  return true;
}
