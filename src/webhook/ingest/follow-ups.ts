import { snakeCase } from "../../base/names.ts";
import type { EventRule, ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { Delivery, EventEvaluation } from "../../state/inbox/inbox.ts";
import type { Mirror } from "../../state/mirror.ts";
import { recordTarget, type NewWorkItem } from "../../state/work-item.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";

export type EvaluateEvent = (delivery: Delivery) => EventEvaluation;

/** Gives the pure function that applies the connector's event rules; `selected` are the tables that are mirrored. */
export function createEventEvaluator(
  declaration: ConnectorDeclaration,
  selected: ReadonlySet<string>,
): EvaluateEvent {
  const rules = new Map(declaration.events.map((rule) => [rule.type, rule]));
  return (delivery) => {
    if (!delivery.readable) return unhandled("unreadable", "the body is no JSON object");
    const rule = delivery.type === null ? undefined : rules.get(delivery.type);
    if (!rule) return unhandled("unknown", "no such type of event is known");
    return evaluate(delivery, rule, selected);
  };
}

function evaluate(delivery: Delivery, rule: EventRule, selected: ReadonlySet<string>): EventEvaluation {
  const { resourceType, resourceId } = delivery;
  if (resourceType !== rule.resourceType)
    return unhandled("unknown", `resource.type is not ${rule.resourceType}, as it is for ${rule.type}`);
  if (resourceId === null) return unhandled("unknown", "resource.id is not the id of a record");
  const { resource, action } = rule;
  if (resource === null || action === "keep")
    return { state: "kept", resource, target: null, kind: null, problem: null };
  const target = recordTarget(resourceId);
  if (!selected.has(resource)) return { state: "excluded", resource, target, kind: null, problem: null };
  const kind = action === "confirm" ? "confirm" : "detail";
  return { state: "waiting", resource, target, kind, problem: null };
}

function unhandled(state: "unknown" | "unreadable", problem: string): EventEvaluation {
  return { state, resource: null, target: null, kind: null, problem };
}

/**
 * Follow-up work of one transaction's events: one work item for each record, however many events are about it,
 * and one change-log row for each event about something that cannot be read.
 */
export function createFollowUps(mirror: Mirror, queue: WorkQueue, receivedAtMs: number) {
  const dirtySeq = mirror.sequence.next();
  const work = new Map<string, NewWorkItem>();
  const facts = { receivedAtMs, requestId: null, run: null };
  const stamp: ReadStamp = { cause: "webhook", sentSeq: dirtySeq, receivedSeq: dirtySeq, ...facts };
  const addWork = (delivery: Delivery, { resource, target, kind }: EventEvaluation): void => {
    if (resource === null || target === null || kind === null) return;
    const key = `${resource} ${target}`;
    // One event that speaks of a deletion is enough to ask for proof, whatever the others say.
    const strongest = work.get(key)?.kind === "confirm" ? "confirm" : kind;
    const reason = delivery.type ?? "event";
    work.set(key, { kind: strongest, resource, target, lane: "webhook", reason, dirtySeq });
  };
  const keepEvent = ({ type, resourceId, body }: Delivery, { resource }: EventEvaluation): void => {
    if (type === null || resourceId === null || typeof body !== "string") return;
    const about = resource ?? snakeCase(type.split(".", 1)[0] ?? type);
    mirror.log.addEvent(stamp, about, resourceId, body);
  };
  return {
    /** Greater than the sequence number of any read sent so far: only a later read answers these events (I4). */
    dirtySeq,
    add(delivery: Delivery, evaluation: EventEvaluation): void {
      if (evaluation.state === "kept") keepEvent(delivery, evaluation);
      else if (evaluation.state === "waiting") addWork(delivery, evaluation);
    },
    /** Queues the work. To be called before the transaction ends. */
    commit(): void {
      for (const item of work.values()) queue.add(item);
    },
  };
}

export type FollowUps = ReturnType<typeof createFollowUps>;
