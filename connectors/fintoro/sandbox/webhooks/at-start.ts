import { createHash } from "node:crypto";
import type { Company } from "../domain/company.ts";
import { createSubscription } from "../domain/subscriptions.ts";
import { eventTypes } from "../model/catalogue.ts";
import type { WebhookWish } from "../options.ts";

/** Secrets hang on the seed like tokens do, so that a sandbox started again is believed. */
export function subscribeAtStart(
  company: Company | undefined,
  wishes: readonly WebhookWish[],
  seed: number,
): readonly string[] {
  return wishes.map((wish, index) => {
    const { url, secret = secretFor(seed, index), events = eventTypes } = wish;
    if (!company) return secret;
    const made = createSubscription(company, { url, isActive: true, subscribedEvents: events });
    company.tables.webhook_subscriptions.replace({ ...made, secret });
    return secret;
  });
}

function secretFor(seed: number, index: number): string {
  return `whsec_${createHash("sha256").update(`${seed}/webhook/${index}`).digest("hex").slice(0, 32)}`;
}
