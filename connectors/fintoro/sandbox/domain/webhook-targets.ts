import { z } from "zod";
import { eventTypes } from "../model/catalogue.ts";
import type { Subscription } from "../model/company-records.ts";
import { Problems } from "../rules/refusals.ts";
import { parse, text } from "../rules/request-shape.ts";
import { endpointFlaws } from "../rules/webhook-address.ts";
import type { Company } from "./company-state.ts";

const subscriptionInput = z.object({
  name: text().nullish(),
  url: text(2048).min(1),
  isActive: z.boolean(),
  subscribedEvents: z.array(z.enum(eventTypes as [string, ...string[]])).min(1),
});

function subscriptionFrom(company: Company, input: unknown) {
  const sent = parse(subscriptionInput, input);
  const problems = new Problems();
  for (const flaw of endpointFlaws(sent.url, company.settings.allowLoopbackWebhooks))
    problems.add("url", flaw);
  problems.settle();
  return { ...sent, name: sent.name ?? null };
}

function newSecret(company: Company): string {
  return `whsec_${company.random.uuid().replaceAll("-", "")}`;
}

export function createSubscription(company: Company, input: unknown): Subscription {
  const facts = subscriptionFrom(company, input);
  const now = company.clock.nowMs();
  const secret = newSecret(company);
  const times = { lastSuccessAtMs: null, lastFailureAtMs: null, createdAtMs: now, updatedAtMs: now };
  return company.tables.webhook_subscriptions.add((id) => ({ id, ...facts, secret, ...times }));
}

/** The secret stays; only a rotation changes it. */
export function updateSubscription(
  company: Company,
  subscription: Subscription,
  input: unknown,
): Subscription {
  const changed = {
    ...subscription,
    ...subscriptionFrom(company, input),
    updatedAtMs: company.clock.nowMs(),
  };
  return company.tables.webhook_subscriptions.replace(changed);
}

export function rotateSecret(company: Company, subscription: Subscription): Subscription {
  const changed = { ...subscription, secret: newSecret(company), updatedAtMs: company.clock.nowMs() };
  return company.tables.webhook_subscriptions.replace(changed);
}

export function deleteSubscription(company: Company, subscription: Subscription): void {
  company.tables.webhook_subscriptions.remove(subscription.id);
}
