import { someOf } from "../../../base/names.ts";
import { shortText } from "../../../base/terminal-text.ts";
import type { Subscription } from "../../../webhook/subscriptions/subscription-client.ts";
import { deliversHere, missingEvents } from "../../../webhook/subscriptions/subscription-problems.ts";
import type { CompanyScope } from "../../mirror/company-scope.ts";

/** A subscription as `--json` prints it. */
export type SubscriptionView = ReturnType<typeof viewOfSubscription>;

/** Describes a subscription; `here`: it delivers to this config's receiver. */
export function viewOfSubscription(one: Subscription, { company, manifest }: CompanyScope) {
  return {
    id: one.id,
    name: one.name,
    url: one.url,
    here: deliversHere(one.url, company),
    active: one.active,
    events: one.events,
    missing_events: missingEvents(one, manifest.events),
    last_success_at: one.lastSuccessAt,
    last_failure_at: one.lastFailureAt,
    disabled_reason: one.disabledReason,
  };
}

/** A subscription in three lines for people. */
export function subscriptionLines(company: string, view: SubscriptionView): string[] {
  const name = view.name === null ? "" : ` "${shortText(view.name)}"`;
  const whose = view.here ? "this config's receiver" : "not this config's receiver";
  const reason = view.disabled_reason === null ? "" : ` (${shortText(view.disabled_reason)})`;
  return [
    `${company}: subscription ${view.id}${name}, ${view.active ? "active" : "off"}${reason}`,
    `  ${view.url} (${whose})`,
    `  ${eventsText(view)}; last success ${view.last_success_at ?? "never"}, last failure ${view.last_failure_at ?? "never"}`,
  ];
}

function eventsText({ events, missing_events: missing }: SubscriptionView): string {
  if (missing.length === 0) return `all ${events.length} events`;
  return `${events.length} of ${events.length + missing.length} events; not ${someOf(missing, 6)}`;
}
