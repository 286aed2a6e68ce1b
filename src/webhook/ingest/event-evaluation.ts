import type { EventRule, Manifest } from "../../connector/connector-manifest.ts";
import type { Delivery, EventEvaluation } from "../../state/inbox/inbox.ts";
import { recordTarget } from "../../state/work-item.ts";

export type EvaluateEvent = (delivery: Delivery) => EventEvaluation;

/** Gives the pure function that applies the manifest's event rules; `selected` are the tables that are mirrored. */
export function createEventEvaluator(manifest: Manifest, selected: ReadonlySet<string>): EvaluateEvent {
  const rules = new Map(manifest.events.map((rule) => [rule.type, rule]));
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
