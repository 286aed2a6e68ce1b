import { z } from "zod";
import { eventTypes } from "../model/catalogue.ts";
import type { Subscription } from "../model/company-records.ts";
import { check } from "../rules/refusals.ts";
import { parse, text } from "../rules/request-shape.ts";
import { endpointFlaws } from "../rules/webhook-address.ts";
import { stampsOf, type Company } from "./company-state.ts";

const subscriptionInput = z.object({
  name: text().nullable().default(null),
  url: text(2048).min(1),
  isActive: z.boolean(),
  subscribedEvents: z.array(z.enum(eventTypes as [string, ...string[]])).min(1),
});

function subscriptionFrom(company: Company, input: unknown) {
  const sent = parse(subscriptionInput, input);
  const flaws = endpointFlaws(sent.url, company.settings.allowLoopbackWebhooks);
  check((problems) => {
    for (const flaw of flaws) problems.add("url", flaw);
  });
  return sent;
}

function newSecret(company: Company): string {
  return `whsec_${company.random.uuid().replaceAll("-", "")}`;
}

/** Creates a webhook subscription. Subscriptions have no events of their own. */
export function createSubscription(company: Company, input: unknown): Subscription {
  const facts = subscriptionFrom(company, input);
  const secret = newSecret(company);
  const times = { lastSuccessAtMs: null, lastFailureAtMs: null, ...stampsOf(company) };
  return company.tables.webhook_subscriptions.add((id) => ({ id, ...facts, secret, ...times }));
}

/** Replaces everything but the secret. */
export function updateSubscription(company: Company, own: Subscription, input: unknown): Subscription {
  return change(company, own, subscriptionFrom(company, input));
}

export function rotateSecret(company: Company, own: Subscription): Subscription {
  return change(company, own, { secret: newSecret(company) });
}

function change(company: Company, own: Subscription, facts: Partial<Subscription>): Subscription {
  const changed = { ...own, ...facts, updatedAtMs: company.clock.nowMs() };
  return company.tables.webhook_subscriptions.replace(changed);
}

export function deleteSubscription(company: Company, { id }: Subscription): void {
  company.tables.webhook_subscriptions.remove(id);
}
