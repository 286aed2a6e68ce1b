import { hintOf, messageOf } from "../../base/errors.ts";
import {
  ContradictionError,
  ForbiddenError,
  InvalidError,
  ServiceError,
} from "../../connector/service-errors.ts";
import { parentOf, recordOf, type ChildPayload, type ListForm } from "../../extract/work-request.ts";
import { mostRefusedInARow, requireRunId, type AnswerContext } from "../context/run-context.ts";
import type { Trouble } from "../context/tally.ts";
import { idInTarget, nameOfTarget } from "../../state/work-item.ts";
import {
  deletionVerdict,
  probeRoute,
  releaseChildren,
  removeRecord,
  holdMassDelete,
  mayRemove,
} from "../deletion/deletion.ts";
import { otherListForm, childrenOf, queueOtherForm } from "../plan/list-reads.ts";
import { queueDependents } from "../plan/dependents.ts";
import { queueRecord } from "../plan/read-reasons.ts";
import { backoffMs, retries } from "../../retry/retry-limits.ts";
import type { FailureOutcome } from "../../retry/retry-policies.ts";
import { completeEvents, isNews, isOfEvent } from "./detail-answer.ts";

/** Outcomes that concern the work item or its resource; the engine handles the others. */
export type ItemFailure = Exclude<FailureOutcome, { kind: "stop" | "drain" }>;

/** Applies what a failed read means for its work item, inside the apply transaction. */
export function handleFailure(answer: AnswerContext, error: unknown, failure: ItemFailure): void {
  const { run, item } = answer;
  switch (failure.kind) {
    case "missing":
      return judgeMissing(answer, error as ServiceError);
    case "check parent":
      return checkParent(answer, error);
    case "other list form":
      return changeListForm(answer, error as InvalidError);
    case "hold":
      return hold(answer, failure.why, error);
    case "retry":
    case "postpone":
      return run.queue[failure.kind](item, messageOf(error), run.clock.nowMs() + failure.afterMs);
    case "dead":
      return deadLetter(answer, error);
  }
}

function judgeMissing(answer: AnswerContext, error: ServiceError): void {
  // A quick run proves no deletion.
  if (answer.run.share === "quick") return answer.run.queue.leaveToWholeRuns(answer.item);
  const verdict = deletionVerdict(answer, error);
  if (verdict.kind === "deleted") return applyDeletion(answer);
  const unproven = verdict.kind === "probe" ? probeRoute(answer, verdict.candidates) : verdict.why;
  if (unproven !== null)
    deadLetter(answer, `${unproven}. The record was kept; the next run checks it again.`);
}

function applyDeletion(answer: AnswerContext): void {
  const { run, resource, item, stamp } = answer;
  const { queue, mirror, removals } = run;
  const id = recordOf(item);
  const wasLive = mirror.records.isLive(resource.name, id);
  // Its own lists were refused for this reason.
  for (const child of childrenOf(run, resource.name)) run.setAside.answered(child.resource.name);
  // An absent record was counted when it was queued; what another deletion led to is not counted.
  const isAskedAlone = ["child list refused", "repair"].includes(item.reason) || isOfEvent(answer);
  const counts = wasLive && (item.kind !== "confirm" || isAskedAlone);
  if (counts && !mayRemove(run, resource.name, 1)) {
    holdMassDelete(run, resource.name, 1 + removals.count(resource.name));
    queue.deadLetter(item, "held: a mass deletion");
    return run.runId === null ? undefined : holdAfterARow(answer, "they seem to be deleted");
  }
  if (!removeRecord(answer, resource, id)) return;
  queue.done(item, stamp.sentSeq);
  const outcome = wasLive ? "deleted" : "absent";
  const completed = completeEvents(answer, outcome);
  // Also where the record was asked for because of another one: its own event then finds it gone, and is no news.
  const isNewDeletion = wasLive && (stamp.cause === "webhook" || isNews(answer, outcome, completed));
  queueDependents(answer, { id, outcome, isNews: isNewDeletion });
}

function checkParent(answer: AnswerContext, error: unknown): void {
  const { run, item, stamp } = answer;
  const parent = parentOf(item.payload as ChildPayload);
  if (!run.mirrored.has(parent.resource)) {
    // The config leaves parents like it out, so it is not asked for itself.
    run.parents.markListed(item.resource, parent, stamp.receivedAtMs, requireRunId(run));
    return releaseChildren(answer, parent, "child list refused");
  }
  if (item.attempts >= 2 || !run.selected.has(parent.resource)) return deadLetter(answer, error);
  run.queue.retry(item, messageOf(error), run.clock.nowMs() + backoffMs(item.attempts + 2, retries.read));
  queueRecord(answer, "child list refused", parent);
  // Only runs read lists.
  holdAfterARow(answer, error);
}

function changeListForm(answer: AnswerContext, error: InvalidError): void {
  const { run, resource, item, stamp } = answer;
  const learned = run.listForms.get(resource.name);
  // Sent before another list of the resource taught the form: that has not been refused.
  if (learned && stamp.sentSeq < learned.sinceSeq) return queueOtherForm(answer);
  const asked = { ...learned?.form, ...(item.payload as ListForm) };
  const form = otherListForm(resource.list, asked, error);
  if (!form) return hold(answer, "failed", error);
  const { perPage, unsorted } = form;
  const how = [perPage && `${perPage} records per page`, unsorted && "the service's own order"];
  const facts = describe(error);
  const message = `${resource.name}: ${facts.message}. Asking for ${how.filter(Boolean).join(" in ")}.`;
  run.log.warn(message, { request_id: facts.requestId });
  const next = { ...(perPage && { perPage }), ...(unsorted && { unsorted }) };
  run.listForms.set(resource.name, { form: next, sinceSeq: stamp.receivedSeq });
  queueOtherForm(answer);
}

/** The resource is refused, and trying again does not help: its items wait for the next run, other resources go on. */
function hold({ run, resource }: AnswerContext, why: "failed" | "forbidden", error: unknown): void {
  run.queue.hold(resource.name, messageOf(error), run.share);
  run.tally.of(resource.name).failed += 1;
  run.tally.trouble({ resource: resource.name, kind: why, ...describe(error) });
}

/** Sets the work item aside as a dead letter: the rest goes on, and the next run tries it again. */
function deadLetter(answer: AnswerContext, error: unknown): void {
  const { run, item } = answer;
  const facts = describe(error);
  run.queue.deadLetter(item, facts.message);
  run.tally.of(item.resource).failed += 1;
  const isWrong = error instanceof ContradictionError && run.runId !== null;
  const name = nameOfTarget(item.target);
  const what = item.kind === "list" ? "the list" : name;
  const message = isWrong
    ? `${facts.message}, ${item.attempts + 1} times: ${what} was not read in this run (exit 3), the rest was`
    : `${name} was set aside: ${facts.message}`;
  const { resource } = item;
  run.tally.trouble({ resource, kind: "dead", id: idInTarget(item.target), ...facts, message });
  if (run.runId !== null) {
    run.setAside.add(item, facts.message);
    return holdAfterARow(answer, error);
  }
  // The event worker writes no report.
  run.afterCommit.push(() => run.log.warn(`${resource} ${message}`, { request_id: facts.requestId }));
}

/** One refused record says nothing of others; several in a row show that all are. Its list is read nonetheless. */
function holdAfterARow({ run, resource, item }: AnswerContext, error: unknown): void {
  const facts = describe(error);
  const inARow = run.setAside.refused(item);
  if (inARow < mostRefusedInARow) return;
  const held = run.queue.holdRecords(resource.name, facts.message, run.share);
  if (held === 0) return;
  const kind = error instanceof ForbiddenError ? "forbidden" : "failed";
  const message = `${inARow} reads in a row were refused, so ${held} more wait for the next run. The last one: ${facts.message}`;
  run.tally.trouble({ resource: resource.name, kind, ...facts, message });
}

function describe(error: unknown): Pick<Trouble, "message" | "hint" | "requestId"> {
  const fields = error instanceof InvalidError ? ` ${JSON.stringify(error.fields)}` : "";
  return { message: messageOf(error) + fields, ...hintOf(error), requestId: requestIdOf(error) };
}

/** The service's id of the request that failed, for its support; null where no answer carried one. */
export function requestIdOf(error: unknown): string | null {
  return error instanceof ServiceError ? error.requestId : null;
}
